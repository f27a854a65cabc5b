#include "frontends/grpc/health_watch.h"

#include <utility>

namespace proa::frontends {

Status HealthWatchCall::on_message(Message message) {
  if (watched_) return error::internal("Watch takes one request message");
  grpc::health::v1::HealthCheckRequest request;
  if (!request.ParseFromArray(message.bytes.data(), static_cast<int>(message.bytes.size))) {
    return error::invalid_argument("malformed HealthCheckRequest");
  }
  watched_ = request.service();
  look();
  look_again_later();
  shutdown_id_ = shutdown_.subscribe(exchange().ref(), [this](net::Exchange&) {
    look();  // says NOT_SERVING
    finish(error::unavailable("the server is shutting down"));
  });
  return {};
}

Status HealthWatchCall::on_half_close() {
  if (!watched_) return error::internal("Watch ends without a request message");
  return {};  // goes on until the client cancels
}

void HealthWatchCall::look() {
  if (finished()) return;
  const auto status = service_.serving_status(*watched_);
  if (sent_ != status) {
    sent_ = status;
    grpc::health::v1::HealthCheckResponse response;
    response.set_status(status);
    net::Segment part{std::string(kPrefixRoom), {}};
    response.AppendToString(&part.bytes);
    send_message(std::span(&part, 1));
  }
}

void HealthWatchCall::look_again_later() {
  const TimePoint when = context().clock->now() + context().options.health_watch_interval;
  timer_ = context().timer->schedule(when, [this, ref = exchange().ref()] {
    ref.run([this](net::Exchange&) {  // only while the exchange, and so this object, is there
      look();
      if (!finished()) look_again_later();
    });
  });
}

void HealthWatchCall::on_gone() {
  shutdown_.unsubscribe(shutdown_id_);
  if (timer_) context().timer->cancel(*timer_);
}

}  // namespace proa::frontends
