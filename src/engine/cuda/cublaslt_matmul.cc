// Matrix products with bias, residual and relu in cuBLASLt's epilogue: MatMul with a constant
// matrix on the right, and 1x1 convolutions over NHWC pixels. A variant is the algorithm as the
// library wrote it, in hexadecimal; it is good for that library version. A product in FP16 can also
// be answered in FP32, which saves the convert behind it.
// Source: cuBLAS 13 documentation, "Using the cuBLASLt API".
#include <array>
#include <charconv>
#include <cstring>

#include "engine/cuda/status.h"
#include "engine/cuda/step_kernel.h"

namespace proa::engine::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr int kMostAlgorithms = 16;

// y[rows, outs] = act(x[rows, inner] * weight + bias + residual), all FP16 or all FP32 (`to_float`:
// y and bias alone), with FP32 sums.
// `turned`: the weight is [outs, inner], else [inner, outs].
struct Problem {
  std::int64_t rows = 0, inner = 0, outs = 0;
  bool turned = true, bias = false, residual = false, relu = false;
  bool half = true, tf32 = false, to_float = false;

  cudaDataType_t type() const { return half ? CUDA_R_16F : CUDA_R_32F; }
  cudaDataType_t output_type() const { return to_float ? CUDA_R_32F : type(); }
};

Problem problem_of(const Graph& graph, const Node& node) {
  Problem problem;
  const Value& weight = graph.value(node.inputs[1]);
  const Value& output = graph.value(node.output());
  problem.outs = output.shape[output.shape.rank() - 1];
  problem.rows = output.elements() / problem.outs;
  problem.inner = weight.elements() / problem.outs;
  problem.bias = node.input(2) != kNoValue;
  problem.residual = node.input(3) != kNoValue;
  problem.half = output.type == DataType::kFp16;
  if (const auto* matmul = std::get_if<MatMul>(&node.op)) {
    problem.turned = matmul->transpose_b;
    problem.relu = matmul->act.function == Function::kRelu;
    problem.tf32 = matmul->tf32;
  } else {
    problem.relu = std::get<Conv>(node.op).act.function == Function::kRelu;
    problem.tf32 = std::get<Conv>(node.op).tf32;
  }
  return problem;
}

struct DestroyMatmul {
  void operator()(cublasLtMatmulDesc_t p) const { (void)cublasLtMatmulDescDestroy(p); }
};
struct DestroyLayout {
  void operator()(cublasLtMatrixLayout_t p) const { (void)cublasLtMatrixLayoutDestroy(p); }
};
struct DestroyPreference {
  void operator()(cublasLtMatmulPreference_t p) const { (void)cublasLtMatmulPreferenceDestroy(p); }
};
using MatmulDescriptor =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, DestroyMatmul>;
using LayoutDescriptor =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, DestroyLayout>;
using Preference =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, DestroyPreference>;

// cuBLASLt counts in columns: our row-major y is its [outs, rows], x its [inner, rows].
struct Descriptors {
  MatmulDescriptor matmul;
  LayoutDescriptor weight, x, y;
};

template <class T>
Status set(const MatmulDescriptor& matmul, cublasLtMatmulDescAttributes_t name, const T& value) {
  PROA_CUBLAS(cublasLtMatmulDescSetAttribute(matmul.get(), name, &value, sizeof value));
  return {};
}

Result<LayoutDescriptor> make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  PROA_CUBLAS(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                         static_cast<std::uint64_t>(columns), rows));
  return LayoutDescriptor(layout);
}

cublasLtEpilogue_t epilogue_of(const Problem& problem) {
  if (problem.bias) return problem.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return problem.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

Result<Descriptors> describe(const Problem& problem) {
  Descriptors made;
  cublasLtMatmulDesc_t matmul = nullptr;
  const cublasComputeType_t compute =
      problem.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  PROA_CUBLAS(cublasLtMatmulDescCreate(&matmul, compute, CUDA_R_32F));
  made.matmul.reset(matmul);
  const cublasOperation_t left = problem.turned ? CUBLAS_OP_T : CUBLAS_OP_N;
  PROA_TRY(set(made.matmul, CUBLASLT_MATMUL_DESC_TRANSA, left));
  PROA_TRY(set(made.matmul, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem)));
  if (problem.bias) {
    PROA_TRY(set(made.matmul, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, problem.output_type()));
  }
  const cudaDataType_t type = problem.type();
  PROA_ASSIGN(made.weight, problem.turned ? make_layout(type, problem.inner, problem.outs)
                                          : make_layout(type, problem.outs, problem.inner));
  PROA_ASSIGN(made.x, make_layout(type, problem.inner, problem.rows));
  PROA_ASSIGN(made.y, make_layout(problem.output_type(), problem.outs, problem.rows));
  return made;
}

std::string to_hex(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  for (std::uint64_t word : algorithm.data) text += fmt::format("{:016x}", word);
  return text;
}

Result<cublasLtMatmulAlgo_t> from_hex(std::string_view text) {
  cublasLtMatmulAlgo_t algorithm{};
  constexpr std::size_t kDigits = 16;
  bool good = text.size() == std::size(algorithm.data) * kDigits;
  for (std::size_t i = 0; good && i < std::size(algorithm.data); ++i) {
    const char* begin = text.data() + i * kDigits;
    std::uint64_t word = 0;
    good = std::from_chars(begin, begin + kDigits, word, 16).ptr == begin + kDigits;
    algorithm.data[i] = word;
  }
  if (good) return algorithm;
  return error::invalid_argument("'{}' is no cuBLASLt algorithm", text);
}

class LtMatmul final : public StepKernel {
 public:
  LtMatmul(Descriptors descriptors, const Problem& problem, const cublasLtMatmulAlgo_t& algorithm)
      : descriptors_(std::move(descriptors)), problem_(problem), algorithm_(algorithm) {}

  std::size_t workspace_bytes() const override { return kWorkspaceBytes; }
  DataType constant_type(std::size_t i, DataType) const override {
    const bool half = problem_.half && !(problem_.to_float && i == 2);
    return half ? DataType::kFp16 : DataType::kFp32;
  }

  Status launch(const Arguments& arguments, Libraries& libraries, cudaStream_t stream) override {
    if (problem_.bias) {
      PROA_TRY(set(descriptors_.matmul, CUBLASLT_MATMUL_DESC_BIAS_POINTER, arguments.inputs[2]));
    }
    const float one = 1.0f, beta = problem_.residual ? 1.0f : 0.0f;
    const void* residual = problem_.residual ? arguments.inputs[3] : arguments.output;
    PROA_CUBLAS(cublasLtMatmul(libraries.cublaslt(), descriptors_.matmul.get(), &one,
                               arguments.inputs[1], descriptors_.weight.get(), arguments.inputs[0],
                               descriptors_.x.get(), &beta, residual, descriptors_.y.get(),
                               arguments.output, descriptors_.y.get(), &algorithm_,
                               arguments.workspace, kWorkspaceBytes, stream));
    return {};
  }

 private:
  Descriptors descriptors_;
  Problem problem_;
  cublasLtMatmulAlgo_t algorithm_;
};

Result<std::vector<std::string>> variants_of(const Problem& problem, Libraries& libraries) {
  PROA_ASSIGN(const Descriptors made, describe(problem));
  cublasLtMatmulPreference_t raw = nullptr;
  PROA_CUBLAS(cublasLtMatmulPreferenceCreate(&raw));
  const Preference preference(raw);
  PROA_CUBLAS(cublasLtMatmulPreferenceSetAttribute(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                   &kWorkspaceBytes, sizeof kWorkspaceBytes));
  std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> results{};
  int found = 0;
  PROA_CUBLAS(cublasLtMatmulAlgoGetHeuristic(
      libraries.cublaslt(), made.matmul.get(), made.weight.get(), made.x.get(), made.y.get(),
      made.y.get(), raw, kMostAlgorithms, results.data(), &found));
  std::vector<std::string> list;
  for (int i = 0; i < found; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS) list.push_back(to_hex(result.algo));
  }
  return list;
}

Result<std::unique_ptr<StepKernel>> build_of(const Problem& problem, std::string_view variant) {
  PROA_ASSIGN(const cublasLtMatmulAlgo_t algorithm, from_hex(variant));
  PROA_ASSIGN(Descriptors made, describe(problem));
  return std::make_unique<LtMatmul>(std::move(made), problem, algorithm);
}

Result<std::vector<std::string>> variants(const Graph& graph, const Node& node,
                                          Libraries& libraries) {
  return variants_of(problem_of(graph, node), libraries);
}
Result<std::unique_ptr<StepKernel>> build(const Graph& graph, const Node& node,
                                          std::string_view variant, Libraries&) {
  return build_of(problem_of(graph, node), variant);
}

// A product and the convert to FP32 behind it.
Problem problem_to_float(const Graph& graph, const Node& node) {
  Problem problem = problem_of(graph, *parts_of(graph, node, 2)[0]);
  problem.to_float = true;
  return problem;
}
Result<std::vector<std::string>> variants_to_float(const Graph& graph, const Node& node,
                                                   Libraries& libraries) {
  return variants_of(problem_to_float(graph, node), libraries);
}
Result<std::unique_ptr<StepKernel>> build_to_float(const Graph& graph, const Node& node,
                                                   std::string_view variant, Libraries&) {
  return build_of(problem_to_float(graph, node), variant);
}

}  // namespace

const KernelMaker kCublasLtMaker = {Implementation::kCublasLt, variants, build};
const KernelMaker kCublasLtToFloatMaker = {Implementation::kCublasLtToFloat, variants_to_float,
                                           build_to_float};

}  // namespace proa::engine::cuda
