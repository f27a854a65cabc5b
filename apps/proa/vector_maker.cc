#include "vector_maker.h"

#include <cstring>
#include <functional>

#include "core/request_builder.h"
#include "fmt/format.h"
#include "tensor/bytes_tensor.h"

namespace proa {
namespace {

std::string list(const std::vector<config::Tensor>& tensors) {
  std::string text;
  for (const config::Tensor& tensor : tensors) {
    text += fmt::format("{}'{}' {} {}", text.empty() ? "" : ", ", tensor.name,
                        data_type_name(tensor.type), tensor.dims.to_string());
  }
  return text;
}

// The tensor of that name, or the only one of that type.
Result<std::size_t> choose(std::string_view kind, const std::vector<config::Tensor>& tensors,
                           const std::string& name, DataType type) {
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool wanted = name.empty() || tensors[i].name == name;
    if (wanted && tensors[i].type == type) fitting.push_back(i);
  }
  if (fitting.size() == 1) return fitting[0];
  return error::invalid_argument(
      "{} fits: wanted one {} of type {}{}; the model has {}. Name it by --{}",
      fitting.empty() ? "none" : "more than one", kind, data_type_name(type),
      name.empty() ? "" : fmt::format(" called '{}'", name), list(tensors), kind);
}

}  // namespace

class VectorMaker::Sink final : public core::ResponseSink {
 public:
  Sink(std::shared_ptr<Inbox> inbox, std::size_t tag) : inbox_(std::move(inbox)), tag_(tag) {}
  void send(core::Response response, bool final) override {
    if (!final) return;
    MutexLock lock(inbox_->mutex);
    inbox_->answers.emplace_back(tag_, std::move(response));
    inbox_->came.notify_one();
  }

 private:
  const std::shared_ptr<Inbox> inbox_;
  const std::size_t tag_;
};

Result<VectorMaker> VectorMaker::create(std::shared_ptr<core::Model> model,
                                        const std::string& input, const std::string& output) {
  VectorMaker maker;
  const auto in_context = [&](const Error& failure) {
    return with_context(fmt::format("model '{}'", model->name()), failure);
  };
  const auto in = choose("input", model->config().inputs, input, DataType::kBytes);
  if (!in) return in_context(in.error());
  const auto out = choose("output", model->config().outputs, output, DataType::kFp32);
  if (!out) return in_context(out.error());
  maker.input_ = *in;
  maker.output_ = *out;
  maker.model_ = std::move(model);
  return maker;
}

std::string VectorMaker::source() const {
  const config::ModelConfig& config = model_->config();
  return fmt::format("{} {} {} {}", config.name, model_->version_string(),
                     config.inputs[input_].name, config.outputs[output_].name);
}

Status VectorMaker::start(std::size_t tag, std::string_view picture) {
  const config::ModelConfig& config = model_->config();
  std::string element;
  append_bytes_element(element, picture);
  Buffer buffer = Buffer::allocate(element.size());
  std::memcpy(buffer.data(), element.data(), element.size());
  const core::NamedInput input{config.inputs[input_].name, DataType::kBytes,
                               config.batches() ? Shape{1, 1} : Shape{1},
                               BufferView(std::move(buffer))};
  const std::string_view wanted = config.outputs[output_].name;
  PROA_ASSIGN(auto request, core::build_request(model_, {&input, 1}, {&wanted, 1}, ""));
  request->sink = std::make_unique<Sink>(inbox_, tag);
  ++in_flight_;
  model_->infer(std::move(request));
  return {};
}

VectorMaker::Answer VectorMaker::wait() {
  std::pair<std::size_t, core::Response> next;
  {
    MutexLock lock(inbox_->mutex);
    while (inbox_->answers.empty()) inbox_->came.wait(inbox_->mutex);
    next = std::move(inbox_->answers.back());
    inbox_->answers.pop_back();
  }
  --in_flight_;
  return {next.first, vector_of(std::move(next.second))};
}

Result<std::vector<float>> VectorMaker::vector_of(core::Response response) const {
  if (response.error) return *std::move(response.error);
  const Tensor& tensor = response.outputs[output_];
  if (tensor.type != DataType::kFp32 || tensor.data.size == 0) {
    return error::internal("the model gave no '{}'", model_->config().outputs[output_].name);
  }
  std::vector<float> values(tensor.data.size / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size);
  return values;
}

}  // namespace proa
