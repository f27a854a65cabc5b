#pragma once

#include <string>
#include <vector>

#include "base/check.h"
#include "config/complete.h"
#include "config/parse.h"
#include "config/proto_writer.h"
#include "proto/json.h"
#include "proto/model_config.pb.h"

namespace proa::fuzz {

// Completes as a server does for a folder "model" with a model.onnx of one input and one output.
inline Status complete(config::ParsedConfig& parsed) {
  const config::CompletionOptions options;
  const std::vector<std::string> files = {"model.onnx"};
  PROA_TRY(config::complete_from_folder("model", files, options, parsed));
  config::Tensor tensor;
  tensor.name = "x";
  tensor.type = DataType::kFp32;
  tensor.dims = {4};
  if (parsed.config.inputs.empty()) parsed.config.inputs.push_back(tensor);
  if (parsed.config.outputs.empty()) parsed.config.outputs.push_back(tensor);
  return config::complete_rest(options, parsed);
}

// What is accepted shows the same after it was pasted, as JSON and as text.
inline void check_round_trip(Result<config::ParsedConfig> parsed) {
  if (!parsed || !complete(*parsed)) return;
  const std::string json = proto::to_json(config::to_proto(parsed->config));
  const std::string text = config::to_text(parsed->config);
  Result<config::ParsedConfig> from_json = config::parse_config_json(json, "json");
  PROA_CHECK(from_json && complete(*from_json), "the shown JSON can be pasted");
  PROA_CHECK(proto::to_json(config::to_proto(from_json->config)) == json, "and shows the same");
  Result<config::ParsedConfig> from_text = config::parse_config(text, "text");
  PROA_CHECK(from_text && complete(*from_text), "the text can be pasted");
  PROA_CHECK(proto::to_json(config::to_proto(from_text->config)) == json, "and shows the same");
}

}  // namespace proa::fuzz
