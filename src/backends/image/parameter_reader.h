#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/bad_parameter.h"
#include "base/result.h"
#include "image/resize.h"

namespace proa::backends {

// A word that a parameter may be, and what it stands for.
template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

// Reads the values of a model's `parameters`. Every error is kInvalidArgument and names the
// parameter, its value and what it must be.
// Threading: immutable; the map must outlive it.
class ParameterReader {
 public:
  explicit ParameterReader(const std::map<std::string, std::string>& parameters)
      : parameters_(parameters) {}

  // Null when it is not given.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::string text(std::string_view name) const { return has(name) ? *find(name) : ""; }

  // The parameter is given, but does nothing because of `reason`.
  Error no_effect(std::string_view name, std::string_view reason) const;

  template <class Value, std::size_t kCount>
  Result<Value> choice(std::string_view name, Value otherwise,
                       const Choice<Value> (&choices)[kCount]) const {
    const std::string* const given = find(name);
    if (given == nullptr) return otherwise;
    std::vector<std::string_view> words;
    for (const Choice<Value>& choice : choices) {
      if (matches(*given, choice.word)) return choice.value;
      words.push_back(choice.word);
    }
    return bad_parameter(name, *given, one_of(words));
  }

  Result<std::int64_t> count(std::string_view name, std::int64_t otherwise,
                             std::int64_t most) const;

  // "256" (both sides) or "320x240" (width x height), in pixels.
  struct Sides {
    image::Size size;
    bool single = false;  // one number was given
  };
  Result<std::optional<Sides>> sides(std::string_view name) const;

  // Numbers like "0.5" or "1/255": one for all channels, or one for each.
  Result<std::array<double, 3>> channels(std::string_view name, double otherwise,
                                         std::size_t channel_count) const;

 private:
  static bool matches(std::string_view given, std::string_view word);  // whatever the case
  static std::string one_of(const std::vector<std::string_view>& words);

  const std::map<std::string, std::string>& parameters_;
};

}  // namespace proa::backends
