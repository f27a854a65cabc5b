#include "backends/index/payloads.h"

#include <fstream>
#include <iterator>

#include "base/utf8.h"

namespace proa::backends::index {

Result<Payloads> Payloads::read(const std::filesystem::path& file, std::int64_t count) {
  std::ifstream stream(file, std::ios::binary);
  Payloads payloads;
  payloads.text_.assign(std::istreambuf_iterator<char>(stream), {});
  if (stream.bad() || !stream) return error::unavailable("{} cannot be read", file.string());
  std::string& text = payloads.text_;
  if (!text.empty() && text.back() != '\n') text += '\n';
  payloads.starts_.push_back(0);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) {
    payloads.starts_.push_back(++at);
  }
  const auto lines = static_cast<std::int64_t>(payloads.starts_.size()) - 1;
  if (lines != count) {
    return error::invalid_argument("{} has {} lines, but the index has {} vectors: one line each",
                                   file.string(), lines, count);
  }
  for (std::int64_t i = 0; i < lines; ++i) {
    if (!is_utf8(payloads[i])) {
      return error::invalid_argument("{}: line {} is not UTF-8", file.string(), i + 1);
    }
  }
  return payloads;
}

}  // namespace proa::backends::index
