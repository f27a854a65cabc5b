#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/model_config.h"
#include "core/batch.h"

namespace proa::core {

// How an instance spends its caller's time.
enum class Execution : std::uint8_t {
  kInline,  // start() computes on the caller's thread, for microseconds: an event loop may call it
  kBlocking,  // start() computes or waits on the caller's thread for long: it gets a thread of its
              // own
  kAsync,     // start() hands the work to somebody else's threads and returns at once
};

// Something that runs batches of one model: a capacity token, not a thread. The scheduler starts at
// most max_in_flight() batches at a time on it, in order.
//
// Threading: start() is never called by two threads at once; for kBlocking always by the instance's
// own thread, except for the requests of core/warm_up.h, which come before that thread starts.
// `done` may be called on any thread.
class Instance {
 public:
  // Takes the finished batch back: outputs or errors are set. Called exactly once per start().
  using Done = std::move_only_function<void(std::unique_ptr<Batch>)>;

  // No batch is in flight any more, but a thread of the instance's own may still be returning from
  // the last `done`: the destructor waits for it.
  virtual ~Instance() = default;
  virtual void start(std::unique_ptr<Batch> batch, Done done) = 0;
  virtual int max_in_flight() const { return 1; }
  // False when what it runs on is gone for good: the scheduler gives batches to the others. When
  // none is left, batches come all the same and are answered with the reason. Threading: any.
  virtual bool usable() const { return true; }
};

// Where an instance is to run.
struct InstancePlacement {
  std::string name;  // "resnet_0_1": group and number
  config::InstanceGroup::Kind kind = config::InstanceGroup::Kind::kCpu;
  int device = 0;  // GPU id
};

// One version of a model in memory, shared by its instances.
// Threading: thread-safe.
class LoadedModel {
 public:
  virtual ~LoadedModel() = default;  // its instances are gone
  virtual Execution execution() const = 0;
  // How many of the configured instances it pays to run; more would only queue inside the backend.
  virtual int useful_instances(int configured) const { return configured; }
  virtual Result<std::unique_ptr<Instance>> create_instance(const InstancePlacement& placement) = 0;
  // Why the model is not ready any more: a device of its instances failed.
  virtual Status health() const { return {}; }
};

// What a version's files are.
struct ModelFiles {
  std::filesystem::path model_folder;    // holds config.pbtxt, labels, ...
  std::filesystem::path version_folder;  // holds the model file
  std::int64_t version = 1;
};

// A way to run models. Knows nothing of queues, protocols or sockets. Listed in backends/list.cc.
// Threading: thread-safe; loads of different models run side by side.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;

  // Fills in what the configuration leaves open (inputs, outputs, and max_batch_size unless
  // `max_batch_size_given`) from the model file. Never changes what is given; a contradiction
  // between the two is an error that names both. `config.default_model_filename` is set.
  virtual Status complete_config(const ModelFiles& files, bool max_batch_size_given,
                                 config::ModelConfig& config) = 0;

  // Errors name the file and the reason (kInvalidArgument, kNotFound, kUnimplemented).
  virtual Result<std::unique_ptr<LoadedModel>> load(const ModelFiles& files,
                                                    const config::ModelConfig& config) = 0;
};

}  // namespace proa::core
