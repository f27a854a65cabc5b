#include "vector_journal.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

namespace proa {
namespace {

// "proa vectors 1\n", the source's length and text, then records: lengths of the name and of the
// vector, the stamp, the name, the vector. Numbers are as this machine has them: the file is of use
// only where it was made.
constexpr std::string_view kMagic = "proa vectors 1\n";

struct RecordHead {
  std::uint32_t name_bytes;
  std::uint32_t values;
  FileStamp stamp;
};

template <class T>
void append_raw(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes that many bytes off the front of `text`; nothing when there are fewer.
std::optional<std::string_view> take(std::string_view& text, std::size_t bytes) {
  if (text.size() < bytes) return std::nullopt;
  const std::string_view taken = text.substr(0, bytes);
  text.remove_prefix(bytes);
  return taken;
}

std::string header_of(std::string_view source) {
  std::string header(kMagic);
  append_raw(header, static_cast<std::uint32_t>(source.size()));
  header += source;
  return header;
}

Error unavailable(const std::filesystem::path& path) {
  return error::unavailable("{}: {}", path.string(), std::strerror(errno));
}

}  // namespace

Result<VectorJournal> VectorJournal::open(const std::filesystem::path& file,
                                          std::string_view source) {
  VectorJournal journal;
  journal.path_ = file;
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::string_view rest = text;
  const std::string header = header_of(source);
  const bool ours = take(rest, header.size()) == header;
  std::size_t whole = ours ? header.size() : 0;  // bytes up to the end of the last whole record
  while (ours) {
    const auto head_bytes = take(rest, sizeof(RecordHead));
    if (!head_bytes) break;
    RecordHead head;
    std::memcpy(&head, head_bytes->data(), sizeof head);
    const auto name = take(rest, head.name_bytes);
    const auto values = take(rest, head.values * sizeof(float));
    if (!name || !values) break;
    Record record{head.stamp, std::vector<float>(head.values)};
    std::memcpy(record.vector.data(), values->data(), values->size());
    journal.records_[std::string(*name)] = std::move(record);
    whole = text.size() - rest.size();
  }
  journal.file_.reset(std::fopen(file.c_str(), ours ? "r+b" : "w+b"));
  if (journal.file_ == nullptr) return unavailable(file);
  std::error_code failed;
  std::filesystem::resize_file(file, whole, failed);
  std::fseek(journal.file_.get(), static_cast<long>(whole), SEEK_SET);
  const bool begun = ours || std::fwrite(header.data(), header.size(), 1, journal.file_.get()) == 1;
  if (failed || !begun) return unavailable(file);
  return journal;
}

std::span<const float> VectorJournal::find(const std::string& name, const FileStamp& stamp) const {
  const auto found = records_.find(name);
  if (found == records_.end() || found->second.stamp != stamp) return {};
  return found->second.vector;
}

Status VectorJournal::append(const std::string& name, const FileStamp& stamp,
                             std::vector<float> vector) {
  std::string bytes;
  append_raw(bytes, RecordHead{static_cast<std::uint32_t>(name.size()),
                               static_cast<std::uint32_t>(vector.size()), stamp});
  bytes += name;
  bytes.append(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
  const bool written =
      std::fwrite(bytes.data(), bytes.size(), 1, file_.get()) == 1 && std::fflush(file_.get()) == 0;
  if (!written) return unavailable(path_);
  records_[name] = {stamp, std::move(vector)};
  return {};
}

}  // namespace proa
