#include "core/queue_errors.h"

namespace proa::core::queue_errors {
namespace {

std::string_view id_of(const Request& request) {
  return request.id.empty() ? std::string_view("<id_unknown>") : std::string_view(request.id);
}

}  // namespace

Error full(std::string_view model, const Request& request) {
  return error::unavailable(
      "[request id: {}] Exceeds maximum queue size: model '{}' has as many requests waiting as its "
      "queue policy allows. Send fewer at a time, add instances (instance_group), or raise "
      "max_queue_size.",
      id_of(request), model);
}

Error timed_out(std::string_view model, const Request& request) {
  return error::unavailable(
      "[request id: {}] Request timeout expired: no instance of model '{}' became free within the "
      "request's queue time-out. Add instances (instance_group), or raise "
      "default_timeout_microseconds or the request's own timeout.",
      id_of(request), model);
}

Error deadline_passed(std::string_view model, const Request& request) {
  return error::deadline_exceeded(
      "[request id: {}] the request's deadline passed while it waited for an instance of model "
      "'{}'. Add instances (instance_group), or give the call more time.",
      id_of(request), model);
}

Error cancelled(std::string_view model, const Request& request) {
  return error::cancelled(
      "[request id: {}] the client cancelled the request while it waited for model '{}'.",
      id_of(request), model);
}

Error cancelled_on_the_way(std::string_view model, const Request& request) {
  return error::cancelled(
      "[request id: {}] the client cancelled the request between two steps of ensemble '{}'.",
      id_of(request), model);
}

Error too_many_in_flight(std::string_view model, const Request& request, std::size_t most) {
  return error::unavailable(
      "[request id: {}] ensemble '{}' has {} requests under way, as many as it may have. Send "
      "fewer "
      "at a time, or raise ensemble_scheduling.max_inflight_requests.",
      id_of(request), model, most);
}

Error shut_down(std::string_view model, const Request& request) {
  return error::unavailable(
      "[request id: {}] model '{}' is being unloaded and takes no more requests. Ask again when it "
      "is ready.",
      id_of(request), model);
}

}  // namespace proa::core::queue_errors
