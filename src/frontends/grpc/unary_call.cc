#include "frontends/grpc/unary_call.h"

#include <utility>

namespace proa::frontends {

Status UnaryCall::on_message(Message message) {
  if (std::exchange(has_message_, true)) {
    return error::internal("a unary call has more than one request message");
  }
  message_ = std::move(message);
  return {};
}

Status UnaryCall::on_half_close() {
  if (!has_message_) return error::internal("a unary call ends without a request message");
  return on_request(std::move(message_));
}

Status ControlCall::on_request(Message message) {
  net::Segment part;
  PROA_ASSIGN(part.bytes, method_(service_, message.bytes.bytes(), kPrefixRoom));
  PROA_ASSIGN(answer_memory_, reserve_answer(*context().budget, part.bytes.size()));
  send_message(std::span(&part, 1));
  finish({});
  return {};
}

}  // namespace proa::frontends
