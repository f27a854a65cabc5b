#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tensor/data_type.h"
#include "tensor/shape.h"

namespace inference {
class ModelConfig;
}

namespace proa::config {

// One model's configuration after parsing, completion and validation: what config.pbtxt says, in
// plain structs. The field names and meanings are those of Triton's `inference.ModelConfig`.
// Threading: immutable once a model is loaded with it.

struct Tensor {
  enum class Format : std::uint8_t { kNone, kNhwc, kNchw };
  std::string name;
  DataType type = DataType::kInvalid;
  // Without the batch dimension when max_batch_size > 0; -1 = any extent.
  Shape dims;
  // What the model itself wants or gives instead of `dims`, same number of elements.
  std::optional<Shape> reshape;

  // Inputs only.
  Format format = Format::kNone;  // what the three extents of `dims` mean; changes no computation
  bool optional = false;
  bool allow_ragged_batch = false;
  // Outputs only: file with one class label a line, relative to the model's folder; "" = none.
  std::string label_filename;
};

// What happens to requests that wait: of one priority level, or of the model.
struct QueuePolicy {
  enum class TimeoutAction : std::uint8_t { kReject, kDelay };
  TimeoutAction timeout_action = TimeoutAction::kReject;
  std::chrono::microseconds default_timeout{0};  // 0 = none
  // A request's own timeout counts when it is shorter than the default.
  bool allow_timeout_override = false;
  std::uint32_t max_queue_size = 0;  // requests; 0 = no bound

  bool operator==(const QueuePolicy&) const = default;
};

struct DynamicBatching {
  std::vector<std::int32_t> preferred_batch_sizes;  // ascending; empty = {max_batch_size}
  std::chrono::microseconds max_queue_delay{0};
  bool preserve_ordering = false;
  std::uint64_t priority_levels = 0;  // 0 = priorities are not used; else 1 (highest) .. levels
  std::uint64_t default_priority_level = 0;
  QueuePolicy default_queue_policy;
  std::map<std::uint64_t, QueuePolicy> priority_queue_policies;  // by level
};

struct InstanceGroup {
  enum class Kind : std::uint8_t { kAuto, kCpu, kGpu, kModel };
  std::string name;
  Kind kind = Kind::kAuto;
  std::int32_t count = 1;
  std::vector<std::int32_t> gpus;
};

// Requests that a version answers before it is ready, so that no client waits for what happens only
// once.
struct WarmUp {
  enum class Data : std::uint8_t { kZero, kRandom, kFile };
  struct Input {
    DataType type = DataType::kInvalid;
    Shape dims;  // without the batch dimension when the model batches
    Data data = Data::kZero;
    // kFile: the bytes of one element of the batch, which is repeated: row-major, little endian,
    // BYTES elements with their length in front. A path relative to `warmup/` in the model's
    // folder.
    std::string file;
  };
  std::string name;
  std::int32_t batch_size = 1;          // 0 = not sent
  std::map<std::string, Input> inputs;  // by tensor
  std::int32_t count = 1;               // how often the request is sent
};

struct VersionPolicy {
  enum class Kind : std::uint8_t { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  std::uint32_t latest_count = 1;
  std::vector<std::int64_t> specific;
};

// Other models as one: requests run through the steps, which form a graph by the names of the
// tensors between them (`input`, `output` and the maps of the steps name the same tensors).
struct Ensemble {
  static constexpr std::int64_t kLatest = -1;
  struct Step {
    std::string model;
    std::int64_t version = kLatest;
    // From the names that the step's model has to the names within the ensemble.
    std::map<std::string, std::string> inputs;
    std::map<std::string, std::string> outputs;
  };
  std::vector<Step> steps;
  std::uint32_t max_inflight_requests = 0;  // 0 = core's usual bound
};

// The platform of ensembles; they have no backend.
inline constexpr std::string_view kEnsemblePlatform = "ensemble";

// The metric families whose buckets `model_metrics` may choose; docs/metrics.md describes them.
inline constexpr std::string_view kHistogramFamilies[] = {
    "nv_inference_first_response_histogram_ms", "proa_request_duration_seconds",
    "proa_queue_duration_seconds", "proa_compute_duration_seconds", "proa_batch_size"};

struct ModelConfig {
  std::string name;
  std::string platform;
  std::string backend;  // ours: "openvino", "identity", ...; "" for an ensemble
  VersionPolicy version_policy;
  std::int32_t max_batch_size = 0;  // 0 = `dims` are whole shapes and requests are not batched
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::optional<DynamicBatching> dynamic_batching;  // none = the default scheduler
  std::optional<Ensemble> ensemble;                 // none = a model with a backend
  std::vector<InstanceGroup> instance_groups;
  std::vector<WarmUp> warm_ups;
  std::string default_model_filename;
  std::map<std::string, std::string> parameters;
  std::map<std::string, std::string> metric_tags;
  // Upper bounds of the buckets of this model's histograms, ascending, in the unit of the family
  // (a key, one of kHistogramFamilies); families that are not named keep their usual ones.
  std::map<std::string, std::vector<double>> histogram_buckets;
  bool decoupled = false;
  // `optimization` lets an accelerator compute in half precision; a backend may do so unless its
  // parameters say otherwise.
  bool half_precision = false;

  // What the author wrote, for showing the fields that have no effect here; null = nothing.
  std::shared_ptr<const inference::ModelConfig> stated;

  bool batches() const { return max_batch_size > 0; }

  // The index of that input or output; -1 when there is none.
  int find_input(std::string_view tensor_name) const;
  int find_output(std::string_view tensor_name) const;

  // `dims` as clients see them: with -1 in front when the model batches.
  Shape full_dims(const Tensor& tensor) const {
    return batches() ? tensor.dims.with_first(Shape::kAny) : tensor.dims;
  }

  // How many instances all groups have together.
  int instance_count() const;
};

}  // namespace proa::config
