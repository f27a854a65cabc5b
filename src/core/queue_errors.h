#pragma once

#include <string_view>

#include "base/error.h"
#include "core/request.h"

namespace proa::core::queue_errors {

// What requests get that are not computed. The first words are those that Triton's clients match.

Error full(std::string_view model, const Request& request);
Error timed_out(std::string_view model, const Request& request);
Error deadline_passed(std::string_view model, const Request& request);
Error cancelled(std::string_view model, const Request& request);
// Of an ensemble: between two of its steps; as many requests under way as it may have.
Error cancelled_on_the_way(std::string_view model, const Request& request);
Error too_many_in_flight(std::string_view model, const Request& request, std::size_t most);
Error shut_down(std::string_view model, const Request& request);

}  // namespace proa::core::queue_errors
