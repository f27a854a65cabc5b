#include "engine/passes/pass.h"

namespace proa::engine {
namespace {

constexpr Pass kPasses[] = {
    {"widen_halves", "read networks that were stored in FP16 as FP32 ones", passes::widen_halves},
    {"fold_constants", "compute what depends on constants only", passes::fold_constants},
    {"absorb_padding", "pad inside the convolution or pool that reads it", passes::absorb_padding},
    {"bounds_to_clamp", "write minima and maxima with a number as clamps", passes::bounds_to_clamp},
    {"batch_norm_to_scale", "write batch normalisation as a scale and a shift",
     passes::batch_norm_to_scale},
    {"fold_affine", "fold scales and shifts into the weights and bias before them",
     passes::fold_affine},
    {"fuse_residual", "add a second branch inside the convolution or matmul",
     passes::fuse_residual},
    {"fuse_activation", "apply activations inside the operator before them",
     passes::fuse_activation},
    {"channels_last", "turn convolutions and pools to NHWC, between transposes",
     passes::channels_last},
    {"sink_transposes", "move transposes down until they cancel", passes::sink_transposes},
    {"fold_constants", "turn the weights around", passes::fold_constants},
    {"pack_input", "read pictures, normalise and pad their channels in one step",
     passes::pack_input},
    {"set_precision", "compute in FP16 where that is asked for", passes::set_precision},
    {"defer_clip", "leave upper bounds to the kernels that have them", passes::defer_clip},
    {"fuse_stem", "read, convolve and pool a picture in one step", passes::fuse_stem},
    {"simplify", "drop what does nothing", passes::simplify},
};

}  // namespace

std::span<const Pass> standard_passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kPasses) {
    if (pass.name == name) return &pass;
  }
  return nullptr;
}

Result<std::vector<PassRecord>> run_passes(Graph& graph, const PassOptions& options,
                                           std::span<const Pass> passes) {
  std::vector<PassRecord> records;
  for (const Pass& pass : passes) {
    auto changes = pass.run(graph, options);
    if (!changes) return with_context(pass.name, std::move(changes).error());
    graph.remove_dead();
    if (Status status = verify(graph); !status) {
      return with_context(pass.name, std::move(status).error());
    }
    records.push_back({pass.name, *changes, graph.nodes.size()});
  }
  return records;
}

}  // namespace proa::engine
