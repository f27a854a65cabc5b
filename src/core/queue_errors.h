#pragma once

#include <string_view>

#include "base/error.h"
#include "core/request.h"

namespace proa::core::queue_errors {

// What requests get that end in the queue. The first words are those that Triton's clients match.

Error full(std::string_view model, const Request& request);
Error timed_out(std::string_view model, const Request& request);
Error deadline_passed(std::string_view model, const Request& request);
Error cancelled(std::string_view model, const Request& request);
Error shut_down(std::string_view model, const Request& request);

}  // namespace proa::core::queue_errors
