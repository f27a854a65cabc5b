// Identity backend for a real tritonserver: every output repeats the input of the same index. It
// measures that server's core and front ends without a model. tritonserver's wheel carries no
// headers, so the few functions used are declared here.
#include <chrono>
#include <cstdint>
#include <cstring>

extern "C" {

struct TRITONSERVER_Error;
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

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request);
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

// An input's buffers, one after the other, into the output of the same index.
void copy_tensor(TRITONBACKEND_Request* request, TRITONBACKEND_Response* response,
                 std::uint32_t index) {
  static const char* const kOutputNames[] = {"OUTPUT0", "OUTPUT1", "OUTPUT2", "OUTPUT3"};
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

  TRITONBACKEND_Output* output = nullptr;
  TRITONBACKEND_ResponseOutput(response, &output, kOutputNames[index % 4], type, shape, dims_count);
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
            std::uint64_t start) {
  TRITONBACKEND_Response* response = nullptr;
  TRITONBACKEND_ResponseNew(&response, request);
  std::uint32_t input_count = 0;
  TRITONBACKEND_RequestInputCount(request, &input_count);
  for (std::uint32_t i = 0; i < input_count; ++i) copy_tensor(request, response, i);
  TRITONBACKEND_ResponseSend(response, kFinalResponse, nullptr);
  const std::uint64_t end = now_ns();
  TRITONBACKEND_ModelInstanceReportStatistics(instance, request, true, start, start, end, end);
  TRITONBACKEND_RequestRelease(request, kReleaseAll);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) TRITONSERVER_Error*
TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance* instance,
                                   TRITONBACKEND_Request** requests, std::uint32_t count) {
  const std::uint64_t start = now_ns();
  for (std::uint32_t i = 0; i < count; ++i) answer(instance, requests[i], start);
  const std::uint64_t end = now_ns();
  TRITONBACKEND_ModelInstanceReportBatchStatistics(instance, count, start, start, end, end);
  return nullptr;
}
