#include "backends/python/wire.h"

namespace proa::backends::python {

void WireWriter::put_parameters(const Parameters& parameters) {
  put(static_cast<std::uint32_t>(parameters.size()));
  for (const Parameter& parameter : parameters) {
    put_string(parameter.name);
    put(static_cast<std::uint8_t>(parameter.value.index()));
    std::visit(
        [this](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, std::string>) {
            put_string(value);
          } else if constexpr (std::is_same_v<T, bool>) {
            put(static_cast<std::uint8_t>(value));
          } else {
            put(value);
          }
        },
        parameter.value);
  }
}

std::span<const std::byte> WireReader::take(std::size_t size) {
  if (!ok_ || size > bytes_.size() - at_) {
    ok_ = false;
    return {};
  }
  const auto part = bytes_.subspan(at_, size);
  at_ += size;
  return part;
}

std::string_view WireReader::get_string() {
  const auto part = take(get<std::uint32_t>());
  return {reinterpret_cast<const char*>(part.data()), part.size()};
}

Parameters WireReader::get_parameters() {
  Parameters parameters;
  const auto count = get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && ok_; ++i) {
    Parameter& parameter = parameters.emplace_back();
    parameter.name = get_string();
    switch (get<std::uint8_t>()) {
      case 0:
        parameter.value = get<std::uint8_t>() != 0;
        break;
      case 1:
        parameter.value = get<std::int64_t>();
        break;
      case 2:
        parameter.value = get<std::uint64_t>();
        break;
      case 3:
        parameter.value = get<double>();
        break;
      case 4:
        parameter.value = std::string(get_string());
        break;
      default:
        ok_ = false;
    }
  }
  return parameters;
}

bool WireReader::has(std::uint64_t count, std::size_t bytes_each) {
  if (count > (bytes_.size() - at_) / bytes_each) ok_ = false;
  return ok_;
}

void put_head(WireWriter& writer, const MessageHead& head) {
  writer.put(head.kind);
  writer.put(kWireVersion);
  writer.put(std::uint16_t{0});
  writer.put(head.items);
  writer.put(head.returns);
  writer.put(head.loans);
}

MessageHead get_head(WireReader& reader) {
  MessageHead head;
  head.kind = reader.get<Message>();
  const auto version = reader.get<std::uint8_t>();
  reader.get<std::uint16_t>();
  head.items = reader.get<std::uint32_t>();
  head.returns = reader.get<std::uint32_t>();
  head.loans = reader.get<std::uint32_t>();
  if (version != kWireVersion) reader.has(UINT64_MAX, 1);
  reader.has(std::uint64_t{head.returns} + 2 * std::uint64_t{head.loans}, sizeof(std::uint64_t));
  return head;
}

}  // namespace proa::backends::python
