#pragma once

#include <concepts>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace proa::backends::openvino {

// The part of an OpenVINO exception's text that tells a user something: without source positions,
// failed expressions and headlines, on one line, at most 400 characters.
std::string readable_reason(std::string_view what);

// Runs `body` (returning a Result, a Status or nothing) and turns what it throws into an Error of
// `code`: "<what>: <reason>". The only place where this backend meets exceptions.
template <class Body>
auto guarded(ErrorCode code, std::string_view what, Body&& body) {
  using Returned = decltype(body());
  using Outcome = std::conditional_t<std::is_void_v<Returned>, Status, Returned>;
  try {
    if constexpr (std::is_void_v<Returned>) {
      body();
      return Outcome{};
    } else {
      return Outcome(body());
    }
  } catch (const std::bad_alloc&) {
    return Outcome(Error{ErrorCode::kResourceExhausted,
                         std::string(what) + ": the machine has not enough memory for it"});
  } catch (const std::exception& e) {
    return Outcome(Error{code, std::string(what) + ": " + readable_reason(e.what())});
  } catch (...) {
    return Outcome(Error{code, std::string(what) + ": OpenVINO failed without a reason"});
  }
}

}  // namespace proa::backends::openvino
