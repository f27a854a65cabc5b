#include "net/http1_parser.h"

#include <algorithm>
#include <memory>

#include "boost/beast/http/basic_parser.hpp"
#include "fmt/core.h"

namespace proa::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::string_view view(string_view text) { return {text.data(), text.size()}; }

bool is_upper_case(char c) { return c >= 'A' && c <= 'Z'; }

bool is_lower_case_of(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, [](char c) {
    return is_upper_case(c) ? static_cast<char>(c + ('a' - 'A')) : c;
  });
}

// "http://host/path", as clients write it that take the server for a proxy: the host counts instead
// of the header's. Source: RFC 9112, section 3.2.2.
void take_absolute_form(Http1Head& head) {
  constexpr std::string_view kScheme = "http://";
  if (!is_lower_case_of(head.target.substr(0, kScheme.size()), kScheme)) return;
  const std::string_view rest = head.target.substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  head.host = rest.substr(0, slash);
  head.target = slash == std::string_view::npos ? "/" : rest.substr(slash);
}

Refusal refusal_of(const error_code& failed) {
  if (failed == http::error::bad_version) {
    return {505, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here"};
  }
  if (failed == http::error::bad_transfer_encoding) {
    return {400, "a request with transfer-encoding must not have a content-length as well"};
  }
  if (failed == http::error::bad_content_length || failed == http::error::multiple_content_length) {
    return {400, "the content-length header must be one decimal number, given once"};
  }
  return {400, fmt::format("malformed HTTP request: {}", failed.message())};
}

}  // namespace

// Beast calls back; what it finds goes into an Http1Head or a Chunk.
class Http1Parser::Callbacks final : public http::basic_parser<true> {
 public:
  Callbacks(std::span<char> bytes, std::size_t max_headers, Http1Head& head)
      : bytes_(bytes), max_headers_(max_headers), head_(&head) {
    body_limit(boost::none);
    header_limit(UINT32_MAX);
  }

  void on_request_impl(http::verb, string_view method, string_view target, int version,
                       error_code&) override {
    head_->method = view(method);
    head_->target = view(target);
    head_->http_1_0 = version == 10;
  }

  void on_field_impl(http::field field, string_view name, string_view value,
                     error_code& failed) override {
    if (in_trailers_) return;
    // Beast unfolds a folded value into a buffer of its own.
    if (value.size() > 0 &&
        (value.data() < bytes_.data() || value.data() >= bytes_.data() + bytes_.size())) {
      return refuse({400, "folded header lines are not allowed"}, failed);
    }
    if (head_->headers.size() == max_headers_) {
      return refuse({431, fmt::format("more than {} header lines", max_headers_)}, failed);
    }
    head_->headers.push_back(named(view(name), view(value)));
    note(field, view(value), failed);
  }

  void on_header_impl(error_code&) override { in_trailers_ = true; }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override {
    chunk_data = view(body);
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::string_view chunk_data;
  bool wants_more = false;  // it has seen the beginning of this input already
  std::optional<Refusal> refusal;
  int hosts = 0;

 private:
  void refuse(Refusal why, error_code& failed) {
    refusal = std::move(why);
    failed = http::error::bad_field;
  }

  // The lower-case name lies in the head's own buffer, which never grows beyond its room.
  Header named(std::string_view name, std::string_view value) {
    if (std::ranges::none_of(name, is_upper_case)) return {name, value};
    std::string& names = head_->lower_names;
    const std::size_t begin = names.size();
    for (const char c : name) names += is_upper_case(c) ? static_cast<char>(c + ('a' - 'A')) : c;
    return {std::string_view(names).substr(begin), value, name};
  }

  void note(http::field field, std::string_view value, error_code& failed) {
    switch (field) {
      case http::field::host:
        head_->host = value;
        ++hosts;
        break;
      case http::field::content_length:
        if (has_length_ || value.find(',') != value.npos) {
          refuse({400, "the content-length header is given more than once"}, failed);
        }
        has_length_ = true;
        break;
      case http::field::transfer_encoding:
        if (!is_lower_case_of(value, "chunked")) {
          refuse({501, fmt::format("transfer-encoding '{}' is not supported; send 'chunked' or a "
                                   "content-length",
                                   value)},
                 failed);
        }
        break;
      case http::field::expect:
        if (!is_lower_case_of(value, "100-continue")) {
          return refuse({417, fmt::format("expectation '{}' is not supported", value)}, failed);
        }
        head_->expects_continue = true;
        break;
      default:
        break;
    }
  }

  std::span<char> bytes_;
  const std::size_t max_headers_;
  Http1Head* head_;
  bool has_length_ = false;
  bool in_trailers_ = false;
};

struct Http1Parser::Slot {
  std::optional<Callbacks> parser;
};

Http1Parser::Http1Parser() : slot_(std::make_unique<Slot>()) {}
Http1Parser::~Http1Parser() = default;

std::optional<Refusal> Http1Parser::parse_head(std::span<char> bytes, const Limits& limits,
                                               Http1Head& head) {
  head.headers.clear();
  head.lower_names.clear();
  head.lower_names.reserve(bytes.size());
  head.host = {};
  head.expects_continue = false;
  Callbacks& parser = slot_->parser.emplace(bytes, limits.max_headers, head);
  error_code failed;
  parser.put({bytes.data(), bytes.size()}, failed);
  if (parser.refusal) return std::move(parser.refusal);
  if (failed) return refusal_of(failed);
  take_absolute_form(head);
  head.keep_alive = parser.keep_alive();
  head.chunked = parser.chunked();
  head.content_length = head.chunked ? 0 : parser.content_length().value_or(0);
  return check_head(limits, head);
}

std::optional<Refusal> Http1Parser::check_head(const Limits& limits, const Http1Head& head) const {
  if (head.target.size() > limits.max_target_bytes) {
    return Refusal{414, fmt::format("the request target has {} bytes; at most {} are accepted",
                                    head.target.size(), limits.max_target_bytes)};
  }
  if (slot_->parser->hosts > 1 || (slot_->parser->hosts == 0 && !head.http_1_0)) {
    return Refusal{400,
                   fmt::format("an HTTP/1.1 request must have one host header, this one has {}",
                               slot_->parser->hosts)};
  }
  if (head.chunked && head.http_1_0) {
    return Refusal{400, "an HTTP/1.0 request cannot have a transfer-encoding"};
  }
  if (head.content_length > limits.max_body_bytes) {
    return Refusal{413, fmt::format("the body has {} bytes; at most {} are accepted",
                                    head.content_length, limits.max_body_bytes)};
  }
  return std::nullopt;
}

Http1Parser::Chunk Http1Parser::next_chunk(std::string_view input) {
  Chunk chunk;
  Callbacks& parser = *slot_->parser;
  // Beast asserts, when it looks at a last chunk for the second time, that the input is as long as
  // the shortest one, "0\r\n\r\n".
  constexpr std::size_t kShortestEnd = 5;
  if (parser.wants_more && input.size() < kShortestEnd) return chunk;
  error_code failed;
  parser.chunk_data = {};
  chunk.used = parser.put({input.data(), input.size()}, failed);
  parser.wants_more = failed == http::error::need_more;
  if (parser.wants_more) return chunk;
  if (failed) {
    chunk.refusal = Refusal{400, fmt::format("malformed chunked body: {}", failed.message())};
    return chunk;
  }
  chunk.data = parser.chunk_data;
  chunk.last = parser.is_done();
  return chunk;
}

}  // namespace proa::net
