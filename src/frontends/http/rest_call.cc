#include "frontends/http/rest_call.h"

#include <optional>
#include <utility>

namespace proa::frontends {
namespace {

// A body of up to so many announced bytes is read into one block from the first byte on; there is
// one at a time on an HTTP/1.1 connection.
constexpr std::size_t kAtOnce = std::size_t{1} << 20;

Error too_large(std::size_t limit) {
  return error::resource_exhausted(
      "request body exceeds the maximum allowed value of {} bytes. Use {} to increase the limit",
      limit, kHttpMaxInputFlag);
}

}  // namespace

void RestCall::on_head(net::Exchange& exchange, const net::RequestHead& head) {
  exchange_ = &exchange;
  Status status = begin_body(head);
  if (status) status = read_head(head);
  if (!status) fail(status.error());
}

Status RestCall::begin_body(const net::RequestHead& head) {
  const std::string_view encoding = head.header("content-encoding");
  encoding_ = parse_encoding(encoding);
  if (encoding_ == Encoding::kUnknown) {
    return error::unimplemented("unsupported Content-Encoding: {}; use gzip, deflate or identity",
                                encoding);
  }
  if (head.content_length < 0) {
    body_.start(std::nullopt);
    return {};
  }
  const auto length = static_cast<std::size_t>(head.content_length);
  if (length > context_.options.http_max_input_bytes) {
    return too_large(context_.options.http_max_input_bytes);
  }
  body_.start(length, head.http_major == 1 ? kAtOnce : MessageBuffer::kSmall);
  return {};
}

std::span<std::byte> RestCall::body_target(std::size_t wanted) {
  if (answered_) return {};
  auto room = body_.room(wanted);
  if (room) return *room;
  fail(room.error());
  return {};
}

void RestCall::on_data(std::span<const std::byte> data) {
  if (answered_) return;
  if (const Status status = append(data); !status) fail(status.error());
}

Status RestCall::append(std::span<const std::byte> data) {
  if (data.size() > context_.options.http_max_input_bytes - body_.size()) {
    return too_large(context_.options.http_max_input_bytes);
  }
  return body_.append(data);
}

void RestCall::on_end() {
  if (answered_) return;
  auto body = unpack();
  Status status = body ? on_body(std::move(*body)) : Status(body.error());
  if (!status) fail(status.error());
}

Result<RestCall::Body> RestCall::unpack() {
  if (encoding_ == Encoding::kIdentity) return Body{body_.take(), body_.take_reservation()};
  MessageBuffer plain(*context_.memory, *context_.budget);
  PROA_TRY(
      decompress(body_.bytes(), context_.options.http_max_input_bytes, kHttpMaxInputFlag, plain));
  body_.start(0);
  return Body{plain.take(), plain.take_reservation()};
}

void RestCall::on_close(net::CloseReason) {
  exchange_ = nullptr;
  answered_ = true;
  on_gone();
}

void RestCall::reply(RestReply reply) {
  if (std::exchange(answered_, true)) return;
  send_reply(*exchange_, std::move(reply));
}

void RestCall::fail(const Error& error) {
  constexpr int kContentTooLarge = 413;
  const bool large = error.code == ErrorCode::kResourceExhausted;
  reply(large ? error_reply(kContentTooLarge, error.message) : error_reply(error));
}

Status ControlRestCall::on_body(Body body) {
  const std::string_view text(reinterpret_cast<const char*>(body.bytes.data()), body.bytes.size);
  RestReply answer = answer_rest(request_, text, service_, context());
  if (request_.endpoint == RestEndpoint::kMetrics) {
    // A server whose memory is full must still be able to say so.
    answer_memory_ = context().budget->reserve(answer.body.size());
  } else {
    PROA_ASSIGN(answer_memory_, reserve_answer(*context().budget, answer.body.size()));
  }
  reply(std::move(answer));
  return {};
}

}  // namespace proa::frontends
