#include "backends/python/calls.h"

#include <bit>
#include <optional>
#include <utility>

#include "backends/python/messages.h"
#include "core/model.h"
#include "core/request_builder.h"

namespace proa::backends::python {
namespace {

Error cut_short() { return error::internal("the worker process sent half a call"); }

// Everything of an answer but its outputs.
void put_answer(Draft& draft, std::uint64_t call, std::uint64_t value, bool final,
                const std::optional<Error>& error, std::size_t outputs,
                const Parameters& parameters) {
  std::uint32_t flags = final ? kFinal : 0U;
  if (error) flags |= kHasError;
  if (!parameters.empty()) flags |= kHasParameters;
  WireWriter& body = draft.body;
  body.put(call);
  body.put(value);
  body.put(flags);
  body.put(error ? triton_code(error->code) : std::uint32_t{0});
  body.put(static_cast<std::uint32_t>(outputs));
  body.put(std::uint32_t{0});
  if (error) body.put_string(error->message);
  if (!parameters.empty()) body.put_parameters(parameters);
  body.align(sizeof(std::uint64_t));
}

Status send_answer(Lending& lending, const config::ModelConfig& config, std::uint64_t call,
                   const core::Response& response, bool final) {
  Draft draft(Message::kAnswer);
  std::size_t outputs = 0;
  for (const Tensor& tensor : response.outputs) outputs += tensor.type != DataType::kInvalid;
  const bool empty = final && config.decoupled && !response.error && outputs == 0;
  put_answer(draft, call, empty ? 1 : 0, final, response.error, outputs, response.parameters);
  for (std::size_t i = 0; i < response.outputs.size(); ++i) {
    if (response.outputs[i].type == DataType::kInvalid) continue;
    const Status put =
        lending.put_tensor(draft, kByName, config.outputs[i].name, response.outputs[i]);
    if (put) continue;
    lending.abandon(draft);
    return put;
  }
  return lending.send(draft);
}

Result<core::CustomMetrics::Identity> read_metric(WireReader& reader) {
  core::CustomMetrics::Identity metric;
  const auto kind = reader.get<std::uint8_t>();
  const auto labels = reader.get<std::uint32_t>();
  metric.family = reader.get_string();
  metric.description = reader.get_string();
  for (std::uint32_t i = 0; i < labels && reader.ok(); ++i) {
    std::string name(reader.get_string());
    metric.labels[std::move(name)] = reader.get_string();
  }
  const auto buckets = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < buckets && reader.ok(); ++i) {
    metric.buckets.push_back(reader.get<double>());
  }
  if (!reader.ok() || kind > 2) return cut_short();
  metric.kind = static_cast<core::CustomMetrics::Kind>(kind);
  return metric;
}

}  // namespace

// Brings the responses to the worker, if that is still there.
class Calls::Sink final : public core::ResponseSink {
 public:
  Sink(std::weak_ptr<Calls> calls, std::uint64_t call, std::shared_ptr<core::Model> model)
      : calls_(std::move(calls)), call_(call), model_(std::move(model)) {}

  void send(core::Response response, bool final) override {
    const auto calls = calls_.lock();
    if (calls == nullptr) return;
    if (final) calls->forget(call_);
    Lending& lending = *calls->lending_;
    const Status sent = send_answer(lending, model_->config(), call_, response, final);
    if (sent) return;
    response = core::Response{.error = sent.error()};
    (void)send_answer(lending, model_->config(), call_, response, final);
  }

 private:
  const std::weak_ptr<Calls> calls_;
  const std::uint64_t call_;
  const std::shared_ptr<core::Model> model_;
};

Result<core::ModelAccess*> Calls::models() const {
  if (options_.models != nullptr) return options_.models;
  return error::unavailable("model '{}' runs outside of a server: there are no other models to ask",
                            options_.config->name);
}

Status Calls::take(Incoming& message, int depth) {
  WireReader& reader = message.reader;
  const auto call = reader.get<std::uint64_t>();
  const auto what = reader.get<What>();
  reader.get<std::uint32_t>();
  Status status;
  std::uint64_t value = 0;
  switch (what) {
    case What::kInfer:
      status = infer(call, message, depth);
      break;
    case What::kLoad:
      status = load(call, reader);
      break;
    case What::kUnload:
      status = unload(reader);
      break;
    case What::kIsReady: {
      const auto name = reader.get_string();
      const auto version = reader.get_string();
      const auto access = models();
      if (!access) status = access.error();
      value = access && reader.ok() && (*access)->ready(name, version) ? 1 : 0;
      break;
    }
    case What::kCancel:
      cancel(reader.get<std::uint64_t>());
      return {};
    case What::kMetric: {
      const auto bits = metric(reader);
      if (bits) value = *bits;
      if (!bits) status = bits.error();
      break;
    }
    default:
      return error::internal("the worker process sent call {}", static_cast<int>(what));
  }
  if (!reader.ok()) return cut_short();
  const bool ended = what != What::kInfer && what != What::kLoad;
  if (!status || ended) answer(call, status, value);
  return {};
}

Status Calls::infer(std::uint64_t call, Incoming& message, int depth) {
  WireReader& reader = message.reader;
  const auto correlation = reader.get<std::uint64_t>();
  const auto timeout_us = reader.get<std::uint64_t>();
  const auto flags = reader.get<std::uint32_t>();
  const auto priority = reader.get<std::uint32_t>();
  const auto output_count = reader.get<std::uint32_t>();
  const auto input_count = reader.get<std::uint32_t>();
  const std::string_view name = reader.get_string();
  const std::string_view version = reader.get_string();
  const std::string_view id = reader.get_string();
  const std::string_view correlation_text = reader.get_string();
  Parameters parameters = reader.get_parameters();
  std::vector<std::string_view> outputs;
  if (!reader.has(output_count, sizeof(std::uint32_t))) return cut_short();
  for (std::uint32_t i = 0; i < output_count; ++i) outputs.push_back(reader.get_string());
  reader.align(sizeof(std::uint64_t));
  std::vector<Lending::Named> tensors;
  for (std::uint32_t i = 0; i < input_count && reader.ok(); ++i) {
    PROA_ASSIGN(tensors.emplace_back(), Lending::read_tensor(message));
  }
  if (!reader.ok()) return cut_short();
  if (depth > core::kMostRequestDepth) {
    return error::invalid_argument(
        "model '{}': the request to '{}' lies {} deep in others, at most {}: do the models ask "
        "each "
        "other in a circle?",
        options_.config->name, name, depth, core::kMostRequestDepth);
  }
  PROA_ASSIGN(core::ModelAccess * access, models());
  PROA_ASSIGN(std::shared_ptr<core::Model> model, access->find(name, version));
  std::vector<core::NamedInput> inputs;
  for (Lending::Named& tensor : tensors) {
    inputs.push_back({tensor.name, tensor.tensor.type, tensor.tensor.shape, tensor.tensor.data});
  }
  PROA_ASSIGN(auto request, core::build_request(model, inputs, outputs, id));
  request->parameters = std::move(parameters);
  if (correlation_text.empty()) {
    request->correlation_id = correlation;
  } else {
    request->correlation_id = std::string(correlation_text);
  }
  request->sequence_start = (flags & kSequenceStart) != 0;
  request->sequence_end = (flags & kSequenceEnd) != 0;
  request->priority = priority;
  request->timeout = core::queue_timeout(timeout_us);
  request->depth = depth;
  request->times.received = options_.clock->now();
  request->cancellation = std::make_shared<CancellationToken>();
  request->sink = std::make_unique<Sink>(weak_from_this(), call, model);
  {
    MutexLock lock(mutex_);
    running_.emplace(call, request->cancellation);
  }
  model->infer(std::move(request));
  return {};
}

Status Calls::load(std::uint64_t call, WireReader& reader) {
  const std::string name(reader.get_string());
  std::string config(reader.get_string());
  const auto count = reader.get<std::uint32_t>();
  std::vector<core::ModelAccess::File> files;
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string path(reader.get_string());
    files.push_back({std::move(path), std::string(reader.get_string())});
  }
  if (!reader.ok()) return cut_short();
  PROA_ASSIGN(core::ModelAccess * access, models());
  access->load(name, std::move(config), std::move(files),
               [weak = weak_from_this(), call](const Status& status) {
                 if (const auto self = weak.lock()) self->answer(call, status);
               });
  return {};
}

Status Calls::unload(WireReader& reader) {
  const std::string name(reader.get_string());
  const bool with_steps = reader.get_string() == "1";
  if (!reader.ok()) return cut_short();
  PROA_ASSIGN(core::ModelAccess * access, models());
  return access->unload(name, with_steps);
}

Result<std::uint64_t> Calls::metric(WireReader& reader) {
  PROA_ASSIGN(const core::CustomMetrics::Identity metric, read_metric(reader));
  if (options_.metrics == nullptr) return std::bit_cast<std::uint64_t>(0.0);
  PROA_ASSIGN(const double value, options_.metrics->value(metric));
  return std::bit_cast<std::uint64_t>(value);
}

Status Calls::take_metric(Incoming& message) {
  PROA_ASSIGN(const core::CustomMetrics::Identity metric, read_metric(message.reader));
  const auto change = message.reader.get<core::CustomMetrics::Change>();
  const auto value = message.reader.get<double>();
  if (!message.reader.ok()) return cut_short();
  // The metric exists, and its changes were checked where it is: this cannot be told any more.
  if (options_.metrics != nullptr) (void)options_.metrics->change(metric, change, value);
  return {};
}

void Calls::answer(std::uint64_t call, const Status& status, std::uint64_t value) {
  Draft draft(Message::kAnswer);
  const auto error = status ? std::nullopt : std::optional(status.error());
  put_answer(draft, call, value, true, error, 0, {});
  (void)lending_->send(draft);
}

void Calls::cancel(std::uint64_t call) {
  std::shared_ptr<CancellationToken> token;
  {
    MutexLock lock(mutex_);
    const auto found = running_.find(call);
    if (found == running_.end()) return;
    token = found->second;
  }
  token->cancel();
}

void Calls::forget(std::uint64_t call) {
  MutexLock lock(mutex_);
  running_.erase(call);
}

void Calls::cancel_all() {
  decltype(running_) running;
  {
    MutexLock lock(mutex_);
    std::swap(running, running_);
  }
  for (const auto& [call, token] : running) token->cancel();
}

}  // namespace proa::backends::python
