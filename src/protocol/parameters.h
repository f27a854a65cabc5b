#pragma once

#include <string_view>

#include "base/result.h"
#include "protocol/infer.h"

namespace proa::protocol {

// Where the parameters of a request go, whatever the wire: those with a meaning into fields of
// their own, the others into the list, the later one of equal names staying.
// Errors: kInvalidArgument for a value of the wrong type or a name that is reserved;
// kUnimplemented for shared memory.
Status set_request_parameter(InferRequest& request, std::string_view name, Parameter::Value value);
Status set_input_parameter(InferInput& input, std::string_view name, Parameter::Value value);
Status set_output_parameter(InferRequestedOutput& output, std::string_view name,
                            Parameter::Value value);

// Names that start so are not for clients to give to a model.
inline constexpr std::string_view kReservedPrefix = "triton_";
Error reserved_name(std::string_view name);

// Puts a parameter into a list, over one of the same name.
void set_parameter(Parameters& parameters, std::string_view name, Parameter::Value value);

// Whether a request's parameter of that name has a meaning, or is kept for one ("triton_...").
bool is_reserved_parameter(std::string_view name);

// The refusal of inputs and outputs beyond kMaxTensors, and of parameters beyond kMaxParameters.
Error too_many_tensors();
Error too_many_parameters();

}  // namespace proa::protocol
