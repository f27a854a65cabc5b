#include "config/model_config.h"

namespace proa::config {
namespace {

int find_by_name(const std::vector<Tensor>& tensors, std::string_view name) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

int ModelConfig::find_input(std::string_view tensor_name) const {
  return find_by_name(inputs, tensor_name);
}

int ModelConfig::find_output(std::string_view tensor_name) const {
  return find_by_name(outputs, tensor_name);
}

int ModelConfig::instance_count() const {
  int count = 0;
  for (const InstanceGroup& group : instance_groups) count += group.count;
  return count;
}

}  // namespace proa::config
