#include "loadgen/clients/http_response.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "fmt/format.h"

namespace proa::loadgen {
namespace {

constexpr std::size_t kMaxHeaderBytes = 64 << 10;
constexpr std::size_t kMaxLineBytes = 4 << 10;
constexpr std::size_t kKeptOfErrors = 4 << 10;

Error nonsense(std::string_view what) {
  return error::internal("the answer is not HTTP/1.1 ({}); is that the port for gRPC?", what);
}

bool same_name(std::string_view name, std::string_view lower) {
  return std::ranges::equal(name, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
  });
}

}  // namespace

void HttpResponseReader::start(Keep keep) {
  state_ = State::kHeader;
  keep_ = keep;
  header_.clear();
  body_.clear();
  status_ = 0;
  keep_alive_ = true;
  chunked_ = has_length_ = false;
  left_ = 0;
  json_size_ = 0;
}

Result<bool> HttpResponseReader::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    switch (state_) {
      case State::kHeader:
        PROA_TRY(take_header(bytes));
        break;
      case State::kBody:
      case State::kChunk:
      case State::kUntilClose:
        take_body(bytes);
        break;
      case State::kChunkSize:
      case State::kChunkEnd:
      case State::kTrailer:
        PROA_TRY(take_line(bytes));
        break;
      case State::kDone:
        return nonsense("bytes behind the answer");
    }
  }
  return state_ == State::kDone;
}

Status HttpResponseReader::take_header(std::string_view& bytes) {
  constexpr std::string_view kEnd = "\r\n\r\n";
  if (header_.empty()) {  // as a rule it comes at once
    const auto end = bytes.find(kEnd);
    if (end != std::string_view::npos) {
      const std::string_view text = bytes.substr(0, end);
      bytes.remove_prefix(end + kEnd.size());
      return parse_header(text);
    }
  }
  const std::size_t before = header_.size();
  header_ += bytes;
  const auto end = header_.find(kEnd, before < 3 ? 0 : before - 3);
  if (end == std::string::npos) {
    bytes = {};
    if (header_.size() > kMaxHeaderBytes) return nonsense("its header has no end");
    if (!std::string_view(header_).starts_with(std::string_view("HTTP/").substr(0, header_.size())))
      return nonsense("it does not begin with HTTP/");
    return {};
  }
  bytes.remove_prefix(end + kEnd.size() - before);
  const std::string text = header_.substr(0, end);
  return parse_header(text);
}

Status HttpResponseReader::parse_header(std::string_view text) {
  auto end = text.find("\r\n");
  PROA_TRY(parse_status_line(text.substr(0, end)));
  while (end != std::string_view::npos) {
    text.remove_prefix(end + 2);
    end = text.find("\r\n");
    PROA_TRY(parse_field(text.substr(0, end)));
  }
  if (status_ >= 100 && status_ < 200) {  // an interim answer: the real one follows
    start(keep_);
    return {};
  }
  choose_framing();
  return {};
}

Status HttpResponseReader::parse_status_line(std::string_view line) {
  if (line.size() < 12 || !line.starts_with("HTTP/1.") || line[8] != ' ') {
    return nonsense("it does not begin with HTTP/1.1");
  }
  minor_version_ = line[7] - '0';
  keep_alive_ = minor_version_ >= 1;
  status_ = parse_number<int>(line.substr(9, 3)).value_or(0);
  return status_ < 100 ? Status(nonsense("no status")) : Status();
}

Status HttpResponseReader::parse_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return nonsense("a header without ':'");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (same_name(name, "content-length")) {
    const auto length = parse_number<std::uint64_t>(value);
    if (!length) return nonsense("Content-Length is no number");
    has_length_ = true;
    left_ = *length;
  } else if (same_name(name, "transfer-encoding")) {
    chunked_ = lower_case(value).ends_with("chunked");
  } else if (same_name(name, "connection")) {
    const std::string wish = lower_case(value);
    if (wish.contains("close")) keep_alive_ = false;
    if (wish.contains("keep-alive")) keep_alive_ = true;
  } else if (same_name(name, "inference-header-content-length")) {
    json_size_ = parse_number<std::size_t>(value).value_or(0);
  }
  return {};
}

void HttpResponseReader::choose_framing() {
  header_.clear();
  if (status_ == 204 || status_ == 304) {
    state_ = State::kDone;
  } else if (chunked_) {
    state_ = State::kChunkSize;
  } else if (has_length_) {
    state_ = left_ == 0 ? State::kDone : State::kBody;
  } else {
    keep_alive_ = false;
    state_ = State::kUntilClose;
  }
}

void HttpResponseReader::take_body(std::string_view& bytes) {
  const bool bounded = state_ != State::kUntilClose;
  const std::size_t size =
      bounded ? static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()))
              : bytes.size();
  if (keep_ == Keep::kAll) {
    body_ += bytes.substr(0, size);
  } else if (status_ != 200 && body_.size() < kKeptOfErrors) {
    body_ += bytes.substr(0, std::min(size, kKeptOfErrors - body_.size()));
  }
  bytes.remove_prefix(size);
  if (!bounded) return;
  left_ -= size;
  if (left_ == 0) state_ = state_ == State::kBody ? State::kDone : State::kChunkEnd;
}

Status HttpResponseReader::take_line(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  header_ += bytes.substr(0, end);
  bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  if (header_.size() > kMaxLineBytes) return nonsense("a line of a chunk has no end");
  if (end == std::string_view::npos) return {};
  if (header_.ends_with('\r')) header_.pop_back();
  const Status status = end_line();
  header_.clear();
  return status;
}

Status HttpResponseReader::end_line() {
  if (state_ == State::kChunkEnd) {
    state_ = State::kChunkSize;
    return header_.empty() ? Status() : Status(nonsense("a chunk is longer than it says"));
  }
  if (state_ == State::kTrailer) {
    if (header_.empty()) state_ = State::kDone;
    return {};
  }
  const char* const begin = header_.data();
  const char* const end = begin + header_.size();
  const auto [stop, failure] = std::from_chars(begin, end, left_, 16);
  if (failure != std::errc() || (stop != end && *stop != ';' && *stop != ' ')) {
    return nonsense("the size of a chunk is no number");
  }
  state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  return {};
}

}  // namespace proa::loadgen
