#include "backends/python/settings.h"

#include "base/log.h"
#include "base/text.h"

namespace proa::backends::python {
namespace {

constexpr std::uint64_t kMostSeconds = 7 * 24 * 3600;
constexpr std::uint64_t kMostMiB = std::uint64_t{1} << 24;

// Leaves `value` alone when the parameter is not given.
template <class Value>
Status read_number(const config::ModelConfig& config, const char* name, std::uint64_t least,
                   std::uint64_t most, Value& value) {
  const auto found = config.parameters.find(name);
  if (found == config.parameters.end()) return {};
  const auto number = parse_number<std::uint64_t>(found->second);
  if (!number || *number < least || *number > most) {
    return error::invalid_argument(
        "model '{}': parameter '{}' is \"{}\"; it must be a whole number from {} to {}",
        config.name, name, log::printable(found->second), least, most);
  }
  value = Value(*number);
  return {};
}

}  // namespace

Result<Settings> parse_settings(const config::ModelConfig& config) {
  Settings settings;
  if (config.instance_count() > 1) settings.max_in_flight = 1;
  if (config.decoupled) settings.max_in_flight = 64;
  PROA_TRY(read_number(config, "execute_timeout_s", 0, kMostSeconds, settings.execute_timeout));
  PROA_TRY(
      read_number(config, "initialize_timeout_s", 0, kMostSeconds, settings.initialize_timeout));
  PROA_TRY(read_number(config, "finalize_timeout_s", 1, kMostSeconds, settings.finalize_timeout));
  PROA_TRY(read_number(config, "max_in_flight", 1, 1000, settings.max_in_flight));
  std::size_t kept_mib = settings.kept_bytes >> 20;
  PROA_TRY(read_number(config, "kept_input_mib", 0, kMostMiB, kept_mib));
  settings.kept_bytes = kept_mib << 20;
  const auto environment = config.parameters.find("EXECUTION_ENV_PATH");
  if (environment != config.parameters.end()) settings.environment = environment->second;
  return settings;
}

}  // namespace proa::backends::python
