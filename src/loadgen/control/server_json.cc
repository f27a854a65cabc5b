#include "loadgen/control/server_json.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "simdjson.h"

namespace proa::loadgen {
namespace {

namespace dom = simdjson::dom;

Error nonsense(std::string_view what) {
  return error::internal("the server's answer is not KServe v2: {}", what);
}

Result<dom::element> parse(dom::parser& parser, std::string_view json, std::string_view what) {
  dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS || !root.is_object()) {
    return nonsense(what);
  }
  return root;
}

std::string text_member(const dom::element& object, std::string_view name) {
  std::string_view text;
  return object[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

// Numbers may be strings, as protobuf's own JSON writes 64-bit integers.
std::uint64_t number_member(const dom::element& object, std::string_view name) {
  std::uint64_t number = 0;
  std::string_view text;
  if (object[name].get(number) == simdjson::SUCCESS) return number;
  if (object[name].get(text) != simdjson::SUCCESS) return 0;
  return parse_number<std::uint64_t>(text).value_or(0);
}

StageTime stage_member(const dom::element& object, std::string_view name) {
  dom::element stage;
  if (object[name].get(stage) != simdjson::SUCCESS) return {};
  return {number_member(stage, "count"), number_member(stage, "ns")};
}

template <class OnItem>
void for_each(const dom::element& object, std::string_view name, OnItem on_item) {
  dom::array items;
  if (object[name].get(items) != simdjson::SUCCESS) return;
  for (const dom::element item : items) on_item(item);
}

Result<TensorSignature> read_tensor(const dom::element& item, bool batches) {
  TensorSignature tensor;
  tensor.name = text_member(item, "name");
  const std::string type = text_member(item, "datatype");
  const auto known = parse_data_type(type);
  if (!known) return nonsense("tensor '" + tensor.name + "' has the unknown datatype " + type);
  tensor.type = *known;
  bool first = batches;
  bool whole = true;
  for_each(item, "shape", [&](const dom::element& extent) {
    std::int64_t value = 0;
    std::string_view text;
    if (extent.get(value) != simdjson::SUCCESS) {
      const bool is_text = extent.get(text) == simdjson::SUCCESS;
      const auto number = is_text ? parse_number<std::int64_t>(text) : std::nullopt;
      whole = whole && number.has_value();
      value = number.value_or(0);
    }
    if (!first) tensor.shape.push_back(value);
    first = false;
  });
  if (!whole) return nonsense("an extent is no number");
  return tensor;
}

// Which inputs the configuration calls optional.
void mark_optional(const dom::element& config, std::vector<TensorSignature>& inputs) {
  for_each(config, "input", [&](const dom::element& item) {
    bool optional = false;
    if (item["optional"].get(optional) != simdjson::SUCCESS || !optional) return;
    const auto input = std::ranges::find(inputs, text_member(item, "name"), &TensorSignature::name);
    if (input != inputs.end()) input->optional = true;
  });
}

}  // namespace

Result<ServerDescription> read_server_metadata(std::string_view json) {
  dom::parser parser;
  PROA_ASSIGN(const dom::element root, parse(parser, json, "no server metadata"));
  return ServerDescription{text_member(root, "name"), text_member(root, "version")};
}

Result<ModelSignature> read_model_signature(std::string_view metadata, std::string_view config) {
  ModelSignature signature;
  dom::parser config_parser;
  const auto settings = parse(config_parser, config, "no configuration");
  if (settings) {
    signature.max_batch_size =
        static_cast<std::int64_t>(number_member(*settings, "max_batch_size"));
    dom::element ignored;
    signature.sequences = (*settings)["sequence_batching"].get(ignored) == simdjson::SUCCESS;
    bool decoupled = false;
    if ((*settings)["model_transaction_policy"]["decoupled"].get(decoupled) == simdjson::SUCCESS) {
      signature.decoupled = decoupled;
    }
  }
  dom::parser parser;
  PROA_ASSIGN(const dom::element root, parse(parser, metadata, "no model metadata"));
  signature.name = text_member(root, "name");
  Status good;
  const auto read_all = [&](std::string_view name, std::vector<TensorSignature>& tensors) {
    for_each(root, name, [&](const dom::element& item) {
      auto tensor = read_tensor(item, signature.batches());
      if (tensor) {
        tensors.push_back(std::move(*tensor));
      } else {
        good = tensor.error();
      }
    });
  };
  read_all("inputs", signature.inputs);
  read_all("outputs", signature.outputs);
  PROA_TRY(good);
  if (settings) mark_optional(*settings, signature.inputs);
  return signature;
}

std::vector<std::string> read_composing_models(std::string_view config) {
  std::vector<std::string> names;
  dom::parser parser;
  const auto root = parse(parser, config, "no configuration");
  dom::element ensemble;
  if (!root || (*root)["ensemble_scheduling"].get(ensemble) != simdjson::SUCCESS) return names;
  for_each(ensemble, "step", [&](const dom::element& step) {
    std::string name = text_member(step, "model_name");
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  });
  return names;
}

Result<std::vector<ServerModelStatistics>> read_statistics(std::string_view json) {
  dom::parser parser;
  PROA_ASSIGN(const dom::element root, parse(parser, json, "no statistics"));
  std::vector<ServerModelStatistics> models;
  for_each(root, "model_stats", [&](const dom::element& item) {
    ServerModelStatistics model;
    model.model = text_member(item, "name");
    model.version = text_member(item, "version");
    model.inference_count = number_member(item, "inference_count");
    model.execution_count = number_member(item, "execution_count");
    dom::element stats;
    if (item["inference_stats"].get(stats) == simdjson::SUCCESS) {
      model.success = stage_member(stats, "success");
      model.fail = stage_member(stats, "fail");
      model.queue = stage_member(stats, "queue");
      model.compute_input = stage_member(stats, "compute_input");
      model.compute_infer = stage_member(stats, "compute_infer");
      model.compute_output = stage_member(stats, "compute_output");
      model.cache_hit = stage_member(stats, "cache_hit");
      model.cache_miss = stage_member(stats, "cache_miss");
    }
    for_each(item, "batch_stats", [&](const dom::element& batch) {
      model.batch_sizes.push_back(
          {number_member(batch, "batch_size"), stage_member(batch, "compute_infer").count});
    });
    std::ranges::sort(model.batch_sizes, {}, &ServerModelStatistics::BatchSize::size);
    models.push_back(std::move(model));
  });
  return models;
}

std::vector<ServerMetric> read_metrics(std::string_view text) {
  std::vector<ServerMetric> metrics;
  for (const std::string_view line : split_lines(text)) {
    const auto space = line.rfind(' ');
    if (!line.starts_with("nv_") || space == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, space);
    if (name.substr(0, name.find('{')).ends_with("_bucket")) continue;
    const auto value = parse_number<double>(line.substr(space + 1));
    if (value) metrics.push_back({std::string(name), 0, *value});
  }
  return metrics;
}

}  // namespace proa::loadgen
