#include "engine/cuda/cudnn_engine.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "engine/cuda/status.h"

namespace proa::engine::cuda {
namespace {

// Whether the engine may round FP32 inputs.
bool rounds_inputs(const CudnnDescriptor& engine) {
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  std::int64_t count = 0;
  const cudnnStatus_t status = cudnnBackendGetAttribute(
      engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
      static_cast<std::int64_t>(notes.size()), &count, notes.data());
  if (status != CUDNN_STATUS_SUCCESS) return true;
  const auto end = notes.begin() + std::min<std::int64_t>(count, notes.size());
  return std::any_of(notes.begin(), end, [](cudnnBackendNumericalNote_t note) {
    return note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE ||
           note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
  });
}

// Nothing for an engine that `strict` rules out.
Result<std::optional<EngineChoice>> read_choice(const CudnnDescriptor& config, bool strict) {
  PROA_ASSIGN(const std::vector<CudnnDescriptor> engines,
              config.get_list(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1));
  if (engines.empty()) return error::internal("cuDNN gave a configuration without an engine");
  if (strict && rounds_inputs(engines[0])) return std::optional<EngineChoice>();
  EngineChoice choice;
  PROA_ASSIGN(choice.engine,
              engines[0].get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64));
  PROA_ASSIGN(const std::vector<CudnnDescriptor> knobs,
              config.get_list(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                              CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS));
  for (const CudnnDescriptor& knob : knobs) {
    PROA_ASSIGN(const auto type, knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE,
                                                                  CUDNN_TYPE_KNOB_TYPE));
    PROA_ASSIGN(const std::int64_t value,
                knob.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64));
    choice.knobs.emplace_back(static_cast<std::int64_t>(type), value);
  }
  return std::optional<EngineChoice>(std::move(choice));
}

Result<CudnnDescriptor> make_config(const CudnnDescriptor& operations, const EngineChoice& choice,
                                    std::vector<CudnnDescriptor>& parts) {
  parts.reserve(choice.knobs.size() + 1);
  CudnnDescriptor& engine = parts.emplace_back(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, operations)
      .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, choice.engine);
  PROA_TRY(engine.finalize("engine"));
  std::vector<const CudnnDescriptor*> knobs;
  for (const auto& [type, value] : choice.knobs) {
    CudnnDescriptor& knob = parts.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    knob.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
             static_cast<cudnnBackendKnobType_t>(type))
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
    PROA_TRY(knob.finalize("knob"));
    knobs.push_back(&knob);
  }
  CudnnDescriptor config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  config.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  if (!knobs.empty()) config.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, knobs);
  PROA_TRY(config.finalize("engine configuration"));
  return config;
}

}  // namespace

std::string EngineChoice::to_string() const {
  std::string text = std::to_string(engine);
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? ':' : ',', knobs[i].first, knobs[i].second);
  }
  return text;
}

Result<EngineChoice> EngineChoice::parse(std::string_view text) {
  const std::string_view whole = text;
  const auto number = [&](std::int64_t& into) {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), into);
    text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
    return result.ec == std::errc{};
  };
  const auto take = [&](char a, char b) {
    if (text.empty() || (text[0] != a && text[0] != b)) return false;
    text.remove_prefix(1);
    return true;
  };
  EngineChoice choice;
  bool good = number(choice.engine);
  while (good && !text.empty()) {
    auto& [knob, value] = choice.knobs.emplace_back();
    good = take(':', ',') && number(knob) && take('=', '=') && number(value);
  }
  if (good) return choice;
  return error::invalid_argument("'{}' is no cuDNN variant", whole);
}

Result<std::vector<EngineChoice>> list_engines(const CudnnDescriptor& operations, bool strict) {
  std::vector<EngineChoice> list;
  std::set<std::string> seen;
  // Most of what A and B propose for FP32 rounds; the fallback engines do not.
  std::vector<cudnnBackendHeurMode_t> modes = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B};
  if (strict) modes.push_back(CUDNN_HEUR_MODE_FALLBACK);
  for (const cudnnBackendHeurMode_t mode : modes) {
    CudnnDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, operations)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    if (!heuristics.finalize("heuristics")) continue;
    std::int64_t count = 0;
    PROA_CUDNN(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                        CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr));
    PROA_ASSIGN(const std::vector<CudnnDescriptor> configs,
                heuristics.get_list(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                    CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, count));
    for (const CudnnDescriptor& config : configs) {
      PROA_ASSIGN(std::optional<EngineChoice> choice, read_choice(config, strict));
      if (choice && seen.insert(choice->to_string()).second) list.push_back(std::move(*choice));
    }
  }
  if (list.empty()) return error::unimplemented("cuDNN has no engine for this convolution");
  return list;
}

Result<CudnnDescriptor> build_plan(const CudnnDescriptor& operations, const EngineChoice& choice,
                                   cudnnHandle_t handle) {
  std::vector<CudnnDescriptor> parts;
  PROA_ASSIGN(const CudnnDescriptor config, make_config(operations, choice, parts));
  CudnnDescriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle)
      .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  PROA_TRY(plan.finalize("execution plan"));
  return plan;
}

}  // namespace proa::engine::cuda
