// config.pbtxt: any bytes give an error or a configuration that can be shown and pasted back.
#include "config_round_trip.h"
#include "google/protobuf/stubs/logging.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const google::protobuf::LogSilencer quiet;
  proa::fuzz::check_round_trip(proa::config::parse_config(
      std::string_view(reinterpret_cast<const char*>(data), size), "config.pbtxt"));
  return 0;
}
