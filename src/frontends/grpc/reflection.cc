#include "frontends/grpc/reflection.h"

#include <array>
#include <set>
#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor.pb.h"
#include "proto/grpc_service.pb.h"
#include "proto/health.pb.h"
#include "proto/reflection_v1alpha.pb.h"

namespace proa::frontends {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

// The services of this server, by their files.
std::array<const google::protobuf::ServiceDescriptor*, 4> services() {
  return {inference::ModelInferRequest::descriptor()->file()->service(0),
          grpc::health::v1::HealthCheckRequest::descriptor()->file()->service(0),
          ServerReflectionRequest::descriptor()->file()->service(0),
          grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()->service(0)};
}

void add_file(const FileDescriptor& file, std::set<const FileDescriptor*>& seen,
              ServerReflectionResponse& response) {
  if (!seen.insert(&file).second) return;
  google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response.mutable_file_descriptor_response()->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) add_file(*file.dependency(i), seen, response);
}

void set_not_found(std::string_view what, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(static_cast<int>(ErrorCode::kNotFound));
  response.mutable_error_response()->set_error_message(fmt::format("{} is not known", what));
}

void set_file(const FileDescriptor* file, std::string_view what,
              ServerReflectionResponse& response) {
  if (file == nullptr) return set_not_found(what, response);
  std::set<const FileDescriptor*> seen;
  add_file(*file, seen, response);
}

}  // namespace

ServerReflectionResponse reflect(const ServerReflectionRequest& request) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kFileByFilename:
      set_file(pool.FindFileByName(request.file_by_filename()), request.file_by_filename(),
               response);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      set_file(pool.FindFileContainingSymbol(request.file_containing_symbol()),
               request.file_containing_symbol(), response);
      break;
    case ServerReflectionRequest::kFileContainingExtension:
      set_not_found(request.file_containing_extension().containing_type() + " with extensions",
                    response);
      break;
    case ServerReflectionRequest::kAllExtensionNumbersOfType: {
      const std::string& type = request.all_extension_numbers_of_type();
      if (pool.FindMessageTypeByName(type) == nullptr) {
        set_not_found(type, response);
      } else {
        response.mutable_all_extension_numbers_response()->set_base_type_name(type);
      }
      break;
    }
    case ServerReflectionRequest::kListServices:
      for (const auto* service : services()) {
        response.mutable_list_services_response()->add_service()->set_name(service->full_name());
      }
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      response.mutable_error_response()->set_error_code(
          static_cast<int>(ErrorCode::kInvalidArgument));
      response.mutable_error_response()->set_error_message("the request asks for nothing");
      break;
  }
  return response;
}

Status ReflectionCall::on_message(Message message) {
  ServerReflectionRequest request;
  if (!request.ParseFromArray(message.bytes.data(), static_cast<int>(message.bytes.size))) {
    return error::invalid_argument("malformed ServerReflectionRequest");
  }
  // An answer may be 500 times as long as its request.
  const std::size_t waiting = exchange().unsent_bytes();
  if (waiting > kMaxUnsentBytes) {
    return error::resource_exhausted("{} bytes of answers wait for a client that does not read",
                                     waiting);
  }
  net::Segment part{std::string(kPrefixRoom), {}};
  reflect(request).AppendToString(&part.bytes);
  auto memory = context().budget->try_reserve(waiting + part.bytes.size());
  if (!memory) return over_budget(*context().budget, part.bytes.size());
  unsent_memory_ = std::move(*memory);
  send_message(std::span(&part, 1));
  return {};
}

Status ReflectionCall::on_half_close() {
  finish({});
  return {};
}

}  // namespace proa::frontends
