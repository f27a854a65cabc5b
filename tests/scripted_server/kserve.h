#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace proa::scripted {

// The one model of this server, "scripted": IN FP32 [-1] -> OUT FP32 [1], batches up to 64.

inline constexpr std::string_view kInferPath = "/v2/models/scripted/infer";
inline constexpr std::string_view kGrpcInferPath = "/inference.GRPCInferenceService/ModelInfer";

// The JSON of a GET path; nothing when it is unknown.
std::optional<std::string> http_answer(std::string_view path);
std::string_view http_inference();

// The serialised message that answers a gRPC method; nothing when it is unknown.
std::optional<std::string> grpc_answer(std::string_view path);
const std::string& grpc_inference();

}  // namespace proa::scripted
