#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace proa {

// What becomes of a start flag of Triton's.
enum class FlagFate : std::uint8_t {
  kWorks,    // defined beside the others in serve_options.cc
  kWarning,  // has no effect, and clients see no difference: the start says so and goes on
  kError,    // clients would see a difference: the start ends
};

struct TritonFlag {
  std::string_view name;  // without the dashes
  FlagFate fate = FlagFate::kWorks;
  // What it steers, why it is not followed and what to do; empty for flags that work.
  std::string_view sentence;
  // A value that asks for nothing: it is accepted in silence.
  std::string_view harmless;
};

// Every start flag of Triton's, the deprecated ones at the end; each of them is known to the
// command line. Source: Triton's command line parser, 84 current and 7 deprecated options.
std::span<const TritonFlag> triton_flags();

// Flags that do not work, as they were given: names and values, in order.
using GivenFlags = std::vector<std::pair<std::string, std::string>>;

// Adds the flags that do not work to `app`, out of sight of --help; parsing collects them.
void add_unused_triton_flags(CLI::App& app, GivenFlags& given);

// What to tell about them, a line each, all at once.
struct FlagVerdict {
  std::vector<std::string> warnings;
  std::vector<std::string> errors;
};
FlagVerdict judge(const GivenFlags& given);

// The table of the documentation.
std::string triton_flags_as_markdown();

}  // namespace proa
