#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <memory>

#include "frontends/grpc/grpc_call.h"
#include "frontends/grpc/stream_credit.h"
#include "frontends/infer_call.h"
#include "frontends/shutdown_signal.h"

namespace proa::frontends {

// GRPCInferenceService/ModelStreamInfer: any number of requests, for any models, over one call.
//
// - Answers of models with one response come in the order of their requests; those of decoupled
//   models as they are produced.
// - A request that fails is answered with error_message, and the stream goes on; metadata
//   "triton_grpc_error: true" ends it with the error's status instead.
// - Every answer carries the parameter triton_final_response. A decoupled request whose last
//   response is empty gets an empty answer only if it set triton_enable_empty_final_response.
// - Beyond ServerOptions::stream_max_requests or stream_max_request_bytes in flight, or
//   stream_max_unsent_bytes of answers not taken, no further request is started and the client gets
//   no more flow-control credit.
class StreamInferCall final : public GrpcCall {
 public:
  StreamInferCall(const FrontendContext& context, ShutdownSignal& shutdown);

  void on_head(net::Exchange& exchange, const net::RequestHead& head) override;
  void on_data(std::span<const std::byte> data) override;
  void on_writable() override;
  bool manual_flow_control() const override { return true; }

 protected:
  Status on_message(Message message) override;
  Status on_half_close() override;
  void on_gone() override;

 private:
  // What sinks on other threads share with the stream.
  struct Shared {
    explicit Shared(std::size_t limit_bytes) : credit(limit_bytes) {}
    StreamCredit credit;
    std::atomic<int> posted = 0;  // answers on their way to the loop
  };
  class Sink;

  // One request in flight. Lives until its last answer is written.
  struct Item {
    Message message;        // what `request` points into
    std::size_t bytes = 0;  // of the message
    protocol::InferRequest request;
    std::shared_ptr<core::Model> model;  // null: refused
    std::shared_ptr<CancellationToken> cancellation;
    std::deque<core::Response> ready;  // answers that wait for their turn
    bool accepted = false;             // a model has it
    bool ended = false;                // the last answer is among them
  };
  using Items = std::list<Item>;

  bool may_start() const;
  void start_waiting();
  void start(Message message);
  void remove(Items& items, Items::iterator item);
  Status start_item(Items& items, Items::iterator item);
  void on_response(Items& items, Items::iterator item, core::Response response, bool final);
  void write_ready();
  void write(const Item& item, core::Response response, bool final);
  Status write_answer(const Item& item, core::Response response, bool final);
  void write_error(const Item& item, const Error& error, bool final);
  void count_answers();
  void give_credit();
  void maybe_finish();

  ShutdownSignal& shutdown_;
  ShutdownSignal::Id shutdown_id_ = 0;
  std::shared_ptr<Shared> shared_;
  Parameters forwarded_;         // metadata that the models are to see
  std::deque<Message> waiting_;  // not started yet
  Items ordered_;                // answered in this order
  Items decoupled_;
  std::size_t request_bytes_ = 0;  // of both
  std::size_t ready_bytes_ = 0;    // of answers that wait for their turn
  std::size_t kept_bytes_ = 0;     // of messages whose answers wait for their turn
  core::MemoryBudget::Reservation answer_memory_;
  std::size_t owed_bytes_ = 0;  // taken, but not given back as credit
  bool errors_end_stream_ = false;
  bool client_done_ = false;
  bool shutting_down_ = false;
  bool starting_ = false;
};

}  // namespace proa::frontends
