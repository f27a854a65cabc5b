#pragma once

#include <memory>

#include "frontends/grpc/unary_call.h"
#include "frontends/infer_call.h"

namespace proa::frontends {

// GRPCInferenceService/ModelInfer.
class ModelInferCall final : public UnaryCall, public ResponseReceiver {
 public:
  explicit ModelInferCall(const FrontendContext& context)
      : UnaryCall(context, context.options.grpc_max_message_bytes) {}

  void on_head(net::Exchange& exchange, const net::RequestHead& head) override;
  void on_response(core::Response response, bool final) override;

 protected:
  Status on_request(Message message) override;
  void on_gone() override;

 private:
  Status answer(core::Response response);

  std::shared_ptr<core::Model> model_;
  Parameters forwarded_;  // metadata that the model is to see
  BufferView body_;       // what `message_` points into
  protocol::InferRequest message_;
  std::shared_ptr<CancellationToken> cancellation_;
  core::MemoryBudget::Reservation answer_memory_;
};

}  // namespace proa::frontends
