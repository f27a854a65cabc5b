#include "infer.h"

#include <cstdio>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "fmt/format.h"
#include "infer_output.h"
#include "infer_values.h"
#include "npy.h"
#include "predictor.h"
#include "protocol/classification.h"
#include "storage/local_folder.h"

namespace proa {
namespace {

constexpr const char* kDefaultUrl = "http://127.0.0.1:8000";
constexpr std::size_t kMaxLabelBytes = 16 << 20;

// What stays the same from one request to the next.
struct Session {
  const InferOptions& options;
  Predictor& predictor;
  std::vector<NamedTensor> inputs;  // given by --input
  std::vector<WantedOutput> outputs;
  std::optional<std::size_t> picture_input;
  PicturePlan plan;
  std::vector<std::string> labels;
};

bool runs_in_process(const InferOptions& options) {
  std::error_code ignored;
  return options.in_process ||
         (options.url.empty() && std::filesystem::exists(options.model, ignored));
}

Result<std::unique_ptr<Predictor>> open_predictor(const InferOptions& options) {
  if (options.in_process && !options.url.empty()) {
    return error::invalid_argument("--in-process and --url exclude each other");
  }
  if (runs_in_process(options)) return load_in_process(options.model);
  const auto timeout =
      std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1e3));
  return connect_to_server(options.url.empty() ? kDefaultUrl : options.url, options.model,
                           options.version, timeout);
}

Result<std::vector<std::string>> read_labels(const std::filesystem::path& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  PROA_ASSIGN(const std::string text, storage::read_file(path, kMaxLabelBytes));
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return labels;
}

template <class Tensors>
std::string list_tensors(const Tensors& tensors) {
  std::string text;
  for (const TensorDescription& tensor : tensors) {
    text += fmt::format("\n  {} {} {}", log::printable(tensor.name), data_type_name(tensor.type),
                        tensor.shape.to_string());
  }
  return text;
}

const TensorDescription* find(const std::vector<TensorDescription>& tensors,
                              std::string_view name) {
  for (const TensorDescription& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

Status prepare_inputs(Session& session) {
  const ModelSignature& signature = session.predictor.signature();
  for (const std::string& argument : session.options.inputs) {
    PROA_ASSIGN(const InputArgument given, parse_input_argument(argument));
    const TensorDescription* input = find(signature.inputs, given.name);
    if (input == nullptr) {
      return error::invalid_argument("model {} has no input '{}'; its inputs are:{}",
                                     signature.model, given.name, list_tensors(signature.inputs));
    }
    PROA_ASSIGN(Tensor tensor, make_input(*input, signature.batches, given.value));
    session.inputs.push_back({given.name, std::move(tensor)});
  }
  return {};
}

Result<std::size_t> choose_picture_input(const Session& session) {
  const ModelSignature& signature = session.predictor.signature();
  const std::string& name = session.options.picture_input;
  if (name.empty()) return find_picture_input(signature);
  for (std::size_t i = 0; i < signature.inputs.size(); ++i) {
    if (signature.inputs[i].name == name) return i;
  }
  return error::invalid_argument("--picture-input {}: the model's inputs are:{}", name,
                                 list_tensors(signature.inputs));
}

Status prepare_pictures(Session& session) {
  const ModelSignature& signature = session.predictor.signature();
  if (session.options.pictures.empty()) {
    if (session.inputs.size() >= signature.inputs.size()) return {};
    return error::invalid_argument(
        "model {} has {} input(s) and {} of them are given; name a picture, or give --input for "
        "each of:{}",
        signature.model, signature.inputs.size(), session.inputs.size(),
        list_tensors(signature.inputs));
  }
  PROA_ASSIGN(session.picture_input, choose_picture_input(session));
  PROA_ASSIGN(session.plan, plan_picture(signature.inputs[*session.picture_input],
                                         signature.batches, session.options.picture));
  fmt::print("picture: {}\n", session.plan.to_string());
  return {};
}

// The server (or the model's own label file) finds the classes, unless the scores are needed here.
Status prepare_outputs(Session& session) {
  const InferOptions& options = session.options;
  const ModelSignature& signature = session.predictor.signature();
  const bool scores_needed = !session.labels.empty() || options.softmax || !options.save.empty();
  const auto add = [&](const TensorDescription& output) {
    const bool classes =
        options.top > 0 && !scores_needed && is_classification(output, signature.batches);
    session.outputs.push_back({output.name, classes ? static_cast<std::uint32_t>(options.top) : 0});
  };
  for (const std::string& name : options.outputs) {
    const TensorDescription* output = find(signature.outputs, name);
    if (output == nullptr) {
      return error::invalid_argument("model {} has no output '{}'; its outputs are:{}",
                                     signature.model, name, list_tensors(signature.outputs));
    }
    add(*output);
  }
  if (options.outputs.empty()) {
    for (const TensorDescription& output : signature.outputs) add(output);
  }
  return {};
}

// The tensor's classes when it has some, else its numbers.
Result<std::string> describe_output(const Session& session, const WantedOutput& wanted,
                                    const Tensor& tensor) {
  if (wanted.classes > 0) return format_classes(tensor);
  const ModelSignature& signature = session.predictor.signature();
  const TensorDescription actual{wanted.name, tensor.type, tensor.shape};
  if (session.options.top <= 0 || !is_classification(actual, signature.batches)) {
    return format_tensor(tensor);
  }
  Tensor scores = tensor;
  if (session.options.softmax) {
    PROA_ASSIGN(scores, softmax(tensor));
  }
  PROA_ASSIGN(const Tensor classes,
              protocol::classify(scores, static_cast<std::uint32_t>(session.options.top),
                                 session.labels, signature.batches));
  return format_classes(classes);
}

// "out/NAME.npy", with the picture's name in front when there are several.
std::filesystem::path save_path(const Session& session, const std::filesystem::path& picture,
                                const std::string& output) {
  std::string name = output;
  for (char& c : name) {
    if (c == '/' || c == ':') c = '_';
  }
  if (session.options.pictures.size() > 1) name = picture.stem().string() + "." + name;
  return session.options.save / (name + ".npy");
}

Status show_outputs(const Session& session, const std::filesystem::path& picture,
                    const std::vector<NamedTensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, tensor] = outputs[i];
    PROA_ASSIGN(const std::string text, describe_output(session, session.outputs[i], tensor));
    if (session.outputs[i].classes > 0) {
      fmt::print("{}\n{}", log::printable(name), text);
    } else {
      fmt::print("{} {} {}\n{}", log::printable(name), data_type_name(tensor.type),
                 tensor.shape.to_string(), text);
    }
    if (session.options.save.empty()) continue;
    const auto path = save_path(session, picture, name);
    PROA_TRY(write_npy(path, tensor));
    fmt::print("  saved to {}\n", path.string());
  }
  return {};
}

Status predict(const Session& session, const std::filesystem::path& picture) {
  std::vector<NamedTensor> inputs = session.inputs;
  if (session.picture_input) {
    PROA_ASSIGN(Tensor tensor, load_picture(picture, session.plan));
    inputs.push_back(
        {session.predictor.signature().inputs[*session.picture_input].name, std::move(tensor)});
  }
  const TimePoint start = steady_clock().now();
  PROA_ASSIGN(const std::vector<NamedTensor> outputs,
              session.predictor.predict(inputs, session.outputs));
  const std::chrono::duration<double, std::milli> took = steady_clock().now() - start;
  fmt::print("{}{}answered in {:.1f} ms\n", picture.string(), picture.empty() ? "" : ": ",
             took.count());
  if (outputs.size() != session.outputs.size()) {
    return error::internal("{} outputs came, {} were asked for", outputs.size(),
                           session.outputs.size());
  }
  return show_outputs(session, picture, outputs);
}

Status infer(const InferOptions& options) {
  PROA_ASSIGN(const auto predictor, open_predictor(options));
  Session session{options, *predictor, {}, {}, {}, {}, {}};
  PROA_ASSIGN(session.labels, read_labels(options.labels));
  PROA_TRY(prepare_inputs(session));
  PROA_TRY(prepare_pictures(session));
  PROA_TRY(prepare_outputs(session));
  if (!options.save.empty()) {
    std::error_code failure;
    std::filesystem::create_directories(options.save, failure);
    if (failure) return error::internal("{}: {}", options.save.string(), failure.message());
  }
  if (options.pictures.empty()) return predict(session, {});
  for (const auto& picture : options.pictures) PROA_TRY(predict(session, picture));
  return {};
}

}  // namespace

int run_infer(const InferOptions& options) {
  log::configure({.info = false});
  const Status status = infer(options);
  std::fflush(stdout);
  if (status) return 0;
  fmt::print(stderr, "proa infer: {}\n", status.error().message);
  return 1;
}

}  // namespace proa
