// Serialised ModelInferRequests, read by our reader and by protobuf: ours refuses what protobuf
// refuses and means the same where it accepts.
#include "base/check.h"
#include "google/protobuf/stubs/logging.h"
#include "input.h"
#include "proto/grpc_service.pb.h"
#include "protocol/infer_proto.h"
#include "protocol/testing/describe_request.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace proa;
  const google::protobuf::LogSilencer quiet;
  inference::ModelInferRequest message;
  const bool parsed = message.ParseFromArray(data, static_cast<int>(size));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const BufferView body = fuzz::own_block(bytes, false);
  const Result<protocol::InferRequest> ours = protocol::read_infer_request(body, 64 << 20);
  if (ours) {
    PROA_CHECK(parsed, "protobuf accepts what our reader does");
    PROA_CHECK(protocol::describe(*ours) == protocol::describe(message), "both mean the same");
  } else if (parsed) {
    PROA_CHECK(!ours.error().message.contains("not a valid ModelInferRequest"),
               "what protobuf accepts is not malformed");
  }
  return 0;
}
