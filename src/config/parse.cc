#include "config/parse.h"

#include "config/field_rules.h"
#include "config/metric_control.h"
#include "config/problems.h"
#include "config/proto_reader.h"
#include "config/text_parser.h"
#include "config/validate.h"

namespace proa::config {
namespace {

ParsedConfig read(const inference::ModelConfig& message, GivenFields given, std::string_view file,
                  Problems& problems) {
  ParsedConfig parsed;
  apply_field_rules(message, problems, parsed.warnings);
  warn_of_unknown_families(message.model_metrics(), parsed.warnings);
  parsed.config = read_proto(message, given, problems);
  check_values(parsed.config, given.contains("max_batch_size"), problems);
  parsed.stated_backend = message.backend().empty() ? message.platform() : message.backend();
  parsed.given = std::move(given);
  parsed.file = file;
  return parsed;
}

}  // namespace

Result<ParsedConfig> parse_config(std::string_view text, std::string_view file) {
  Problems problems;
  TextConfig parsed = parse_text(text, problems);
  // A text that is half understood would be said to lack what is in its other half.
  PROA_TRY(problems.to_status(file, parsed.given));
  return check_config(parsed.message, std::move(parsed.given), file);
}

Result<ParsedConfig> check_config(const inference::ModelConfig& message, GivenFields given,
                                  std::string_view file) {
  Problems problems;
  ParsedConfig parsed = read(message, std::move(given), file, problems);
  PROA_TRY(problems.to_status(file, parsed.given));
  return parsed;
}

}  // namespace proa::config
