// Messages of the gRPC control methods, which protobuf itself decodes: what it accepts must survive
// our JSON and come back the same, as it does between gRPC and REST. The first byte chooses the
// message.
#include <memory>

#include "base/check.h"
#include "google/protobuf/stubs/logging.h"
#include "input.h"
#include "proto/grpc_service.pb.h"
#include "proto/json.h"

namespace {

using google::protobuf::Message;

const Message* prototype(std::uint8_t number) {
  const google::protobuf::FileDescriptor& file =
      *inference::RepositoryModelLoadRequest::descriptor()->file();
  return google::protobuf::MessageFactory::generated_factory()->GetPrototype(
      file.message_type(number % file.message_type_count()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const google::protobuf::LogSilencer quiet;
  proa::fuzz::Input input(data, size);
  const std::unique_ptr<Message> message(prototype(input.byte())->New());
  const std::string_view bytes = input.rest();
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return 0;
  const std::string json = proa::proto::to_json(*message);
  const std::unique_ptr<Message> again(message->New());
  if (const proa::Status read = proa::proto::from_json(json, *again); !read) {
    // Numbers that are no value of an enumeration are printed, and refused when they come back.
    PROA_CHECK(read.error().message.contains("is not one of"), "everything else reads back");
    return 0;
  }
  PROA_CHECK(proa::proto::to_json(*again) == json, "JSON reads back as it was written");
  return 0;
}
