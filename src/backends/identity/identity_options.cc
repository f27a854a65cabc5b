#include "backends/identity/identity_options.h"

#include <optional>
#include <string_view>

#include "backends/bad_parameter.h"
#include "base/text.h"

namespace proa::backends {
namespace {

constexpr std::uint64_t kMaxDelayMs = 3'600'000;

const std::string* find(const config::ModelConfig& config, const char* name) {
  const auto found = config.parameters.find(name);
  return found == config.parameters.end() ? nullptr : &found->second;
}

Result<bool> read_bool(const config::ModelConfig& config, const char* name) {
  const std::string* value = find(config, name);
  if (value == nullptr || *value == "false" || *value == "0") return false;
  if (*value == "true" || *value == "1") return true;
  return bad_parameter(name, *value, "\"true\" or \"false\"");
}

Result<std::uint64_t> read_number(const config::ModelConfig& config, const char* name,
                                  std::uint64_t most) {
  const std::string* value = find(config, name);
  if (value == nullptr) return 0;
  const auto number = parse_number<std::uint64_t>(*value);
  if (!number || *number > most) {
    return bad_parameter(name, *value, fmt::format("a whole number from 0 to {}", most));
  }
  return *number;
}

}  // namespace

Result<IdentityOptions> parse_identity_options(const config::ModelConfig& config) {
  IdentityOptions options;
  PROA_ASSIGN(const std::uint64_t delay, read_number(config, "execute_delay_ms", kMaxDelayMs));
  options.execute_delay = std::chrono::milliseconds(delay);
  PROA_ASSIGN(options.blocking, read_bool(config, "blocking"));
  PROA_ASSIGN(options.zero_copy, read_bool(config, "zero_copy"));
  PROA_ASSIGN(options.echo_parameters, read_bool(config, "echo_parameters"));
  PROA_ASSIGN(options.fail_period, read_number(config, "fail_every", UINT64_MAX));
  const std::string* message = find(config, "fail");
  if (message != nullptr && options.fail_period == 0) options.fail_period = 1;
  options.fail_message = message != nullptr && !message->empty()
                             ? *message
                             : "this identity model fails because its parameters ask for it";
  return options;
}

}  // namespace proa::backends
