#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/graph/graph.h"

namespace proa::engine {

// kTf32: FP32 throughout, but convolutions and products may round their inputs to TF32.
enum class Precision : std::uint8_t { kFp32, kTf32, kFp16 };

struct PassOptions {
  Precision precision = Precision::kFp16;
  std::set<std::string, std::less<>> keep_fp32;  // tensors that FP16 cannot hold, by name
};

// One rewriting of a graph. Passes are an explicit ordered list; each leaves a graph that verifies
// and computes the same (up to rounding for the precision pass), and says how often it rewrote.
struct Pass {
  std::string_view name;
  std::string_view what;  // one line for people
  Result<std::size_t> (*run)(Graph& graph, const PassOptions& options);
};

// All passes of the engine in their order. To add one: HACKING.md.
std::span<const Pass> standard_passes();

// The pass of that name in the standard list, or null.
const Pass* find_pass(std::string_view name);

struct PassRecord {
  std::string_view name;
  std::size_t changes = 0;
  std::size_t nodes_after = 0;
};

// Runs `passes` in order, drops dead nodes and verifies after each. Errors: with the pass's name in
// front.
Result<std::vector<PassRecord>> run_passes(Graph& graph, const PassOptions& options,
                                           std::span<const Pass> passes = standard_passes());

// The passes, one file each group.
namespace passes {
Result<std::size_t> widen_halves(Graph& graph, const PassOptions& options);
Result<std::size_t> fold_constants(Graph& graph, const PassOptions& options);
Result<std::size_t> absorb_padding(Graph& graph, const PassOptions& options);
Result<std::size_t> bounds_to_clamp(Graph& graph, const PassOptions& options);
Result<std::size_t> batch_norm_to_scale(Graph& graph, const PassOptions& options);
Result<std::size_t> fold_affine(Graph& graph, const PassOptions& options);
Result<std::size_t> fuse_residual(Graph& graph, const PassOptions& options);
Result<std::size_t> fuse_activation(Graph& graph, const PassOptions& options);
Result<std::size_t> channels_last(Graph& graph, const PassOptions& options);
Result<std::size_t> sink_transposes(Graph& graph, const PassOptions& options);
Result<std::size_t> pack_input(Graph& graph, const PassOptions& options);
Result<std::size_t> fuse_stem(Graph& graph, const PassOptions& options);
Result<std::size_t> set_precision(Graph& graph, const PassOptions& options);
Result<std::size_t> defer_clip(Graph& graph, const PassOptions& options);
Result<std::size_t> simplify(Graph& graph, const PassOptions& options);
}  // namespace passes

}  // namespace proa::engine
