#include "infer.h"

#include <cstdio>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "fmt/format.h"
#include "image/picture_plan.h"
#include "infer_output.h"
#include "infer_values.h"
#include "model_place.h"
#include "npy.h"
#include "predictor.h"
#include "protocol/classification.h"
#include "save_names.h"
#include "storage/local_folder.h"

namespace proa {
namespace {

constexpr double kDefaultTimeoutS = 60;
constexpr std::size_t kMaxLabelBytes = 16 << 20;
constexpr std::size_t kMaxPictureBytes = 256 << 20;

// What stays the same from one request to the next.
struct Session {
  const InferOptions& options;
  Predictor& predictor;
  std::vector<NamedTensor> inputs;  // given by --input
  std::vector<WantedOutput> outputs;
  std::optional<std::size_t> picture_input;
  image::PicturePlan plan;
  std::vector<std::string> labels;
  bool labels_judged = false;
  SaveNames save_names;
};

Result<std::unique_ptr<Predictor>> open_predictor(const InferOptions& options,
                                                  const ModelPlace& place) {
  if (place.in_process) return load_in_process(options.model);
  ConnectOptions connect;
  connect.timeout = std::chrono::milliseconds(
      static_cast<std::int64_t>(options.timeout_s.value_or(kDefaultTimeoutS) * 1e3));
  connect.notice = [](std::string_view notice) { fmt::print(stderr, "proa infer: {}\n", notice); };
  auto predictor = connect_to_server(place.url, options.model, options.version, connect);
  std::error_code ignored;
  if (!predictor && options.url.empty() && std::filesystem::exists(options.model, ignored)) {
    Error error = std::move(predictor).error();
    error.message +=
        fmt::format("; to run the {0} that lies here without a server, write ./{0}", options.model);
    return error;
  }
  return predictor;
}

Result<std::vector<std::string>> read_labels(const std::filesystem::path& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  PROA_ASSIGN(const std::string text, storage::read_file(path, kMaxLabelBytes));
  for (const std::string_view line : split_lines(text)) labels.emplace_back(line);
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

image::PictureInput picture_input(const TensorDescription& input) {
  return {input.name, input.type, input.shape};
}

Result<std::size_t> choose_picture_input(const Session& session) {
  const ModelSignature& signature = session.predictor.signature();
  const std::string& name = session.options.picture_input;
  if (name.empty()) {
    std::vector<image::PictureInput> inputs;
    for (const TensorDescription& input : signature.inputs) inputs.push_back(picture_input(input));
    return image::find_picture_input(inputs);
  }
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
  PROA_ASSIGN(session.plan,
              image::plan_picture(picture_input(signature.inputs[*session.picture_input]),
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

// Labels of another model are noticed by their number.
void judge_labels(Session& session, std::string_view output, std::int64_t classes) {
  const auto given = static_cast<std::int64_t>(session.labels.size());
  if (session.labels_judged || given == 0 || given >= classes) return;
  session.labels_judged = true;
  fmt::print(stderr,
             "proa infer: warning: {} has {} lines, but output '{}' has {} classes; the last ones "
             "have no name, and the file may be another model's\n",
             session.options.labels.string(), given, log::printable(output), classes);
}

// The tensor's classes when it has some, else its numbers.
Result<std::string> describe_output(Session& session, const WantedOutput& wanted,
                                    const Tensor& tensor) {
  if (wanted.classes > 0) return format_classes(tensor);
  const ModelSignature& signature = session.predictor.signature();
  const TensorDescription actual{wanted.name, tensor.type, tensor.shape};
  if (session.options.top <= 0 || !is_classification(actual, signature.batches)) {
    return format_tensor(tensor);
  }
  judge_labels(session, wanted.name, tensor.shape.dims().back());
  Tensor scores = tensor;
  if (session.options.softmax) {
    PROA_ASSIGN(scores, softmax(tensor));
  }
  PROA_ASSIGN(const Tensor classes,
              protocol::classify(scores, static_cast<std::uint32_t>(session.options.top),
                                 session.labels, signature.batches));
  return format_classes(classes);
}

// Classes came instead of the tensor: its type and shape are those of the signature.
std::string head_classes(const ModelSignature& signature, const NamedTensor& classes) {
  const TensorDescription* output = find(signature.outputs, classes.name);
  Shape shape = output->shape;
  if (signature.batches && !shape.empty() && !classes.tensor.shape.empty()) {
    shape[0] = classes.tensor.shape[0];
  }
  return output_heading(classes.name, output->type, shape);
}

Status show_outputs(Session& session, std::size_t picture,
                    const std::vector<NamedTensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [name, tensor] = outputs[i];
    PROA_ASSIGN(const std::string text, describe_output(session, session.outputs[i], tensor));
    if (session.outputs[i].classes > 0) {
      fmt::print("{}\n{}", head_classes(session.predictor.signature(), outputs[i]), text);
    } else {
      fmt::print("{}\n{}", output_heading(name, tensor.type, tensor.shape), text);
    }
    if (session.options.save.empty()) continue;
    const auto path = session.save_names.take(picture, name);
    PROA_TRY(write_npy(path, tensor));
    fmt::print("  saved to {}\n", path.string());
  }
  return {};
}

Result<Tensor> load_picture(const std::filesystem::path& path, const image::PicturePlan& plan) {
  PROA_ASSIGN(const std::string file, storage::read_file(path, kMaxPictureBytes));
  auto tensor = image::prepare_picture(std::as_bytes(std::span(file)), plan);
  if (!tensor) return with_context(path.string(), std::move(tensor).error());
  return tensor;
}

// `index` is that of the picture; 0 without pictures.
Status predict(Session& session, std::size_t index) {
  const auto& pictures = session.options.pictures;
  const std::filesystem::path picture =
      pictures.empty() ? std::filesystem::path() : pictures[index];
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
  return show_outputs(session, index, outputs);
}

// All that needs no request. Errors: kInvalidArgument when the command line is to blame.
Status prepare(Session& session) {
  const InferOptions& options = session.options;
  PROA_ASSIGN(session.labels, read_labels(options.labels));
  PROA_TRY(prepare_inputs(session));
  PROA_TRY(prepare_pictures(session));
  PROA_TRY(prepare_outputs(session));
  if (options.save.empty()) return {};
  std::error_code failure;
  std::filesystem::create_directories(options.save, failure);
  if (failure) return error::internal("{}: {}", options.save.string(), failure.message());
  return {};
}

Status predict_all(Session& session) {
  const std::size_t requests = std::max<std::size_t>(session.options.pictures.size(), 1);
  for (std::size_t i = 0; i < requests; ++i) PROA_TRY(predict(session, i));
  return {};
}

int fail(const Error& error, int exit_status) {
  std::fflush(stdout);
  fmt::print(stderr, "proa infer: {}\n", error.message);
  return exit_status;
}

}  // namespace

int run_infer(const InferOptions& options) {
  constexpr int kFailed = 1, kUsageError = 2;
  PROA_CHECK(log::configure({.info = false}), "logging to stderr cannot fail");
  const auto place = find_model_place(options);
  if (!place) return fail(place.error(), kUsageError);
  const auto predictor = open_predictor(options, *place);
  if (!predictor) return fail(predictor.error(), kFailed);
  const ModelSignature& signature = (*predictor)->signature();
  fmt::print("model {} {}\n", log::printable(signature.model), place->to_string());
  Session session{.options = options,
                  .predictor = **predictor,
                  .save_names = SaveNames(options.save, options.pictures)};
  if (const Status status = prepare(session); !status) {
    const bool usage = status.error().code == ErrorCode::kInvalidArgument;
    return fail(status.error(), usage ? kUsageError : kFailed);
  }
  const Status status = predict_all(session);
  return status ? 0 : fail(status.error(), kFailed);
}

}  // namespace proa
