#include "protocol/repository_json.h"

#include "protocol/json_source.h"
#include "simdjson.h"

namespace proa::protocol {
namespace {

constexpr int kMaxDepth = 100;

using Parameters = std::vector<RepositoryParameter>;

Status read_value(const JsonSource& source, std::string_view name, simdjson::ondemand::value& value,
                  RepositoryParameter& parameter) {
  const std::string what = fmt::format("parameters.{}", name.substr(0, 256));
  simdjson::ondemand::json_type type{};
  if (const auto code = value.type().get(type)) return source.syntax_error(code);
  if (type == simdjson::ondemand::json_type::string) {
    std::string_view text;
    if (const auto code = value.get_string().get(text)) return source.syntax_error(code);
    parameter.value = std::string(text);
    return {};
  }
  if (bool flag = false; type == simdjson::ondemand::json_type::boolean && !value.get(flag)) {
    parameter.value = flag;
    return {};
  }
  if (std::int64_t number = 0;
      type == simdjson::ondemand::json_type::number && !value.get(number)) {
    parameter.value = number;
    return {};
  }
  return source.wanted(value, what, "a string, an integer or a boolean");
}

Status read_parameters(const JsonSource& source, simdjson::ondemand::value& value,
                       Parameters& parameters) {
  simdjson::ondemand::object object;
  if (value.get_object().get(object)) return source.wanted(value, "parameters", "an object");
  return source.for_each_member(
      object,
      [&](std::string_view name, simdjson::ondemand::value& member) -> Status {
        parameters.push_back({std::string(name), {}});
        return read_value(source, parameters.back().name, member, parameters.back());
      },
      kMaxRepositoryParameters);
}

}  // namespace

Result<Parameters> read_repository_parameters(std::string_view body) {
  Parameters parameters;
  if (body.empty()) return parameters;
  const simdjson::padded_string padded(body);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  const std::string_view text(padded);
  if (const auto code = parser.iterate(padded).get(document)) {
    return JsonSource(text, nullptr).syntax_error(code);
  }
  const JsonSource source(text, &document);
  simdjson::ondemand::object object;
  if (document.get_object().get(object)) {
    return error::invalid_argument(
        "failed to parse the request JSON buffer: it must be a JSON object");
  }
  PROA_TRY(source.for_each_member(
      object, [&](std::string_view name, simdjson::ondemand::value& value) -> Status {
        if (name == "parameters") return read_parameters(source, value, parameters);
        return source.skip(value, kMaxDepth);
      }));
  if (const char* rest = nullptr; document.current_location().get(rest) == simdjson::SUCCESS) {
    return error::invalid_argument("the request body goes on after its JSON object");
  }
  return parameters;
}

}  // namespace proa::protocol
