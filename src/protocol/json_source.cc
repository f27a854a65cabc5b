#include "protocol/json_source.h"

#include <algorithm>

#include "proto/json_place.h"

namespace proa::protocol {

namespace ondemand = simdjson::ondemand;

namespace {

// Control characters that no JSON has: tensors that were taken for text.
bool holds_binary_data(std::string_view text) {
  return std::ranges::any_of(
      text, [](unsigned char c) { return c < 0x20 && c != '\t' && c != '\n' && c != '\r'; });
}

}  // namespace

Error JsonSource::error_at(const char* at, std::string_view problem) const {
  return error::invalid_argument("{} ({})", problem, proto::json_place(text_, at));
}

Error JsonSource::syntax_error(simdjson::error_code code) const {
  const char* at = document_ == nullptr ? text_.data() : proto::json_position(text_, *document_);
  return error::invalid_argument("failed to parse the request JSON buffer: {} at {}{}",
                                 simdjson::error_message(code), proto::json_place(text_, at),
                                 holds_binary_data(text_)
                                     ? "; the body is not text: is the header "
                                       "Inference-Header-Content-Length missing or wrong?"
                                     : "");
}

std::string_view JsonSource::token(ondemand::value& value) const {
  return proto::json_token(text_, value);
}

std::string JsonSource::summary(ondemand::value& value) const {
  return proto::json_summary(text_, value);
}

Error JsonSource::wanted(ondemand::value& value, std::string_view what,
                         std::string_view type) const {
  return error_at(token(value).data(),
                  fmt::format("'{}' must be {}, got {}", what, type, summary(value)));
}

Status JsonSource::skip(ondemand::value& value, int max_depth) const {
  ondemand::json_type type{};
  if (const auto code = value.type().get(type)) return syntax_error(code);
  if (max_depth == 0) {
    return error_at(token(value).data(), "values are nested too deeply");
  }
  if (type == ondemand::json_type::array) {
    return for_each_item(value, "", [&](ondemand::value& v) { return skip(v, max_depth - 1); });
  }
  if (type != ondemand::json_type::object) return skip_scalar(value, type);
  ondemand::object object;
  if (const auto code = value.get_object().get(object)) return syntax_error(code);
  for (auto item : object) {
    ondemand::field field;
    if (const auto code = std::move(item).get(field)) return syntax_error(code);
    ondemand::value member = field.value();
    PROA_TRY(skip(member, max_depth - 1));
  }
  return {};
}

Status JsonSource::skip_scalar(ondemand::value& value, ondemand::json_type type) const {
  bool valid = true;
  if (type == ondemand::json_type::number) valid = value.get_double().error() == simdjson::SUCCESS;
  if (type == ondemand::json_type::string) valid = value.get_string().error() == simdjson::SUCCESS;
  if (type == ondemand::json_type::boolean) valid = value.get_bool().error() == simdjson::SUCCESS;
  if (type == ondemand::json_type::null) valid = token(value) == "null";
  if (valid) return {};
  return error_at(token(value).data(), fmt::format("{} is not JSON", summary(value)));
}

}  // namespace proa::protocol
