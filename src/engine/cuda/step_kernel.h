#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/cuda/device.h"
#include "engine/plan/plan.h"

namespace proa::engine::cuda {

// Device pointers of one launch, dense and 16-byte aligned, in the order of the node's inputs;
// nullptr where an input is absent.
struct Arguments {
  std::vector<const void*> inputs;
  void* output = nullptr;
  void* second_output = nullptr;  // of a fusion that has two; nullptr: of one
  void* workspace = nullptr;      // of at least StepKernel::workspace_bytes()
};

// One variant of one implementation, built for one step signature: everything but the pointers is
// fixed, so steps of the same signature share it.
// Threading: confined to one thread at a time; it may set its launch up in place, so streams that
// share it are made one after the other (CudaModel).
class StepKernel {
 public:
  virtual ~StepKernel() = default;
  // Puts the work on `stream`; may be captured.
  virtual Status launch(const Arguments& arguments, Libraries& libraries, cudaStream_t stream) = 0;
  virtual std::size_t workspace_bytes() const { return 0; }
  // The type in which it wants constant input `i`, whose own type is `natural`.
  virtual DataType constant_type(std::size_t i, DataType natural) const {
    (void)i;
    return natural;
  }
};

// How an implementation is made. `variants` lists what may be tried for a step, best guess first,
// each as text that `build` takes on the same kind of device. Both may run on any thread with that
// thread's own libraries; `build` may compile for a second.
// Errors: whatever the libraries answer; a variant that fails to build is simply not used.
struct KernelMaker {
  Implementation implementation;
  Result<std::vector<std::string>> (*variants)(const Graph& graph, const Node& node,
                                               Libraries& libraries);
  Result<std::unique_ptr<StepKernel>> (*build)(const Graph& graph, const Node& node,
                                               std::string_view variant, Libraries& libraries);
};

// The maker of an implementation. To add one: HACKING.md.
const KernelMaker& maker_of(Implementation implementation);

// Workspace that a kernel may ask for; larger ones are not tried.
inline constexpr std::size_t kMostWorkspaceBytes = std::size_t{256} << 20;

// The makers, one file each.
extern const KernelMaker kCudnnPrecompiledMaker;
extern const KernelMaker kCudnnRuntimeMaker;
extern const KernelMaker kCublasLtMaker;
extern const KernelMaker kCublasLtToFloatMaker;
extern const KernelMaker kDepthwiseMaker;
extern const KernelMaker kFewPixelsMaker;
extern const KernelMaker kFewRowsMaker;
extern const KernelMaker kStemMaker;
extern const KernelMaker kExpandMaker;
extern const KernelMaker kBlockEndMaker;
extern const KernelMaker kPictureDepthwiseMaker;
extern const KernelMaker kPackMaker;
extern const KernelMaker kPoolVectorMaker;
extern const KernelMaker kSpatialMeanMaker;
extern const KernelMaker kPointwiseMaker;
extern const KernelMaker kReferenceMaker;

}  // namespace proa::engine::cuda
