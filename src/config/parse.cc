#include "config/parse.h"

#include "config/field_rules.h"
#include "config/message_rules.h"
#include "config/metric_control.h"
#include "config/problems.h"
#include "config/proto_reader.h"
#include "config/scalar_rules.h"
#include "config/text_parser.h"
#include "config/validate.h"
#include "proto/json.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

Result<ParsedConfig> check(TextConfig statement, std::string_view file) {
  auto message = std::make_shared<const inference::ModelConfig>(std::move(statement.message));
  Problems problems;
  ParsedConfig parsed;
  apply_field_rules(*message, problems, parsed.warnings);
  warn_of_unknown_families(message->model_metrics(), parsed.warnings);
  parsed.config = read_proto(*message, statement.given, problems, parsed.warnings);
  check_scalars(*message, problems);
  check_message(*message, problems);
  check_values(parsed.config, statement.given.contains("max_batch_size"), problems);
  PROA_TRY(problems.to_status(file, statement.given));
  parsed.stated_backend = message->backend().empty() ? message->platform() : message->backend();
  parsed.config.stated = std::move(message);
  parsed.given = std::move(statement.given);
  parsed.file = file;
  return parsed;
}

bool is_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{';
}

Status check_size(std::string_view text, std::string_view file) {
  if (text.size() <= kMaxConfigBytes) return {};
  return error::invalid_argument("{}: {} bytes are more than the most a configuration may have, {}",
                                 file, text.size(), kMaxConfigBytes);
}

Position to_position(const proto::JsonPosition& position) {
  return {position.line, position.column};
}

}  // namespace

// A text that is half understood would be said to lack what is in its other half: both functions
// look further only when it parses.

Result<ParsedConfig> parse_config(std::string_view text, std::string_view file) {
  PROA_TRY(check_size(text, file));
  if (is_json(text)) return parse_config_json(text, file);
  Problems problems;
  TextConfig parsed = parse_text(text, problems);
  PROA_TRY(problems.to_status(file, parsed.given));
  return check(std::move(parsed), file);
}

Result<ParsedConfig> parse_config_json(std::string_view json, std::string_view file) {
  PROA_TRY(check_size(json, file));
  TextConfig statement;
  proto::JsonReading reading = proto::read_json(json, statement.message);
  Problems problems;
  for (proto::JsonNote& note : reading.problems) {
    problems.add(std::move(note.path), std::move(note.problem), to_position(note.position));
  }
  PROA_TRY(problems.to_status(file, {}));
  for (proto::JsonNote& note : reading.stated) {
    statement.given.add(std::move(note.path), to_position(note.position));
  }
  return check(std::move(statement), file);
}

}  // namespace proa::config
