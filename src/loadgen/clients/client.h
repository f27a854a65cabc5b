#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "loadgen/clients/loop.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// Where a request stands in its sequence; id 0 = in none.
struct SequencePlace {
  std::uint64_t id = 0;
  bool start = false;
  bool end = false;
};

// Why a request failed.
struct Failure {
  std::string kind;     // "HTTP 503", "connection refused": what the report counts by
  std::string message;  // one sample of it is shown
};

// One request on its way. Owned by the worker, which reuses it; the client fills in what happened.
// Threading: confined to the worker's thread.
struct Exchange {
  std::uint32_t model = 0;
  std::uint32_t payload = 0;
  SequencePlace sequence;
  TimePoint due;
  TimePoint ready;  // the worker handed it to the client
  bool keep_response_times = false;

  // By the client:
  bool waited_for_room = false;  // every connection had what the server had not answered
  TimePoint sent;                // the first byte is handed to the kernel
  TimePoint sent_all;            // the last one was
  TimePoint first_byte;          // of the answer; the epoch when none came
  TimePoint done;                // the last byte of the answer came, or it failed
  std::uint32_t responses = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::vector<TimePoint> response_times;
  std::unique_ptr<Failure> failure;  // null = success
  std::uint64_t place = 0;           // where the client finds it again; 0 = nowhere

  std::uint32_t in_flight_index = 0;  // the worker's
};

// Is told of the end of each exchange, exactly once.
class ExchangeSink {
 public:
  virtual ~ExchangeSink() = default;
  // `exchange` is the worker's again. May be called from within Client::start().
  virtual void finished(Exchange& exchange) = 0;
};

// One worker's connections to what is under load.
// Threading: confined to the worker's thread.
class Client {
 public:
  struct Statistics {
    std::uint64_t connections = 0;  // opened
    std::uint64_t reconnects = 0;   // of them, in place of one that broke
  };

  virtual ~Client() = default;

  // Opens connections for `in_flight` requests at once, so that the first ones need not wait.
  virtual void prepare(std::size_t in_flight) = 0;
  // Whether what prepare() asked for is there, or failed.
  virtual bool prepared() const = 0;

  // From when on a request may be sent: a moment in the future after the server could not be
  // reached. A request that is started before it fails at once.
  virtual TimePoint ready_at() const = 0;

  // Sends a request; the sink hears of its end.
  virtual void start(Exchange& exchange) = 0;
  // Hands to the kernel what start() has gathered. Call it before waiting.
  virtual void flush() = 0;
  // The load is over: what waits for a connection is not sent any more, and will be given up.
  virtual void close() {}
  // Gives an unfinished request up; the sink hears of it at once.
  virtual void cancel(Exchange& exchange, Failure failure) = 0;

  virtual Statistics statistics() const = 0;
};

// What is under load: a server by one protocol, or a model in this process.
// Threading: immutable; make_client() may be called from any thread.
class Target {
 public:
  virtual ~Target() = default;
  // `loop` and `sink` must outlive the client.
  virtual std::unique_ptr<Client> make_client(Loop& loop, ExchangeSink& sink) const = 0;
};

// When to try a server again that could not be reached: doubling waits, from 50 ms to 1 s.
// Threading: a plain value.
class BackOff {
 public:
  void failed(TimePoint now) {
    wait_ = wait_ == Duration(0) ? kFirst : std::min<Duration>(2 * wait_, kMost);
    until_ = now + wait_;
  }
  void succeeded() {
    wait_ = Duration(0);
    until_ = TimePoint();
  }
  TimePoint until() const { return until_; }
  bool holds(TimePoint now) const { return until_ != TimePoint() && now < until_; }

 private:
  static constexpr Duration kFirst = std::chrono::milliseconds(50);
  static constexpr Duration kMost = std::chrono::seconds(1);

  Duration wait_{0};
  TimePoint until_;
};

}  // namespace proa::loadgen
