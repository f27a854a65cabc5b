#pragma once

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "frontends/testing/exchange_driver.h"
#include "frontends/testing/grpc_frames.h"
#include "gtest/gtest.h"
#include "proto/grpc_service.pb.h"

namespace proa::frontends {

inline std::string float_bytes(std::initializer_list<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), std::data(values), bytes.size());
  return bytes;
}

// A request with one FP32 input.
inline inference::ModelInferRequest float_request(const std::string& model, const std::string& id,
                                                  std::initializer_list<std::int64_t> shape,
                                                  std::initializer_list<float> values) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  request.set_id(id);
  auto& input = *request.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  for (const std::int64_t dim : shape) input.add_shape(dim);
  request.add_raw_input_contents(float_bytes(values));
  return request;
}

// The messages that a call was answered with.
template <class Message>
std::vector<Message> answers(const ExchangeDriver& call) {
  std::vector<Message> messages;
  for (const GrpcFrame& frame : parse_grpc_frames(call.exchange.body)) {
    EXPECT_TRUE(messages.emplace_back().ParseFromString(frame.message));
  }
  return messages;
}

}  // namespace proa::frontends
