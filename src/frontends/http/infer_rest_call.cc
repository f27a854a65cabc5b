#include "frontends/http/infer_rest_call.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text.h"
#include "boost/container/static_vector.hpp"
#include "frontends/segments.h"
#include "protocol/infer_json.h"

namespace proa::frontends {
namespace {

constexpr std::string_view kJsonSizeHeader = "inference-header-content-length";

// Answers shorter than this are not worth packing.
constexpr std::size_t kCompressFromBytes = 1024;
constexpr int kCompressionLevel = 1;

Result<std::size_t> parse_json_size(std::string_view text) {
  if (const auto size = parse_number<std::size_t>(text)) return *size;
  return error::invalid_argument(
      "Unable to parse Inference-Header-Content-Length, got: {}; wanted the length of the JSON "
      "part in bytes",
      text);
}

protocol::InferJsonReader& loop_reader() {
  thread_local protocol::InferJsonReader reader;  // keeps its memory between requests
  return reader;
}

}  // namespace

Status InferRestCall::read_head(const net::RequestHead& head) {
  for (const net::Header& header : head.headers) {
    if (header.name == kJsonSizeHeader) {
      if (json_size_) return error::invalid_argument("Inference-Header-Content-Length comes twice");
      PROA_ASSIGN(json_size_, parse_json_size(header.value));
    } else if (header.name == "accept-encoding") {
      accepted_ = choose_encoding(header.value);
    }
  }
  PROA_ASSIGN(forwarded_, context().options.http_header_forward.collect(head.headers));
  if (model_->config().decoupled) {
    return error::unimplemented(
        "HTTP end point doesn't support models with decoupled transaction policy; use gRPC's "
        "ModelStreamInfer for model '{}'",
        model_->name());
  }
  return {};
}

Status InferRestCall::on_body(Body body) {
  const TimePoint received = context().clock->now();
  body_ = std::move(body.bytes);
  PROA_ASSIGN(message_, parse());
  add_forwarded(forwarded_, message_.parameters);
  PROA_TRY(reserve_decoded(*context().budget, message_, body.memory));
  cancellation_ = std::make_shared<CancellationToken>();
  return start_inference(message_,
                         {.model = model_,
                          .received = received,
                          .memory = std::move(body.memory),
                          .cancellation = cancellation_,
                          .sink = std::make_unique<ExchangeSink>(exchange().ref(), *this)});
}

Result<protocol::InferRequest> InferRestCall::parse() const {
  const std::size_t json_size = json_size_.value_or(body_.size);
  if (json_size > body_.size) {
    return error::invalid_argument(
        "Inference-Header-Content-Length is {}, but the request body has only {} bytes", json_size,
        body_.size);
  }
  if (json_size > 0 || !json_size_) return loop_reader().read(body_, json_size);
  const config::ModelConfig& config = model_->config();
  if (config.inputs.size() != 1) {
    return error::invalid_argument(
        "Raw request must only have 1 input (found {}) to be deduced but got {} inputs in '{}' "
        "model configuration",
        1, config.inputs.size(), config.name);
  }
  const config::Tensor& input = config.inputs.front();
  return protocol::read_raw_infer_request(body_, input.name, input.type, input.dims,
                                          config.batches());
}

void InferRestCall::on_response(core::Response response, bool) {
  if (answered()) return;
  const Status status =
      response.error ? Status(std::move(*response.error)) : answer(std::move(response));
  if (!status) fail(status.error());
  body_ = BufferView();
}

Status InferRestCall::answer(core::Response response) {
  answer_memory_ = context().budget->reserve(answer_bytes(response));
  Answer answer;
  PROA_TRY(make_answer(*model_, message_, std::move(response), answer));
  PROA_ASSIGN(auto json, protocol::write_infer_response_json(answer.response));
  // Numbers are longer as text.
  const std::size_t counted = std::min(answer_memory_.bytes(), json.message.size);
  answer_memory_.merge(context().budget->reserve(json.message.size - counted));
  Segments parts = to_segments(std::move(json.message));
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), json.json_size).ptr;
  boost::container::static_vector<net::Header, 3> headers;
  headers.push_back({"content-type", json.binary ? kBinaryType : kJsonType});
  if (json.binary) headers.push_back({kJsonSizeHeader, {digits.data(), end}});
  if (accepted_ != Encoding::kIdentity && json.message.size >= kCompressFromBytes) {
    headers.push_back({"content-encoding", encoding_name(accepted_)});
    pack(parts, 0, accepted_, kCompressionLevel);
  }
  set_answered();
  exchange().respond(200, headers, parts);
  return {};
}

void InferRestCall::on_gone() {
  if (cancellation_ != nullptr) cancellation_->cancel();
}

}  // namespace proa::frontends
