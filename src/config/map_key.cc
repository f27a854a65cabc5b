#include "config/map_key.h"

#include "base/log.h"
#include "google/protobuf/descriptor.h"

namespace proa::config {

std::string map_key(const google::protobuf::Message& entry) {
  const google::protobuf::FieldDescriptor* key = entry.GetDescriptor()->map_key();
  if (key->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_STRING) {
    return log::printable(entry.GetReflection()->GetString(entry, key));
  }
  return std::to_string(entry.GetReflection()->GetUInt64(entry, key));
}

}  // namespace proa::config
