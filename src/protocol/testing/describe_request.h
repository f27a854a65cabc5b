#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/grpc_service.pb.h"
#include "protocol/infer.h"

namespace proa::protocol {

using ParameterMap = google::protobuf::Map<std::string, inference::InferParameter>;

// Descriptions of a request, one from what our reader made, one from protobuf's message; equal when
// both mean the same. Parameters are sorted by name.
std::string describe(const InferRequest& request);
std::string describe(const inference::ModelInferRequest& request);
std::string describe(const Parameters& parameters);

// The parameters of a protobuf message, but for those in `without`.
Parameters parameters_of(const ParameterMap& map,
                         const std::vector<std::string_view>& without = {});

}  // namespace proa::protocol
