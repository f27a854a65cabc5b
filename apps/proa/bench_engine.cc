#include "bench_engine.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/request_builder.h"
#include "core/statistics.h"
#include "fmt/format.h"

namespace proa {
namespace {

using loadgen::Exchange;
using loadgen::Failure;

// Answers on their way from the model's threads to the worker's loop.
// Threading: thread-safe. Outlives the client for as long as the model holds requests.
class Mailbox {
 public:
  struct Answer {
    std::uint64_t ticket;
    TimePoint at;
    bool final;
    std::optional<Error> error;
    std::vector<loadgen::NamedTensor> outputs;  // only where they are to be compared
  };

  explicit Mailbox(loadgen::Loop& loop) : loop_(&loop) {}

  void put(Answer answer) PROA_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    answers_.push_back(std::move(answer));
    // The loop looks into it after every wait; the first answer wakes it.
    if (loop_ != nullptr && answers_.size() == 1) loop_->wake();
  }
  std::vector<Answer> take() PROA_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return std::exchange(answers_, {});
  }
  // The loop is about to go.
  void close() PROA_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    loop_ = nullptr;
  }

 private:
  Mutex mutex_;
  loadgen::Loop* loop_ PROA_GUARDED_BY(mutex_);
  std::vector<Answer> answers_ PROA_GUARDED_BY(mutex_);
};

// Where the model sends the answers of one request.
class MailboxSink final : public core::ResponseSink {
 public:
  MailboxSink(std::shared_ptr<Mailbox> mailbox, std::uint64_t ticket,
              const config::ModelConfig* named)
      : mailbox_(std::move(mailbox)), ticket_(ticket), named_(named) {}

  void send(core::Response response, bool final) override {
    Mailbox::Answer answer{ticket_, steady_clock().now(), final, std::move(response.error), {}};
    for (std::size_t i = 0; named_ != nullptr && i < response.outputs.size(); ++i) {
      answer.outputs.push_back({named_->outputs[i].name, std::move(response.outputs[i])});
    }
    mailbox_->put(std::move(answer));
  }

 private:
  const std::shared_ptr<Mailbox> mailbox_;
  const std::uint64_t ticket_;
  const config::ModelConfig* const named_;  // null: outputs are of no interest
};

class EngineClient final : public loadgen::Client {
 public:
  EngineClient(const std::shared_ptr<core::Model>& model, const loadgen::PayloadSet& payloads,
               loadgen::Loop& loop, loadgen::ExchangeSink& sink)
      : model_(model),
        payloads_(payloads),
        sink_(sink),
        mailbox_(std::make_shared<Mailbox>(loop)) {}
  ~EngineClient() override { mailbox_->close(); }

  void prepare(std::size_t) override {}
  bool prepared() const override { return true; }
  TimePoint ready_at() const override { return {}; }

  void start(Exchange& exchange) override {
    exchange.sent = steady_clock().now();
    const std::uint64_t ticket = ++last_ticket_;
    under_way_.emplace(ticket, &exchange);
    exchange.place = ticket;
    auto request = build(exchange);
    if (!request) {
      finish(ticket, steady_clock().now(), request.error());
      return;
    }
    const bool compare = !payload_of(exchange).expected.empty();
    (*request)->sink =
        std::make_unique<MailboxSink>(mailbox_, ticket, compare ? &model_->config() : nullptr);
    model_->infer(std::move(*request));
    exchange.sent_all = steady_clock().now();
  }

  // The worker calls it before each wait: answers that have come are handed out.
  void flush() override {
    for (Mailbox::Answer& answer : mailbox_->take()) {
      const auto at = under_way_.find(answer.ticket);
      if (at == under_way_.end()) continue;  // given up
      take_answer(*at->second, answer);
      if (answer.final) finish(answer.ticket, answer.at, std::move(answer.error));
    }
  }

  void cancel(Exchange& exchange, Failure failure) override {
    if (under_way_.erase(exchange.place) == 0) return;
    exchange.done = exchange.first_byte = steady_clock().now();
    exchange.failure = std::make_unique<Failure>(std::move(failure));
    sink_.finished(exchange);
  }

  Statistics statistics() const override { return {}; }

 private:
  const loadgen::Payload& payload_of(const Exchange& exchange) const {
    return payloads_.payloads[exchange.payload];
  }

  Result<std::unique_ptr<core::Request>> build(const Exchange& exchange) const {
    const loadgen::Payload& payload = payload_of(exchange);
    std::vector<core::NamedInput> inputs;
    for (const auto& [name, tensor] : payload.inputs) {
      inputs.push_back({name, tensor.type, tensor.shape, tensor.data});
    }
    PROA_ASSIGN(auto request, core::build_request(model_, inputs, {}, ""));
    request->parameters = payload.parameters;
    request->correlation_id = exchange.sequence.id;
    request->sequence_start = exchange.sequence.start;
    request->sequence_end = exchange.sequence.end;
    request->times.received = exchange.sent;
    return request;
  }

  void take_answer(Exchange& exchange, const Mailbox::Answer& answer) const {
    if (exchange.first_byte == TimePoint()) exchange.first_byte = answer.at;
    if (answer.error) return;
    ++exchange.responses;
    if (exchange.keep_response_times) exchange.response_times.push_back(answer.at);
    const loadgen::Payload& payload = payload_of(exchange);
    if (payload.expected.empty() || exchange.failure != nullptr) return;
    const Status same = loadgen::check_answer(payload, answer.outputs, loadgen::kDefaultTolerance);
    if (!same) exchange.failure = std::make_unique<Failure>("wrong answer", same.error().message);
  }

  void finish(std::uint64_t ticket, TimePoint done, std::optional<Error> error) {
    Exchange& exchange = *under_way_.extract(ticket).mapped();
    exchange.done = done;
    exchange.sent_all = std::clamp(exchange.sent_all, exchange.sent, done);
    if (exchange.first_byte == TimePoint()) exchange.first_byte = done;
    if (error) {
      exchange.failure = std::make_unique<Failure>(std::string(error_code_name(error->code)),
                                                   std::move(error->message));
    }
    sink_.finished(exchange);
  }

  const std::shared_ptr<core::Model> model_;
  const loadgen::PayloadSet& payloads_;
  loadgen::ExchangeSink& sink_;
  const std::shared_ptr<Mailbox> mailbox_;
  std::map<std::uint64_t, Exchange*> under_way_;
  std::uint64_t last_ticket_ = 0;
};

class EngineTarget final : public loadgen::Target {
 public:
  EngineTarget(const LocalRuntime& runtime, const loadgen::PayloadSet& payloads)
      : runtime_(runtime), payloads_(payloads) {}
  std::unique_ptr<loadgen::Client> make_client(loadgen::Loop& loop,
                                               loadgen::ExchangeSink& sink) const override {
    return std::make_unique<EngineClient>(runtime_.model(), payloads_, loop, sink);
  }

 private:
  const LocalRuntime& runtime_;
  const loadgen::PayloadSet& payloads_;
};

loadgen::StageTime stage_of(const core::CountedTime& time) { return {time.count, time.ns}; }

class EngineStatistics final : public loadgen::StatisticsSource {
 public:
  explicit EngineStatistics(const LocalRuntime& runtime) : runtime_(runtime) {}

  Result<loadgen::ServerSnapshot> read() override {
    const core::StatisticsSnapshot counters = runtime_.model()->statistics().snapshot();
    loadgen::ServerModelStatistics model;
    model.model = runtime_.model()->name();
    model.version = runtime_.model()->version_string();
    model.inference_count = counters.inference_count;
    model.execution_count = counters.execution_count;
    model.success = stage_of(counters.success);
    model.fail = stage_of(counters.fail);
    model.queue = stage_of(counters.queue);
    model.compute_input = stage_of(counters.compute_input);
    model.compute_infer = stage_of(counters.compute_infer);
    model.compute_output = stage_of(counters.compute_output);
    for (const auto& [size, times] : counters.batch_sizes) {
      model.batch_sizes.push_back({static_cast<std::uint64_t>(size), times.compute_infer.count});
    }
    loadgen::ServerSnapshot snapshot;
    snapshot.models.push_back(std::move(model));
    return snapshot;
  }

 private:
  const LocalRuntime& runtime_;
};

loadgen::TensorSignature signature_of(const config::Tensor& tensor) {
  loadgen::TensorSignature signature;
  signature.name = tensor.name;
  signature.type = tensor.type;
  signature.shape = tensor.dims;
  signature.optional = tensor.optional;
  return signature;
}

}  // namespace

loadgen::ModelSignature describe_local_model(const core::Model& model) {
  const config::ModelConfig& config = model.config();
  loadgen::ModelSignature signature;
  signature.name = config.name;
  signature.max_batch_size = config.max_batch_size;
  for (const config::Tensor& tensor : config.inputs)
    signature.inputs.push_back(signature_of(tensor));
  for (const config::Tensor& tensor : config.outputs) {
    signature.outputs.push_back(signature_of(tensor));
  }
  return signature;
}

std::unique_ptr<loadgen::Target> make_engine_target(const LocalRuntime& runtime,
                                                    const loadgen::PayloadSet& payloads) {
  return std::make_unique<EngineTarget>(runtime, payloads);
}

std::unique_ptr<loadgen::StatisticsSource> make_engine_statistics(const LocalRuntime& runtime) {
  return std::make_unique<EngineStatistics>(runtime);
}

}  // namespace proa
