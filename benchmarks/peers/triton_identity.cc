// Identity backend for a real tritonserver: OUTPUTn repeats INPUTn. It measures that server's core
// and front ends without a model. Of the parameters of proa's identity backend it follows
// `execute_delay_ms` and `echo_parameters`. tritonserver's wheel carries no
// headers, so the few functions used are declared here.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

extern "C" {

struct TRITONSERVER_Error;
struct TRITONSERVER_Message;
struct TRITONBACKEND_Model;
struct TRITONBACKEND_ModelInstance;
struct TRITONBACKEND_Request;
struct TRITONBACKEND_Response;
struct TRITONBACKEND_Input;
struct TRITONBACKEND_Output;

// Enumerations of the interface, as the integers they are passed as.
using DataType = int;
using MemoryType = int;
constexpr MemoryType kMemoryCpu = 0;
constexpr std::uint32_t kReleaseAll = 1;
constexpr std::uint32_t kFinalResponse = 1;
enum ParameterType : int { kString, kInt, kBool, kBytes, kDouble };

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request);
TRITONSERVER_Error* TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request* request,
                                                     std::uint32_t* count);
TRITONSERVER_Error* TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request* request,
                                                    std::uint32_t index, const char** name);
TRITONSERVER_Error* TRITONBACKEND_RequestParameterCount(TRITONBACKEND_Request* request,
                                                        std::uint32_t* count);
TRITONSERVER_Error* TRITONBACKEND_RequestParameter(TRITONBACKEND_Request* request,
                                                   std::uint32_t index, const char** key,
                                                   ParameterType* type, const void** value);
TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const char* value);
TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(TRITONBACKEND_Response* response,
                                                          const char* name, std::int64_t value);
TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(TRITONBACKEND_Response* response,
                                                           const char* name, bool value);
TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(TRITONBACKEND_Response* response,
                                                             const char* name, double value);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance* instance,
                                                     TRITONBACKEND_Model** model);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance* instance,
                                                        void* state);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance* instance,
                                                     void** state);
TRITONSERVER_Error* TRITONBACKEND_ModelConfig(TRITONBACKEND_Model* model,
                                              std::uint32_t config_version,
                                              TRITONSERVER_Message** config);
TRITONSERVER_Error* TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message* message,
                                                        const char** json, std::size_t* size);
TRITONSERVER_Error* TRITONSERVER_MessageDelete(TRITONSERVER_Message* message);
TRITONSERVER_Error* TRITONBACKEND_RequestInputCount(TRITONBACKEND_Request* request,
                                                    std::uint32_t* count);
TRITONSERVER_Error* TRITONBACKEND_RequestInputByIndex(TRITONBACKEND_Request* request,
                                                      std::uint32_t index,
                                                      TRITONBACKEND_Input** input);
TRITONSERVER_Error* TRITONBACKEND_InputProperties(TRITONBACKEND_Input* input, const char** name,
                                                  DataType* type, const std::int64_t** shape,
                                                  std::uint32_t* dims_count,
                                                  std::uint64_t* byte_size,
                                                  std::uint32_t* buffer_count);
TRITONSERVER_Error* TRITONBACKEND_InputBuffer(TRITONBACKEND_Input* input, std::uint32_t index,
                                              const void** buffer, std::uint64_t* byte_size,
                                              MemoryType* memory, std::int64_t* memory_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 DataType type, const std::int64_t* shape,
                                                 std::uint32_t dims_count);
TRITONSERVER_Error* TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output* output, void** buffer,
                                               std::uint64_t byte_size, MemoryType* memory,
                                               std::int64_t* memory_id);
TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               std::uint32_t flags, TRITONSERVER_Error* error);
TRITONSERVER_Error* TRITONBACKEND_RequestRelease(TRITONBACKEND_Request* request,
                                                 std::uint32_t flags);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request, bool success,
    std::uint64_t start, std::uint64_t compute_start, std::uint64_t compute_end, std::uint64_t end);
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance* instance, std::uint64_t batch_size, std::uint64_t start,
    std::uint64_t compute_start, std::uint64_t compute_end, std::uint64_t end);

}  // extern "C"

namespace {

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// What a model's configuration asks of its instances.
struct State {
  std::chrono::milliseconds delay{0};
  bool echo_parameters = false;
};

// The value of a parameter in the configuration's JSON; "" when it is not there.
std::string parameter_of(std::string_view json, const std::string& name) {
  const std::string start = "\"" + name + "\":{\"string_value\":\"";
  const auto at = json.find(start);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = json.substr(at + start.size());
  return std::string(rest.substr(0, rest.find('"')));
}

bool wants_output(TRITONBACKEND_Request* request, std::string_view output) {
  std::uint32_t count = 0;
  TRITONBACKEND_RequestOutputCount(request, &count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    TRITONBACKEND_RequestOutputName(request, i, &name);
    if (output == name) return true;
  }
  return count == 0;
}

void echo_parameters(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response) {
  std::uint32_t count = 0;
  TRITONBACKEND_RequestParameterCount(request, &count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const char* key = nullptr;
    ParameterType type = kString;
    const void* value = nullptr;
    TRITONBACKEND_RequestParameter(request, i, &key, &type, &value);
    if (type == kString) {
      TRITONBACKEND_ResponseSetStringParameter(response, key, static_cast<const char*>(value));
    } else if (type == kInt) {
      TRITONBACKEND_ResponseSetIntParameter(response, key,
                                            *static_cast<const std::int64_t*>(value));
    } else if (type == kBool) {
      TRITONBACKEND_ResponseSetBoolParameter(response, key, *static_cast<const bool*>(value));
    } else if (type == kDouble) {
      TRITONBACKEND_ResponseSetDoubleParameter(response, key, *static_cast<const double*>(value));
    }
  }
}

// An input's buffers, one after the other, into the output of the same number.
void copy_tensor(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response,
                 std::uint32_t index) {
  TRITONBACKEND_Input* input = nullptr;
  TRITONBACKEND_RequestInputByIndex(request, index, &input);
  const char* name = nullptr;
  DataType type = 0;
  const std::int64_t* shape = nullptr;
  std::uint32_t dims_count = 0;
  std::uint64_t byte_size = 0;
  std::uint32_t buffer_count = 0;
  TRITONBACKEND_InputProperties(input, &name, &type, &shape, &dims_count, &byte_size,
                                &buffer_count);

  const std::string output_name = std::string("OUTPUT") + (name + sizeof("INPUT") - 1);
  if (!wants_output(request, output_name)) return;
  TRITONBACKEND_Output* output = nullptr;
  TRITONBACKEND_ResponseOutput(response, &output, output_name.c_str(), type, shape, dims_count);
  void* target = nullptr;
  MemoryType memory = kMemoryCpu;
  std::int64_t memory_id = 0;
  TRITONBACKEND_OutputBuffer(output, &target, byte_size, &memory, &memory_id);
  for (std::uint32_t i = 0; i < buffer_count; ++i) {
    const void* piece = nullptr;
    std::uint64_t piece_size = 0;
    TRITONBACKEND_InputBuffer(input, i, &piece, &piece_size, &memory, &memory_id);
    std::memcpy(target, piece, piece_size);
    target = static_cast<char*>(target) + piece_size;
  }
}

void answer(TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request* request,
            const State& state, std::uint64_t start) {
  TRITONBACKEND_Response* response = nullptr;
  TRITONBACKEND_ResponseNew(&response, request);
  std::uint32_t input_count = 0;
  TRITONBACKEND_RequestInputCount(request, &input_count);
  for (std::uint32_t i = 0; i < input_count; ++i) copy_tensor(request, response, i);
  if (state.echo_parameters) echo_parameters(request, response);
  TRITONBACKEND_ResponseSend(response, kFinalResponse, nullptr);
  const std::uint64_t end = now_ns();
  TRITONBACKEND_ModelInstanceReportStatistics(instance, request, true, start, start, end, end);
  TRITONBACKEND_RequestRelease(request, kReleaseAll);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance* instance) {
  TRITONBACKEND_Model* model = nullptr;
  TRITONBACKEND_ModelInstanceModel(instance, &model);
  TRITONSERVER_Message* config = nullptr;
  if (auto* error = TRITONBACKEND_ModelConfig(model, 1, &config)) return error;
  const char* json = nullptr;
  std::size_t size = 0;
  TRITONSERVER_MessageSerializeToJson(config, &json, &size);
  auto* state = new State;
  const std::string_view text(json, size);
  state->delay =
      std::chrono::milliseconds(std::atoi(parameter_of(text, "execute_delay_ms").c_str()));
  state->echo_parameters = parameter_of(text, "echo_parameters") == "true";
  TRITONSERVER_MessageDelete(config);
  return TRITONBACKEND_ModelInstanceSetState(instance, state);
}

extern "C" __attribute__((visibility("default"))) TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance* instance) {
  void* state = nullptr;
  TRITONBACKEND_ModelInstanceState(instance, &state);
  delete static_cast<State*>(state);
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                   TRITONBACKEND_Request** requests, std::uint32_t count) {
  const std::uint64_t start = now_ns();
  void* state = nullptr;
  TRITONBACKEND_ModelInstanceState(instance, &state);
  const State& options = *static_cast<const State*>(state);
  if (options.delay.count() > 0) std::this_thread::sleep_for(options.delay);
  for (std::uint32_t i = 0; i < count; ++i) answer(instance, requests[i], options, start);
  const std::uint64_t end = now_ns();
  TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, count, start, start, end, end);
  return nullptr;
}
