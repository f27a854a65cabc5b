#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "proto/grpc_service.pb.h"
#include "protocol/testing/describe_request.h"

namespace proa::protocol {

// Random messages that are valid requests.
class RandomRequests {
 public:
  explicit RandomRequests(unsigned seed) : random_(seed) {}

  inference::ModelInferRequest next() {
    inference::ModelInferRequest request;
    request.set_model_name(text());
    if (chance(2)) request.set_model_version("1");
    if (chance(2)) request.set_id(text());
    fill(*request.mutable_parameters());
    if (chance(3)) set_known_parameters(*request.mutable_parameters());
    const bool raw = chance(2);
    for (int i = below(4); i > 0; --i) {
      add_input(request, raw);
      if (raw) *request.add_raw_input_contents() = text(below(300));
    }
    for (int i = below(3); i > 0; --i) {
      auto& output = *request.add_outputs();
      output.set_name(text());
      fill(*output.mutable_parameters());
      if (chance(2)) (*output.mutable_parameters())["classification"].set_int64_param(below(9));
    }
    return request;
  }

 private:
  bool chance(int one_in) { return below(one_in) == 0; }
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  std::int64_t number() { return static_cast<std::int64_t>(random_()) >> below(64); }

  std::string text(int length = -1) {
    std::string result;
    for (int i = length < 0 ? below(12) : length; i > 0; --i) {
      result += static_cast<char>('a' + below(26));
    }
    return chance(8) ? result + "\xc3\xa9" : result;
  }

  void fill(ParameterMap& map) {
    for (int i = below(3); i > 0; --i) {
      inference::InferParameter& parameter = map[text()];
      switch (below(5)) {
        case 0:
          parameter.set_bool_param(chance(2));
          break;
        case 1:
          parameter.set_int64_param(number());
          break;
        case 2:
          parameter.set_string_param(text());
          break;
        case 3:
          parameter.set_double_param(static_cast<double>(number()) / 7);
          break;
        default:
          parameter.set_uint64_param(static_cast<std::uint64_t>(number()));
          break;
      }
    }
  }

  void set_known_parameters(ParameterMap& map) {
    if (chance(2)) {
      map["sequence_id"].set_int64_param(below(1000));
    } else {
      map["sequence_id"].set_string_param(text());
    }
    map["sequence_start"].set_bool_param(chance(2));
    map["priority"].set_uint64_param(below(5));
    map["timeout"].set_int64_param(below(5000000));
    map["triton_enable_empty_final_response"].set_bool_param(true);
  }

  void add_input(inference::ModelInferRequest& request, bool raw) {
    static constexpr const char* kTypes[] = {"BOOL",   "INT8",  "INT16",  "INT32",
                                             "INT64",  "UINT8", "UINT16", "UINT32",
                                             "UINT64", "FP32",  "FP64",   "BYTES"};
    auto& input = *request.add_inputs();
    input.set_name(text());
    input.set_datatype(raw && chance(4) ? "FP16" : kTypes[below(12)]);
    for (int i = below(5); i > 0; --i) input.add_shape(number());
    fill(*input.mutable_parameters());
    if (raw) return;
    for (int i = below(40); i > 0; --i) add_element(input.datatype(), *input.mutable_contents());
  }

  void add_element(const std::string& type, inference::InferTensorContents& contents) {
    if (type == "BOOL") contents.add_bool_contents(chance(2));
    if (type == "INT8") contents.add_int_contents(below(256) - 128);
    if (type == "INT16") contents.add_int_contents(below(65536) - 32768);
    if (type == "INT32") contents.add_int_contents(static_cast<std::int32_t>(number()));
    if (type == "INT64") contents.add_int64_contents(number());
    if (type == "UINT8") contents.add_uint_contents(below(256));
    if (type == "UINT16") contents.add_uint_contents(below(65536));
    if (type == "UINT32") contents.add_uint_contents(static_cast<std::uint32_t>(number()));
    if (type == "UINT64") contents.add_uint64_contents(static_cast<std::uint64_t>(number()));
    if (type == "FP32") contents.add_fp32_contents(static_cast<float>(number()) / 3);
    if (type == "FP64") contents.add_fp64_contents(static_cast<double>(number()) / 3);
    if (type == "BYTES") contents.add_bytes_contents(std::string(below(20), '\xff'));
  }

  std::mt19937_64 random_;
};

}  // namespace proa::protocol
