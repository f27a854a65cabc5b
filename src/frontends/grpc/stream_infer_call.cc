#include "frontends/grpc/stream_infer_call.h"

#include <utility>

#include "frontends/segments.h"
#include "lifecycle/model_repository.h"
#include "protocol/infer_proto.h"
#include "protocol/status_map.h"

namespace proa::frontends {
namespace {

constexpr std::string_view kFinalResponse = "triton_final_response";

Error shutting_down() { return error::unavailable("the server is shutting down"); }

bool is_empty(const core::Response& response) {
  return !response.error && response.outputs.empty() && response.parameters.empty();
}

}  // namespace

// Brings answers from any thread to the stream's loop, in order.
class StreamInferCall::Sink final : public core::ResponseSink {
 public:
  Sink(StreamInferCall& call, Items& items, Items::iterator item)
      : call_(call),
        items_(items),
        item_(item),
        exchange_(call.exchange().ref()),
        shared_(call.shared_) {}

  void send(core::Response response, bool final) override {
    const std::size_t bytes = answer_bytes(response);
    shared_->credit.add_queued(bytes);
    // An answer must not overtake one that was posted before.
    if (exchange_.loop().on_thread() && shared_->posted.load() == 0) {
      if (exchange_.get() != nullptr) call_.on_response(items_, item_, std::move(response), final);
      return;
    }
    shared_->posted.fetch_add(1);
    exchange_.loop().post([&call = call_, &items = items_, item = item_, ref = exchange_,
                           shared = shared_, response = std::move(response), final]() mutable {
      shared->posted.fetch_sub(1);
      if (ref.get() != nullptr) call.on_response(items, item, std::move(response), final);
    });
  }

  std::size_t credit() const override { return shared_->credit.available(); }
  void when_credit(std::move_only_function<void()> ready) override {
    shared_->credit.when_available(std::move(ready));
  }

 private:
  // These live while the exchange is open.
  StreamInferCall& call_;
  Items& items_;
  Items::iterator item_;

  net::ExchangeRef exchange_;
  std::shared_ptr<Shared> shared_;
};

StreamInferCall::StreamInferCall(const FrontendContext& context, ShutdownSignal& shutdown)
    : GrpcCall(context, context.options.grpc_max_message_bytes),
      shutdown_(shutdown),
      shared_(std::make_shared<Shared>(context.options.stream_max_unsent_bytes)) {}

void StreamInferCall::on_head(net::Exchange& exchange, const net::RequestHead& head) {
  GrpcCall::on_head(exchange, head);
  errors_end_stream_ = head.header("triton_grpc_error") == "true";
  shutdown_id_ = shutdown_.subscribe(exchange.ref(), [this](net::Exchange&) {
    shutting_down_ = true;
    maybe_finish();
  });
  auto forwarded = context().options.grpc_header_forward.collect(head.headers);
  if (!forwarded) return finish(forwarded.error());
  forwarded_ = std::move(*forwarded);
}

void StreamInferCall::on_data(std::span<const std::byte> data) {
  owed_bytes_ += data.size();
  GrpcCall::on_data(data);
  give_credit();
}

void StreamInferCall::on_writable() {
  shared_->credit.set_unsent(exchange().unsent_bytes());
  count_answers();
  start_waiting();
  give_credit();
}

Status StreamInferCall::on_message(Message message) {
  waiting_.push_back(std::move(message));
  start_waiting();
  return {};
}

Status StreamInferCall::on_half_close() {
  client_done_ = true;
  maybe_finish();
  return {};
}

void StreamInferCall::on_gone() {
  shutdown_.unsubscribe(shutdown_id_);
  for (const Items* items : {&ordered_, &decoupled_}) {
    for (const Item& item : *items) {
      if (item.cancellation != nullptr) item.cancellation->cancel();
    }
  }
  shared_->credit.close();
}

bool StreamInferCall::may_start() const {
  const ServerOptions& options = context().options;
  return !finished() && ordered_.size() + decoupled_.size() < options.stream_max_requests &&
         request_bytes_ < options.stream_max_request_bytes &&
         exchange().unsent_bytes() < options.stream_max_unsent_bytes;
}

void StreamInferCall::start_waiting() {
  if (std::exchange(starting_, true)) return;  // an inline answer came back here
  while (!waiting_.empty() && may_start()) {
    Message message = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(message));
  }
  starting_ = false;
  maybe_finish();
}

void StreamInferCall::start(Message message) {
  const auto item = ordered_.emplace(ordered_.end());
  item->message = std::move(message);
  item->bytes = item->message.bytes.size;
  request_bytes_ += item->bytes;
  Items* items = &ordered_;
  auto request = protocol::read_infer_request(item->message.bytes, context().budget->left());
  Status status = request ? reserve_decoded(*context().budget, *request, item->message.memory)
                          : Status(request.error());
  if (status) {
    item->request = std::move(*request);
    add_forwarded(forwarded_, item->request.parameters);
    auto model = context().repository->find(item->request.model_name, item->request.model_version);
    if (model) {
      item->model = std::move(*model);
      if (item->model->config().decoupled) {
        decoupled_.splice(decoupled_.end(), ordered_, item);
        items = &decoupled_;
      }
      status = start_item(*items, item);
    } else {
      status = model.error();
    }
  }
  if (!status) {
    core::Response failed;
    failed.error = status.error();
    on_response(*items, item, std::move(failed), true);
  }
}

Status StreamInferCall::start_item(Items& items, Items::iterator item) {
  if (shutting_down_) return shutting_down();
  item->cancellation = std::make_shared<CancellationToken>();
  item->accepted = true;  // the answer may come before this returns
  const Status status =
      start_inference(item->request, {.model = item->model,
                                      .received = context().clock->now(),
                                      .deadline = deadline(),
                                      .memory = std::move(item->message.memory),
                                      .cancellation = item->cancellation,
                                      .sink = std::make_unique<Sink>(*this, items, item)});
  if (!status) item->accepted = false;
  return status;
}

void StreamInferCall::on_response(Items& items, Items::iterator item, core::Response response,
                                  bool final) {
  ready_bytes_ += answer_bytes(response);
  item->ready.push_back(std::move(response));
  item->ended = final;
  if (final) kept_bytes_ += item->bytes;
  if (&items == &ordered_) {
    write_ready();
  } else {
    write(*item, std::move(item->ready.front()), final);
    item->ready.pop_front();
    if (final) remove(items, item);
  }
  count_answers();
  start_waiting();
  give_credit();
}

// Answers, and messages that wait with them, outlive what their requests had reserved.
void StreamInferCall::count_answers() {
  if (!open()) return;
  answer_memory_ =
      context().budget->reserve(ready_bytes_ + kept_bytes_ + exchange().unsent_bytes());
}

void StreamInferCall::write_ready() {
  while (!ordered_.empty() && !ordered_.front().ready.empty()) {
    Item& item = ordered_.front();
    core::Response response = std::move(item.ready.front());
    item.ready.pop_front();
    const bool last = item.ended && item.ready.empty();
    write(item, std::move(response), last);
    if (last) remove(ordered_, ordered_.begin());
  }
}

void StreamInferCall::remove(Items& items, Items::iterator item) {
  request_bytes_ -= item->bytes;
  kept_bytes_ -= item->bytes;  // it has ended
  items.erase(item);
}

void StreamInferCall::write(const Item& item, core::Response response, bool final) {
  const std::size_t bytes = answer_bytes(response);
  ready_bytes_ -= bytes;
  const bool skip = final && is_empty(response) && !item.request.enable_empty_final_response;
  if (!finished() && !skip) {
    const Status status = response.error ? Status(std::move(*response.error))
                                         : write_answer(item, std::move(response), final);
    if (!status) write_error(item, status.error(), final);
  }
  if (!open()) return;
  shared_->credit.set_unsent(exchange().unsent_bytes());
  shared_->credit.remove_queued(bytes);
}

Status StreamInferCall::write_answer(const Item& item, core::Response response, bool final) {
  response.parameters.push_back({std::string(kFinalResponse), final});
  Answer answer;
  if (response.outputs.empty()) {
    answer.response = {item.model->name(),
                       item.model->version_string(),
                       item.request.id,
                       std::move(response.parameters),
                       {}};
  } else {
    PROA_TRY(make_answer(*item.model, item.request, std::move(response), answer));
  }
  PROA_ASSIGN(auto encoded, protocol::write_infer_response(answer.response, {.stream = true}));
  Segments parts = to_segments(std::move(encoded));
  send_message(parts);
  return {};
}

// As Triton does, only the error of a model tells its name and whether more is to come.
void StreamInferCall::write_error(const Item& item, const Error& error, bool final) {
  if (errors_end_stream_) return finish(error);
  protocol::InferResponse response;
  response.id = item.request.id;
  if (item.accepted) {
    response.model_name = item.model->name();
    response.parameters = {{std::string(kFinalResponse), final}};
  }
  Segments parts =
      to_segments(protocol::write_stream_error(protocol::client_message(error.message), response));
  send_message(parts);
}

void StreamInferCall::give_credit() {
  if (owed_bytes_ == 0 || !open() || !waiting_.empty() || !may_start()) return;
  exchange().consume(std::exchange(owed_bytes_, 0));
}

void StreamInferCall::maybe_finish() {
  if (starting_ || finished() || !waiting_.empty()) return;
  if (!ordered_.empty() || !decoupled_.empty()) return;
  if (client_done_) return finish({});
  if (shutting_down_) finish(shutting_down());
}

}  // namespace proa::frontends
