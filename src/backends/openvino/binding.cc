#include "backends/openvino/binding.h"

#include <string_view>

#include "fmt/format.h"

namespace proa::backends::openvino {
namespace {

// Where an error happened and what stood on both sides.
struct Pair {
  std::string_view kind;  // "input", "output"
  const config::Tensor& configured;
  const TensorSignature& known;
  int max_batch_size;

  Shape configured_shape() const {
    const Shape& dims = configured.reshape ? *configured.reshape : configured.dims;
    return max_batch_size > 0 ? dims.with_first(Shape::kAny) : dims;
  }
  Error contradiction(std::string_view hint) const {
    return error::invalid_argument(
        "{} '{}' is {} {} in the configuration (max_batch_size {}), but {} in the model file{}",
        kind, configured.name, data_type_name(configured.type), configured_shape().to_string(),
        max_batch_size, known.to_string(), hint);
  }
};

Status check_type(const Pair& pair) {
  if (pair.known.type == DataType::kInvalid) {
    return error::unimplemented(
        "{} '{}' has element type {}, which this backend does not serve (strings and types of less "
        "than 8 bits never enter OpenVINO)",
        pair.kind, pair.known.name, pair.known.native_type);
  }
  if (pair.configured.type != pair.known.type) return pair.contradiction("");
  return {};
}

std::string_view rank_hint(const Pair& pair, const Shape& wanted) {
  if (pair.max_batch_size > 0 && wanted.rank() == pair.known.shape->rank() + 1) {
    return ": dims leave out the batch dimension when max_batch_size is above 0; drop their first "
           "number, or set max_batch_size: 0";
  }
  if (pair.max_batch_size == 0 && wanted.rank() + 1 == pair.known.shape->rank()) {
    return ": with max_batch_size 0 dims are whole shapes; add the first extent, or set "
           "max_batch_size";
  }
  return "";
}

// `merged` = the narrower of both sides; `batch_opened` is set when the file fixes the first extent
// of a model that is to batch.
Status merge_shapes(const Pair& pair, Shape& merged, bool& batch_opened) {
  const Shape wanted = pair.configured_shape();
  merged = pair.known.shape.value_or(wanted);
  if (!pair.known.shape) return {};
  if (wanted.rank() != merged.rank()) return pair.contradiction(rank_hint(pair, wanted));
  for (std::size_t i = 0; i < merged.rank(); ++i) {
    if (i == 0 && pair.max_batch_size > 0) {
      const std::int64_t open = pair.max_batch_size == 1 ? 1 : Shape::kAny;
      if (merged[0] != Shape::kAny && merged[0] != open) batch_opened = true;
      merged[0] = open;
      continue;
    }
    if (wanted[i] == Shape::kAny || wanted[i] == merged[i]) continue;
    if (merged[i] != Shape::kAny) return pair.contradiction("");
    merged[i] = wanted[i];
  }
  return {};
}

Result<BoundTensor> bind_tensor(const Pair& pair, std::size_t port, bool& batch_opened) {
  PROA_TRY(check_type(pair));
  BoundTensor bound;
  bound.name = pair.configured.name;
  bound.narrowed = pair.known.narrowed;
  bound.port = port;
  bound.type = pair.configured.type;
  bound.rank_known = pair.known.shape.has_value();
  PROA_TRY(merge_shapes(pair, bound.model_shape, batch_opened));
  return bound;
}

Error unknown_name(std::string_view kind, std::string_view name,
                   std::span<const TensorSignature> known) {
  return error::invalid_argument("the configuration has {} '{}', but the model's {}s are: {}", kind,
                                 name, kind, list_names(known));
}

Status bind_inputs(const Signature& signature, const config::ModelConfig& config,
                   Binding& binding) {
  std::vector<bool> bound(signature.inputs.size(), false);
  binding.port_shapes.resize(signature.inputs.size());
  for (const config::Tensor& tensor : config.inputs) {
    const int port = find_tensor(signature.inputs, tensor.name);
    if (port < 0) return unknown_name("input", tensor.name, signature.inputs);
    if (bound[port]) {
      return error::invalid_argument("input '{}' is configured twice", tensor.name);
    }
    if (tensor.optional || tensor.allow_ragged_batch) {
      return error::unimplemented(
          "input '{}' is {}, but the model has no default for it and wants whole batches: take "
          "that line out",
          tensor.name, tensor.optional ? "optional" : "allow_ragged_batch");
    }
    bound[port] = true;
    const Pair pair{"input", tensor, signature.inputs[port], config.max_batch_size};
    PROA_ASSIGN(BoundTensor input,
                bind_tensor(pair, static_cast<std::size_t>(port), binding.opens_batch_dimension));
    binding.port_shapes[port] = input.model_shape;
    binding.must_reshape |= signature.inputs[port].shape != input.model_shape;
    binding.inputs.push_back(std::move(input));
  }
  for (std::size_t port = 0; port < bound.size(); ++port) {
    if (!bound[port]) {
      return error::invalid_argument(
          "the model's input '{}' ({}) is missing in the configuration, which has {} of {} inputs",
          signature.inputs[port].name, signature.inputs[port].to_string(), config.inputs.size(),
          bound.size());
    }
  }
  return {};
}

// The configured input that is at `port`; -1 for -1.
int input_at_port(const Binding& binding, int port) {
  for (std::size_t i = 0; i < binding.inputs.size(); ++i) {
    if (static_cast<int>(binding.inputs[i].port) == port) return static_cast<int>(i);
  }
  return -1;
}

Status bind_outputs(const Signature& signature, const config::ModelConfig& config,
                    Binding& binding) {
  for (const config::Tensor& tensor : config.outputs) {
    const int port = find_tensor(signature.outputs, tensor.name);
    if (port < 0) return unknown_name("output", tensor.name, signature.outputs);
    const TensorSignature& known = signature.outputs[port];
    const Pair pair{"output", tensor, known, config.max_batch_size};
    bool ignored = false;  // outputs follow the inputs' shapes
    PROA_ASSIGN(BoundTensor output, bind_tensor(pair, static_cast<std::size_t>(port), ignored));
    output.copy_of_input = input_at_port(binding, known.copy_of_input);
    binding.outputs.push_back(std::move(output));
  }
  return {};
}

}  // namespace

Result<Binding> bind(const Signature& signature, const config::ModelConfig& config) {
  Binding binding;
  binding.model = config.name;
  binding.batches = config.batches();
  PROA_TRY(bind_inputs(signature, config, binding));
  PROA_TRY(bind_outputs(signature, config, binding));
  return binding;
}

}  // namespace proa::backends::openvino
