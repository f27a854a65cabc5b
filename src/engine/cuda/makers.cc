#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {

const KernelMaker& maker_of(Implementation implementation) {
  switch (implementation) {
    case Implementation::kCudnnPrecompiled:
      return kCudnnPrecompiledMaker;
    case Implementation::kCudnnRuntime:
      return kCudnnRuntimeMaker;
    case Implementation::kCublasLt:
      return kCublasLtMaker;
    case Implementation::kDepthwise:
      return kDepthwiseMaker;
    case Implementation::kFewPixels:
      return kFewPixelsMaker;
    case Implementation::kFewRows:
      return kFewRowsMaker;
    case Implementation::kStem:
      return kStemMaker;
    case Implementation::kExpand:
      return kExpandMaker;
    case Implementation::kPictureDepthwise:
      return kPictureDepthwiseMaker;
    case Implementation::kCublasLtToFloat:
      return kCublasLtToFloatMaker;
    case Implementation::kBlockEnd:
      return kBlockEndMaker;
    case Implementation::kPack:
      return kPackMaker;
    case Implementation::kPoolVector:
      return kPoolVectorMaker;
    case Implementation::kSpatialMean:
      return kSpatialMeanMaker;
    case Implementation::kPointwise:
      return kPointwiseMaker;
    case Implementation::kReference:
      return kReferenceMaker;
  }
  return kReferenceMaker;
}

}  // namespace proa::engine::cuda
