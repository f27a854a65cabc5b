#include <algorithm>
#include <cctype>
#include <thread>

#include "base/clock.h"
#include "fmt/format.h"
#include "http_client.h"
#include "predictor.h"
#include "proto/json_text.h"
#include "protocol/model_path.h"
#include "simdjson.h"
#include "tensor/bytes_tensor.h"

namespace proa {
namespace {

namespace dom = simdjson::dom;

std::string_view text_member(const dom::element& object, std::string_view name) {
  std::string_view text;
  return object[name].get(text) == simdjson::SUCCESS ? text : std::string_view{};
}

Error nonsense(std::string_view what) {
  return error::internal("the server's answer is not KServe v2: {}", what);
}

// {"error": "..."} of a reply that is not 200.
Error error_of(const HttpReply& reply) {
  dom::parser parser;
  dom::element root;
  std::string_view message;
  if (parser.parse(reply.text().data(), reply.text().size()).get(root) == simdjson::SUCCESS) {
    message = text_member(root, "error");
  }
  const ErrorCode code = reply.status == 404   ? ErrorCode::kNotFound
                         : reply.status == 503 ? ErrorCode::kUnavailable
                         : reply.status < 500  ? ErrorCode::kInvalidArgument
                                               : ErrorCode::kInternal;
  if (message.empty()) return {code, fmt::format("the server answers with HTTP {}", reply.status)};
  return {code, std::string(message)};
}

Result<Shape> read_shape(const dom::element& tensor) {
  dom::array extents;
  if (tensor["shape"].get(extents) != simdjson::SUCCESS) return nonsense("a tensor has no shape");
  Shape shape;
  for (const dom::element extent : extents) {
    std::int64_t value = 0;
    if (extent.get(value) != simdjson::SUCCESS) return nonsense("an extent is no number");
    shape.push_back(value);
  }
  return shape;
}

// "inputs" or "outputs" of the model's metadata.
Status read_descriptions(const dom::element& metadata, std::string_view key,
                         std::vector<TensorDescription>& descriptions) {
  dom::array tensors;
  if (metadata[key].get(tensors) != simdjson::SUCCESS) return nonsense(key);
  for (const dom::element tensor : tensors) {
    TensorDescription description;
    description.name = text_member(tensor, "name");
    description.type =
        parse_data_type(text_member(tensor, "datatype")).value_or(DataType::kInvalid);
    PROA_ASSIGN(description.shape, read_shape(tensor));
    descriptions.push_back(std::move(description));
  }
  return {};
}

void append_members(std::string& json, const NamedTensor& input) {
  json += R"({"name":)";
  proto::append_json_string(json, input.name);
  std::string shape = input.tensor.shape.to_string();
  json += fmt::format(R"(,"datatype":"{}","shape":{},"parameters":{{"binary_data_size":{}}}}})",
                      data_type_name(input.tensor.type), shape, input.tensor.data.size);
}

// The JSON object of a request whose tensors follow as bytes.
std::string request_json(const std::vector<NamedTensor>& inputs,
                         const std::vector<WantedOutput>& outputs) {
  std::string json = R"({"inputs":[)";
  for (const NamedTensor& input : inputs) {
    if (json.back() == '}') json += ',';
    append_members(json, input);
  }
  json += R"(],"outputs":[)";
  for (const WantedOutput& output : outputs) {
    if (json.back() == '}') json += ',';
    json += R"({"name":)";
    proto::append_json_string(json, output.name);
    json += R"(,"parameters":{"binary_data":true)";
    if (output.classes > 0) json += fmt::format(R"(,"classification":{})", output.classes);
    json += "}}";
  }
  json += "]}";
  return json;
}

// The bytes must be as many as the shape says: who prints them relies on it.
Status check_size(const NamedTensor& output) {
  const Tensor& tensor = output.tensor;
  if (tensor.type == DataType::kBytes) {
    return check_bytes_elements(tensor.data.bytes(), tensor.shape.element_count().value_or(-1));
  }
  PROA_ASSIGN(const std::size_t bytes, dense_byte_size(tensor.type, tensor.shape));
  if (bytes == tensor.data.size) return {};
  return nonsense(fmt::format("output '{}' of shape {} has {} bytes", output.name,
                              tensor.shape.to_string(), tensor.data.size));
}

// Cuts the outputs out of a reply. Their bytes stand behind the JSON, in order.
Result<std::vector<NamedTensor>> read_outputs(const HttpReply& reply) {
  const std::size_t json_size = reply.json_size > 0 ? reply.json_size : reply.body.size();
  if (json_size > reply.body.size()) return nonsense("its JSON is longer than the reply");
  dom::parser parser;
  dom::element root;
  dom::array tensors;
  if (parser.parse(reply.text().data(), json_size).get(root) != simdjson::SUCCESS ||
      root["outputs"].get(tensors) != simdjson::SUCCESS) {
    return nonsense("no outputs");
  }
  std::vector<NamedTensor> outputs;
  std::size_t offset = json_size;
  for (const dom::element item : tensors) {
    NamedTensor output;
    output.name = text_member(item, "name");
    output.tensor.type =
        parse_data_type(text_member(item, "datatype")).value_or(DataType::kInvalid);
    PROA_ASSIGN(output.tensor.shape, read_shape(item));
    std::uint64_t bytes = 0;
    if (item["parameters"]["binary_data_size"].get(bytes) != simdjson::SUCCESS ||
        bytes > reply.body.size() - offset) {
      return nonsense(fmt::format("output '{}' has no binary data", output.name));
    }
    output.tensor.data = BufferView(reply.body, offset, bytes);
    offset += bytes;
    PROA_TRY(check_size(output));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// A server that still loads the model says so with 503.
bool is_loading(const HttpReply& reply) {
  if (reply.status != 503) return false;
  std::string text(reply.text());
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text.contains("loading") || text.contains("being loaded");
}

class HttpPredictor final : public Predictor {
 public:
  HttpPredictor(const ServerAddress& server, std::string model, const std::string& version,
                const ConnectOptions& options)
      : server_(server),
        client_(server, options.timeout),
        model_(std::move(model)),
        path_(protocol::model_path(model_, version)) {}

  // Reads the signature. Errors: the server's.
  Status open(const ConnectOptions& options) {
    PROA_ASSIGN(const HttpReply metadata, get_metadata(options));
    dom::parser parser;
    dom::element root;
    if (parser.parse(metadata.text().data(), metadata.text().size()).get(root) !=
        simdjson::SUCCESS) {
      return nonsense("metadata that is no JSON");
    }
    signature_.model = text_member(root, "name");
    PROA_TRY(read_descriptions(root, "inputs", signature_.inputs));
    PROA_TRY(read_descriptions(root, "outputs", signature_.outputs));
    return read_batching();
  }

  const ModelSignature& signature() const override { return signature_; }

  Result<std::vector<NamedTensor>> predict(const std::vector<NamedTensor>& inputs,
                                           const std::vector<WantedOutput>& outputs) override {
    std::string body = request_json(inputs, outputs);
    const std::size_t json_size = body.size();
    for (const NamedTensor& input : inputs) {
      body.append(reinterpret_cast<const char*>(input.tensor.data.data()), input.tensor.data.size);
    }
    PROA_ASSIGN(const HttpReply reply, client_.post(path_ + "/infer", std::move(body), json_size));
    if (reply.status != 200) return error_of(reply);
    return read_outputs(reply);
  }

 private:
  // How long to ask again after such an answer, and what is waited for.
  struct Patience {
    std::chrono::milliseconds limit{0};
    std::string why;
  };
  Patience patience_with(const Result<HttpReply>& reply, const ConnectOptions& options) const {
    if (reply && is_loading(*reply)) {
      return {options.timeout,
              fmt::format("model {} is being loaded at {}; waiting", model_, server_.url())};
    }
    if (!reply && client_.refused() && server_.is_loopback()) {
      return {std::min(options.refused_wait, options.timeout),
              fmt::format("nobody answers at {} yet; waiting", server_.url())};
    }
    return {};
  }

  // Waits for a server that starts and for a model that is being loaded.
  Result<HttpReply> get_metadata(const ConnectOptions& options) {
    const TimePoint start = steady_clock().now();
    for (bool told = false;; told = true) {
      Result<HttpReply> reply = client_.get(path_);
      if (reply && reply->status == 200) return reply;
      const Patience patience = patience_with(reply, options);
      if (steady_clock().now() - start + options.poll > patience.limit) return explain(reply);
      if (!told && options.notice) options.notice(patience.why);
      std::this_thread::sleep_for(options.poll);
    }
  }

  // Why there is no metadata, and what to do about it.
  Error explain(const Result<HttpReply>& reply) const {
    Error reason = reply ? error_of(*reply) : reply.error();
    if (client_.refused()) {
      reason.message += "; is it running? start it with: proa serve --model-repository DIR";
    } else if (reply && is_loading(*reply)) {
      reason.message += "; --timeout says how long to wait for it";
    } else if (reply && reply->status == 404 && reason.message.contains("no such path")) {
      reason.message += fmt::format(
          "; is {} the HTTP port? `proa serve` has HTTP at 8000 and gRPC at 8001 unless told "
          "otherwise",
          server_.url());
    }
    return reason;
  }

  // Servers without the configuration extension leave it at "does not batch".
  Status read_batching() {
    PROA_ASSIGN(const HttpReply reply, client_.get(path_ + "/config"));
    dom::parser parser;
    dom::element root;
    std::int64_t max_batch_size = 0;
    if (reply.status == 200 &&
        parser.parse(reply.text().data(), reply.text().size()).get(root) == simdjson::SUCCESS &&
        root["max_batch_size"].get(max_batch_size) == simdjson::SUCCESS) {
      signature_.batches = max_batch_size > 0;
    }
    return {};
  }

  const ServerAddress server_;
  HttpClient client_;
  const std::string model_;
  const std::string path_;
  ModelSignature signature_;
};

}  // namespace

Result<std::unique_ptr<Predictor>> connect_to_server(const std::string& url,
                                                     const std::string& model,
                                                     const std::string& version,
                                                     const ConnectOptions& options) {
  PROA_ASSIGN(const ServerAddress server, parse_server_url(url));
  auto predictor = std::make_unique<HttpPredictor>(server, model, version, options);
  PROA_TRY(predictor->open(options));
  return std::unique_ptr<Predictor>(std::move(predictor));
}

}  // namespace proa
