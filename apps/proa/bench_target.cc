#include "bench_target.h"

#include "bench_engine.h"
#include "bench_plan.h"
#include "fmt/format.h"
#include "loadgen/clients/grpc_client.h"
#include "loadgen/clients/http_client.h"
#include "loadgen/data/make_payloads.h"

namespace proa {
namespace {

using loadgen::TensorFormat;

TensorFormat format_of(const std::string& name) {
  return name == "json" ? TensorFormat::kJson : TensorFormat::kBinary;
}

Result<loadgen::DataOptions> data_options(const BenchOptions& options) {
  loadgen::DataOptions data;
  data.input_data = options.input_data;
  if (options.zero_input) data.input_data = {"zero"};
  data.batch_size = options.batch_size;
  for (const std::string& shape : options.shapes) {
    PROA_ASSIGN(auto given, parse_given_shape(shape));
    data.shapes.push_back(std::move(given));
  }
  data.string_data = options.string_data;
  data.string_length = options.string_length;
  data.distinct = options.distinct;
  data.seed = options.seed;
  data.picture = options.picture;
  data.picture_input = options.picture_input;
  for (const std::string& text : options.request_parameters) {
    PROA_ASSIGN(auto parameter, parse_request_parameter(text));
    data.parameters.push_back(std::move(parameter));
  }
  return data;
}

// A model that gives several answers needs a stream to give them on.
Status check_decoupled(const BenchOptions& options, const loadgen::ModelSignature& model) {
  if (!model.decoupled || options.streaming) return {};
  return error::invalid_argument("model '{}' is decoupled; add -i grpc --streaming", model.name);
}

// Why a model cannot be described, and what may be wrong.
Error explain(Error error, const std::string& model, const std::string& authority) {
  if (error.message.contains("no such path")) error.message += "; is that the port for gRPC?";
  return with_context(fmt::format("model '{}' at {}", model, authority), std::move(error));
}

Status describe_models(const BenchOptions& options, BenchTarget& target) {
  for (const std::string& text : options.models) {
    PROA_ASSIGN(const WeightedModel model, parse_weighted_model(text));
    auto description = loadgen::describe_model(*target.control, model.name, options.version);
    if (!description) return explain(description.error(), model.name, target.address.authority);
    PROA_TRY(check_decoupled(options, description->signature));
    target.models.push_back(std::move(*description));
    target.weights.push_back(model.weight);
  }
  return {};
}

Status make_requests(const BenchOptions& options, BenchTarget& target) {
  PROA_ASSIGN(const loadgen::DataOptions data, data_options(options));
  const auto has_input = [](const loadgen::ModelDescription& model, const std::string& name) {
    return std::ranges::any_of(model.signature.inputs, [&](const loadgen::TensorSignature& input) {
      return input.name == name;
    });
  };
  for (const loadgen::ModelDescription& model : target.models) {
    loadgen::DataOptions own = data;
    // A shape is of the models that have the input.
    std::erase_if(own.shapes, [&](const GivenShape& shape) {
      return !has_input(model, shape.name) &&
             std::ranges::any_of(target.models, [&](const loadgen::ModelDescription& other) {
               return has_input(other, shape.name);
             });
    });
    PROA_ASSIGN(auto set, loadgen::make_payloads(model.signature, own));
    target.payloads.push_back(std::move(set));
  }
  return {};
}

Status encode_requests(const BenchOptions& options, BenchTarget& target) {
  if (options.protocol == "grpc") {
    loadgen::GrpcTargetOptions grpc;
    grpc.stream = options.streaming;
    grpc.metadata = options.headers;
    grpc.max_connections = static_cast<std::size_t>(options.max_connections);
    PROA_ASSIGN(target.target, loadgen::make_grpc_target(target.address, target.sets(), grpc));
  } else {
    loadgen::HttpTargetOptions http;
    http.headers = options.headers;
    http.input = format_of(options.input_format);
    http.output = format_of(options.output_format);
    http.max_connections = static_cast<std::size_t>(options.max_connections);
    PROA_ASSIGN(target.target, loadgen::make_http_target(target.address, target.sets(), http));
  }
  return {};
}

std::string host_of(const std::string& authority) {
  return authority.substr(0, authority.rfind(':'));
}

Status find_statistics(const BenchOptions& options, BenchTarget& target,
                       loadgen::RunResult& result) {
  const loadgen::Address* metrics = nullptr;
  if (options.collect_metrics) {
    const std::string url = options.metrics_url.empty()
                                ? host_of(target.address.authority) + ":8002/metrics"
                                : options.metrics_url;
    PROA_ASSIGN(target.metrics_address, loadgen::resolve(url, "8002"));
    const auto page = loadgen::fetch_metrics(target.metrics_address);
    if (!page) return with_context(fmt::format("--collect-metrics: {}", url), page.error());
    metrics = &target.metrics_address;
  }
  target.statistics = loadgen::make_statistics_source(*target.control, target.models, metrics);
  const auto first = target.statistics->read();
  if (first) return {};
  result.warnings.push_back(fmt::format(
      "the server has no statistics to lay beside these times ({})", first.error().message));
  target.statistics.reset();
  return {};
}

void describe_server(BenchTarget& target, loadgen::RunResult& result) {
  const auto metadata = target.control->ask(loadgen::Question::kServerMetadata, "", "");
  if (!metadata) return;
  const auto server = loadgen::read_server_metadata(*metadata);
  if (!server) return;
  result.server_name = server->name;
  result.server_version = server->version;
}

void describe_load(const BenchTarget& target, loadgen::RunResult& result) {
  for (std::size_t i = 0; i < target.payloads.size(); ++i) {
    const loadgen::PayloadSet& set = target.payloads[i];
    loadgen::ModelUnderLoad model;
    model.signature = set.model;
    model.weight = target.weights[i];
    model.batch_size = set.batch_size;
    model.payloads = set.payloads.size();
    model.distinct = set.distinct;
    for (const loadgen::Payload& payload : set.payloads) {
      model.payload_bytes += payload.input_bytes();
    }
    model.payload_bytes /= set.payloads.size();
    model.description = set.description;
    result.models.push_back(std::move(model));
  }
}

}  // namespace

std::vector<const loadgen::PayloadSet*> BenchTarget::sets() const {
  std::vector<const loadgen::PayloadSet*> sets;
  for (const loadgen::PayloadSet& set : payloads) sets.push_back(&set);
  return sets;
}

namespace {

Status open_server(const BenchOptions& options, BenchTarget& target, loadgen::RunResult& result) {
  const bool grpc = options.protocol == "grpc";
  const std::string port = grpc ? "8001" : "8000";
  const std::string url = options.url.empty() ? "localhost:" + port : options.url;
  PROA_ASSIGN(target.address, loadgen::resolve(url, port));
  result.settings.url = url;
  PROA_ASSIGN(target.control, grpc ? loadgen::make_grpc_control(target.address, options.headers)
                                   : loadgen::make_http_control(target.address, options.headers));
  PROA_TRY(describe_models(options, target));
  describe_server(target, result);
  PROA_TRY(make_requests(options, target));
  PROA_TRY(encode_requests(options, target));
  return find_statistics(options, target, result);
}

Status open_engine(const BenchOptions& options, BenchTarget& target) {
  target.runtime = std::make_unique<LocalRuntime>();
  PROA_TRY(target.runtime->load(options.engine, true));
  target.models.push_back({describe_local_model(*target.runtime->model()), {}});
  target.weights.push_back(1);
  PROA_TRY(make_requests(options, target));
  target.target = make_engine_target(*target.runtime, target.payloads[0]);
  target.statistics = make_engine_statistics(*target.runtime);
  return {};
}

}  // namespace

Result<std::unique_ptr<BenchTarget>> open_bench_target(const BenchOptions& options,
                                                       loadgen::RunResult& result) {
  auto target = std::make_unique<BenchTarget>();
  PROA_TRY(options.engine.empty() ? open_server(options, *target, result)
                                  : open_engine(options, *target));
  describe_load(*target, result);
  return target;
}

}  // namespace proa
