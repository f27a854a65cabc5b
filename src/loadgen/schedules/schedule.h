#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "loadgen/run_result.h"

namespace proa::loadgen {

// When one worker's requests are to be sent. Knows neither what is sent nor what comes back.
// Threading: confined to the worker's thread.
class Schedule {
 public:
  virtual ~Schedule() = default;

  // When the next request is due, with `in_flight` requests under way. A time in the past counts:
  // the request is late from then on. kNever: not before an answer has come, or never again.
  virtual TimePoint next_due(TimePoint now, std::size_t in_flight) = 0;

  // The request that next_due() told of is on its way.
  virtual void take() = 0;
};

// The moments at which requests are due, since the start of the pass; they never fall.
// Threading: confined to one thread.
class Arrivals {
 public:
  static constexpr Duration kNone = Duration::max();  // no further one

  virtual ~Arrivals() = default;
  virtual Duration next() = 0;
};

// A stretch of a load in stages: its rate moves evenly from `from` to `to` requests a second.
struct Stage {
  double from = 0;
  double to = 0;
  Duration length{0};
};

// The load of one pass.
struct Load {
  LoadShape shape = LoadShape::kConcurrency;
  double value = 1;             // requests in flight, or requests a second
  std::vector<Stage> stages;    // kStages
  bool poisson_stages = false;  // kStages: Poisson arrivals at the changing rate
  std::vector<Duration> gaps;   // kArrivals: between requests, used over and over
  std::uint64_t seed = 1;       // of random arrivals
  std::uint64_t requests = 0;   // the load is over after so many; 0: it has no such end

  // How much each second, on average: `value`, or what gaps and stages come to.
  double mean_value() const;
  // "4 in flight", "200/s Poisson"
  std::string to_string() const;
  // How long stages take; Duration::max() for other loads.
  Duration length() const;
  bool ends_by_itself() const { return shape == LoadShape::kStages || requests > 0; }
};

// Worker `worker` of `workers` gets its share: of requests in flight, or every `workers`-th of the
// arrivals. `start` is the pass's. Concurrency must be at least `workers`.
std::unique_ptr<Schedule> make_schedule(const Load& load, TimePoint start, int worker, int workers);

// The arrivals of an open-loop load.
std::unique_ptr<Arrivals> make_arrivals(const Load& load);

}  // namespace proa::loadgen
