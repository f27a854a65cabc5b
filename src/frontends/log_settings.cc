#include "frontends/log_settings.h"

#include "fmt/format.h"
#include "proto/json_text.h"
#include "simdjson.h"

namespace proa::frontends {
namespace {

using Value = inference::LogSettingsRequest::SettingValue;

Error wrong_type(std::string_view name, std::string_view wanted) {
  return error::invalid_argument("log setting '{}' must be {}", name, wanted);
}

Status set_switch(std::string_view name, const Value& value, bool& target) {
  if (value.parameter_choice_case() != Value::kBoolParam) return wrong_type(name, "a boolean");
  target = value.bool_param();
  return {};
}

Status set_one(std::string_view name, const Value& value, log::Options& options) {
  if (name == "log_info") return set_switch(name, value, options.info);
  if (name == "log_warning") return set_switch(name, value, options.warning);
  if (name == "log_error") return set_switch(name, value, options.error);
  if (name == "log_verbose_level") {
    if (value.parameter_choice_case() != Value::kUint32Param || value.uint32_param() > INT32_MAX) {
      return wrong_type(name, "a number, not negative");
    }
    options.verbose = static_cast<int>(value.uint32_param());
    return {};
  }
  if (name == "log_format") {
    if (value.parameter_choice_case() != Value::kStringParam) return wrong_type(name, "a string");
    PROA_ASSIGN(options.format, log::parse_format(value.string_param()));
    return {};
  }
  if (name == "log_file") {
    return error::unimplemented(
        "log file location can not be updated through network protocol: start the server with "
        "--log-file");
  }
  return error::invalid_argument(
      "unknown log setting '{}'; there are log_info, log_warning, log_error, log_verbose_level and "
      "log_format",
      log::printable(name));
}

Status read_value(simdjson::dom::element element, std::string_view name, Value& value) {
  using Type = simdjson::dom::element_type;
  std::uint64_t number = 0;
  switch (element.type()) {
    case Type::BOOL:
      value.set_bool_param(bool(element));
      return {};
    case Type::STRING:
      value.set_string_param(std::string(std::string_view(element)));
      return {};
    case Type::INT64:
    case Type::UINT64:
      if (element.get_uint64().get(number) || number > UINT32_MAX) break;
      value.set_uint32_param(static_cast<std::uint32_t>(number));
      return {};
    default:
      break;
  }
  return wrong_type(log::printable(name), "a boolean, a string or a number of 32 bits");
}

}  // namespace

Result<log::Options> with_settings(log::Options now, const inference::LogSettingsRequest& request) {
  for (const auto& [name, value] : request.settings()) PROA_TRY(set_one(name, value, now));
  return now;
}

inference::LogSettingsResponse log_settings_message(const log::Options& options) {
  inference::LogSettingsResponse message;
  auto& settings = *message.mutable_settings();
  settings["log_file"].set_string_param(options.file);
  settings["log_info"].set_bool_param(options.info);
  settings["log_warning"].set_bool_param(options.warning);
  settings["log_error"].set_bool_param(options.error);
  settings["log_verbose_level"].set_uint32_param(static_cast<std::uint32_t>(options.verbose));
  settings["log_format"].set_string_param(std::string(log::format_name(options.format)));
  return message;
}

Result<inference::LogSettingsRequest> parse_log_settings(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (const auto code = parser.parse(json.data(), json.size()).get(object)) {
    return error::invalid_argument("failed to parse the request JSON buffer: {}",
                                   simdjson::error_message(code));
  }
  inference::LogSettingsRequest request;
  for (const auto [name, element] : object) {
    PROA_TRY(read_value(element, name, (*request.mutable_settings())[std::string(name)]));
  }
  return request;
}

std::string log_settings_json(const log::Options& options) {
  std::string file;
  proto::append_json_string(file, options.file);
  return fmt::format(
      R"({{"log_file":{},"log_info":{},"log_warning":{},"log_error":{},"log_verbose_level":{},)"
      R"("log_format":"{}"}})",
      file, options.info, options.warning, options.error, options.verbose,
      log::format_name(options.format));
}

}  // namespace proa::frontends
