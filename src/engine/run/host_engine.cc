#include "engine/run/host_engine.h"

#include <algorithm>
#include <cstring>

#include "engine/graph/batch.h"
#include "engine/host/executor.h"
#include "engine/run/check_ends.h"

namespace proa::engine {
namespace {

struct Bucket {
  std::int64_t batch = 1;
  Plan plan;
};

class HostStream final : public DeviceStream {
 public:
  explicit HostStream(std::span<const Bucket> buckets) : buckets_(buckets) {
    for (const Bucket& bucket : buckets) executors_.emplace_back(bucket.plan);
  }

  Status start(int, std::int64_t batch, std::span<const std::span<const std::byte>> inputs,
               std::span<const std::span<std::byte>> outputs) override {
    const auto found = std::ranges::lower_bound(buckets_, batch, {}, &Bucket::batch);
    if (batch < 1 || found == buckets_.end()) {
      return error::invalid_argument("a batch of {} rows fits no bucket; the largest is {}", batch,
                                     buckets_.back().batch);
    }
    const Graph& graph = found->plan.graph;
    PROA_TRY(check_ends(graph, found->batch, batch, inputs, outputs));
    std::vector<std::vector<std::byte>> in, out;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      in.emplace_back(graph.value(graph.inputs[i]).bytes(), std::byte{0x3c});
      std::ranges::copy(inputs[i], in[i].begin());
    }
    for (const ValueId id : graph.outputs) out.emplace_back(graph.value(id).bytes());
    const std::vector<std::span<const std::byte>> full_in(in.begin(), in.end());
    const std::vector<std::span<std::byte>> full_out(out.begin(), out.end());
    const auto index = static_cast<std::size_t>(found - buckets_.begin());
    PROA_TRY(executors_[index].run(full_in, full_out));
    for (std::size_t i = 0; i < out.size(); ++i) {
      std::memcpy(outputs[i].data(), out[i].data(), outputs[i].size());
    }
    return {};
  }
  Status wait(int) override { return {}; }
  std::size_t bytes() const override { return buckets_.back().plan.arena_bytes; }

 private:
  std::span<const Bucket> buckets_;
  std::vector<HostExecutor> executors_;
};

class HostModel final : public DeviceModel {
 public:
  explicit HostModel(std::vector<Bucket> buckets) : buckets_(std::move(buckets)) {}
  Result<std::unique_ptr<DeviceStream>> make_stream(int) const override {
    return std::make_unique<HostStream>(buckets_);
  }
  std::size_t constant_bytes() const override { return buckets_.back().plan.constant_bytes; }
  std::string report() const override {
    std::string text;
    for (const Bucket& bucket : buckets_) text += print_plan(bucket.plan);
    return text;
  }

 private:
  const std::vector<Bucket> buckets_;
};

class HostEngine final : public DeviceEngine {
 public:
  explicit HostEngine(int devices) : devices_(devices) {}
  Result<int> device_count() override { return devices_; }

  Result<std::unique_ptr<DeviceModel>> load(const Graph& graph,
                                            const DeviceModelOptions& options) override {
    if (options.device < 0 || options.device >= devices_) {
      return error::not_found("device {} was asked for; there are {}", options.device, devices_);
    }
    std::vector<std::int64_t> sizes = options.buckets;
    std::ranges::sort(sizes);
    std::vector<Bucket> buckets;
    for (const std::int64_t batch : sizes) {
      PROA_ASSIGN(Graph resized, sized_for(graph, batch));
      PROA_ASSIGN(Plan plan, lower(std::move(resized), Target{}));
      buckets.push_back({batch, std::move(plan)});
    }
    return std::make_unique<HostModel>(std::move(buckets));
  }
  // Plans on the host share its memory with everything else.
  Result<DeviceMemoryUse> memory(int) override { return DeviceMemoryUse{}; }
  Result<Buffer> allocate_pinned(int, std::size_t bytes) override {
    return Buffer::allocate(bytes);
  }

 private:
  const int devices_;
};

}  // namespace

std::unique_ptr<DeviceEngine> make_host_engine(int devices) {
  return std::make_unique<HostEngine>(devices);
}

}  // namespace proa::engine
