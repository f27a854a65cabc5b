#pragma once

#include <memory>
#include <optional>

#include "frontends/http/rest_call.h"
#include "frontends/infer_call.h"

namespace proa::frontends {

// POST .../infer: JSON and binary tensors in every mix, or the whole body as the only input
// (Inference-Header-Content-Length: 0). Binary answers carry that header too.
class InferRestCall final : public RestCall, public ResponseReceiver {
 public:
  InferRestCall(const FrontendContext& context, std::shared_ptr<core::Model> model)
      : RestCall(context), model_(std::move(model)) {}

  void on_response(core::Response response, bool final) override;

 protected:
  Status read_head(const net::RequestHead& head) override;
  Status on_body(Body body) override;
  void on_gone() override;

 private:
  Result<protocol::InferRequest> parse() const;
  Status answer(core::Response response);

  std::shared_ptr<core::Model> model_;
  std::optional<std::size_t> json_size_;  // none = the whole body
  Encoding accepted_ = Encoding::kIdentity;
  Parameters forwarded_;  // headers that the model is to see
  BufferView body_;       // what `message_` points into
  protocol::InferRequest message_;
  std::shared_ptr<CancellationToken> cancellation_;
  core::MemoryBudget::Reservation answer_memory_;
};

}  // namespace proa::frontends
