#include "frontends/grpc/model_infer_call.h"

#include <utility>

#include "frontends/segments.h"
#include "lifecycle/model_repository.h"
#include "protocol/infer_proto.h"

namespace proa::frontends {

void ModelInferCall::on_head(net::Exchange& exchange, const net::RequestHead& head) {
  UnaryCall::on_head(exchange, head);
  auto forwarded = context().options.grpc_header_forward.collect(head.headers);
  if (!forwarded) return finish(forwarded.error());
  forwarded_ = std::move(*forwarded);
}

Status ModelInferCall::on_request(Message message) {
  const TimePoint received = context().clock->now();
  body_ = std::move(message.bytes);
  PROA_ASSIGN(message_, protocol::read_infer_request(body_, context().budget->left()));
  add_forwarded(forwarded_, message_.parameters);
  PROA_TRY(reserve_decoded(*context().budget, message_, message.memory));
  PROA_ASSIGN(model_, context().repository->find(message_.model_name, message_.model_version));
  if (model_->config().decoupled) {
    return error::unimplemented(
        "ModelInfer RPC doesn't support models with decoupled transaction policy; use "
        "ModelStreamInfer for model '{}'",
        model_->name());
  }
  cancellation_ = std::make_shared<CancellationToken>();
  return start_inference(message_,
                         {.model = model_,
                          .received = received,
                          .deadline = deadline(),
                          .memory = std::move(message.memory),
                          .cancellation = cancellation_,
                          .sink = std::make_unique<ExchangeSink>(exchange().ref(), *this)});
}

void ModelInferCall::on_response(core::Response response, bool) {
  if (finished()) return;
  finish(response.error ? Status(std::move(*response.error)) : answer(std::move(response)));
  body_ = BufferView();
}

Status ModelInferCall::answer(core::Response response) {
  answer_memory_ = context().budget->reserve(answer_bytes(response));
  Answer answer;
  PROA_TRY(make_answer(*model_, message_, std::move(response), answer));
  PROA_ASSIGN(auto encoded, protocol::write_infer_response(answer.response, {}));
  Segments parts = to_segments(std::move(encoded));
  send_message(parts);
  return {};
}

void ModelInferCall::on_gone() {
  if (cancellation_ != nullptr) cancellation_->cancel();
}

}  // namespace proa::frontends
