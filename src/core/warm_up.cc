#include "core/warm_up.h"

#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/thread.h"
#include "core/batch.h"
#include "core/model.h"
#include "core/request_builder.h"

namespace proa::core {
namespace {

// The requests of one instance: how many are under way, and the first error.
class Progress {
 public:
  // False after an error; otherwise waits until one more may start, and counts it.
  bool wait_for_room(int max_in_flight) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (running_ >= max_in_flight && !error_) changed_.wait(mutex_);
    if (error_) return false;
    ++running_;
    return true;
  }
  void note(const std::string& sample, Error error) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (!error_) error_ = with_context(fmt::format("model_warmup '{}'", sample), std::move(error));
  }
  void ended() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    --running_;
    changed_.notify_all();  // under the lock: afterwards this object may be gone
  }
  Status wait() PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (running_ > 0) changed_.wait(mutex_);
    if (error_) return *error_;
    return {};
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int running_ PROA_GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ PROA_GUARDED_BY(mutex_);
};

// Wants nothing but the errors.
class ErrorSink final : public ResponseSink {
 public:
  ErrorSink(Progress& progress, const std::string& sample) : progress_(progress), sample_(sample) {}
  void send(Response response, bool) override {
    if (response.error) progress_.note(sample_, *std::move(response.error));
  }

 private:
  Progress& progress_;
  const std::string& sample_;
};

Result<std::unique_ptr<Request>> make_request(const std::shared_ptr<Model>& model,
                                              const WarmUpSample& sample) {
  std::vector<NamedInput> inputs;
  for (const WarmUpSample::Input& input : sample.inputs) {
    inputs.push_back({input.name, input.tensor.type, input.tensor.shape, input.tensor.data});
  }
  return build_request(model, inputs, {}, sample.name);
}

Status warm_instance(const std::shared_ptr<Model>& model, Instance& instance,
                     std::span<const WarmUpSample> samples) {
  Progress progress;
  for (const WarmUpSample& sample : samples) {
    for (int i = 0; i < sample.count && progress.wait_for_room(instance.max_in_flight()); ++i) {
      auto request = make_request(model, sample);
      if (!request) {
        progress.note(sample.name, std::move(request.error()));
        progress.ended();
        continue;
      }
      (*request)->sink = std::make_unique<ErrorSink>(progress, sample.name);
      std::vector<std::unique_ptr<Request>> requests;
      requests.push_back(*std::move(request));
      instance.start(std::make_unique<Batch>(std::move(requests)),
                     [&progress, &sample](std::unique_ptr<Batch> batch) {
                       for (Response& response : batch->take_responses()) {
                         if (response.error) progress.note(sample.name, *std::move(response.error));
                       }
                       batch.reset();
                       progress.ended();
                     });
    }
  }
  return progress.wait();
}

}  // namespace

Status warm_up(const std::shared_ptr<Model>& model,
               std::span<const std::unique_ptr<Instance>> instances,
               std::span<const WarmUpSample> samples) {
  if (samples.empty()) return {};
  std::vector<Status> results(instances.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < instances.size(); ++i) {
    auto thread = try_start_thread(
        "proa-load-warm", [&, i] { results[i] = warm_instance(model, *instances[i], samples); });
    if (thread) {
      threads.push_back(*std::move(thread));
    } else {
      results[i] = std::move(thread.error());
    }
  }
  results[0] = warm_instance(model, *instances[0], samples);
  for (std::thread& thread : threads) thread.join();
  for (Status& result : results) PROA_TRY(std::move(result));
  return {};
}

}  // namespace proa::core
