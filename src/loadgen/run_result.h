#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "loadgen/measure/latency_histogram.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// What one run of `proa bench` found, as plain data: the generator fills it, report/ prints it.
// Instants within a pass are durations since the pass's start.
// Threading: plain values.

struct Counts {
  std::uint64_t sent = 0;
  std::uint64_t completed = 0;   // answered without error
  std::uint64_t inferences = 0;  // completed, times their batch size
  std::uint64_t responses = 0;   // of decoupled models there may be more, or fewer, than completed
  std::uint64_t errors = 0;
  std::uint64_t late = 0;  // sent so long after they were due that it matters (GeneratorHealth)
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;

  void add(const Counts& other);
};

// Failed requests of one kind. They count in no latency.
struct ErrorGroup {
  std::string kind;  // "HTTP 503", "gRPC UNAVAILABLE", "connection refused", "wrong answer", ...
  std::uint64_t count = 0;
  std::string sample;  // one message, as it came
};

// Times of successful requests.
struct Latencies {
  LatencyHistogram from_due;   // done - due: what a user waits in open loop; else as from_send
  LatencyHistogram from_send;  // done - sent
  LatencyHistogram send;       // sent until the last byte was handed to the kernel
  LatencyHistogram wait;       // from there to the first byte of the answer
  LatencyHistogram receive;    // from there to its last byte

  void merge(const Latencies& other);
};

// One stretch of a pass; requests count in the window in which they were done (or sent).
struct Window {
  Duration start{0};
  Duration duration{0};
  Counts counts;
  LatencyHistogram latency;  // from_due
  bool used = false;         // the pass's figures come from this one and its like

  double requests_per_second() const;
};

// One point of the time series, finer than windows.
struct SeriesPoint {
  Duration start{0};
  Duration duration{0};
  Counts counts;
  std::uint64_t in_flight = 0;  // at its end
  double asked_rate = 0;        // open loop: requests a second that were due; 0 in closed loop
  Duration p50{0}, p99{0};      // from_due, of what was done in it; 0 when nothing was
  Duration max{0};
};

// One request, kept when RunSettings::keep_requests. Source of the series of instants.
struct RequestRecord {
  Duration due{0};
  Duration sent{0};
  Duration first_byte{0};  // 0 when none came
  Duration done{0};
  std::uint32_t model = 0;    // index into RunResult::models
  std::uint32_t payload = 0;  // index into its PayloadSet::payloads
  bool failed = false;
  std::uint64_t sequence_id = 0;    // 0: none
  std::vector<Duration> responses;  // decoupled models: when each came; else empty
};

// A count and the time that was spent, as servers report them.
struct StageTime {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0;

  double mean_us() const {
    return count == 0 ? 0 : static_cast<double>(total_ns) / 1e3 / static_cast<double>(count);
  }
};

// What a server's statistics extension says happened to one model during the used windows.
struct ServerModelStatistics {
  std::string model;
  std::string version;
  bool composing = false;  // a step of an ensemble under load, not itself addressed
  std::uint64_t inference_count = 0;
  std::uint64_t execution_count = 0;
  StageTime success, fail, queue, compute_input, compute_infer, compute_output, cache_hit,
      cache_miss;
  struct BatchSize {
    std::uint64_t size = 0;
    std::uint64_t executions = 0;
  };
  std::vector<BatchSize> batch_sizes;  // ascending
};

// A figure of the server's metrics page, before and after the used windows.
struct ServerMetric {
  std::string name;  // with its labels: nv_cpu_utilization, nv_gpu_utilization{gpu_uuid="..."}
  double before = 0;
  double after = 0;
};

struct ModelPass {  // one model's part of a pass; used windows only
  Counts counts;
  Latencies latencies;
};

// Was the generator itself in the way?
struct GeneratorHealth {
  int threads = 0;
  double busy = 0;    // processor share (0..1) of its busiest thread
  double waited = 0;  // share of the time that a thread was ready but had no processor
  double stolen = 0;  // share of the machine's processors that its host took, during the whole pass
  double cpu_us_per_request = 0;  // all threads, user and system
  double asked_rate = 0;          // open loop: requests due a second, in the used windows
  double sent_rate = 0;
  // Open loop: sent - due; where all connections had what the server had not answered, only until
  // the generator came to it.
  LatencyHistogram lateness;
  double late_share = 0;  // of requests that were late by more than `late_bound`
  Duration late_bound{0};
  std::uint64_t connections = 0;
  std::uint64_t reconnects = 0;
  bool saturated = false;  // the figures tell about the generator, not about the server
  std::string reason;      // why, and what to do; "" unless saturated
};

enum class Instability : std::uint8_t {
  kNone,
  kDrift,    // throughput or latency keeps rising or falling
  kBimodal,  // latencies fall into groups, or windows swing between two levels
  kGeneratorSaturated,
  kServerOverloaded,  // open loop: more in flight from window to window
  kFewRequests,       // too few per window for the percentile
  kErrors,            // nothing, or hardly anything, succeeded
  kTooFewWindows,     // interrupted, or --max-trials below three
  kNoise,             // none of the above
};

struct Stability {
  bool stable = false;
  double rate_spread = 0;     // (largest - smallest) / mean over the last windows, 0.1 = 10 %
  double latency_spread = 0;  // the same of the chosen latency
  Instability reason = Instability::kNone;
  std::string text;  // the reason for people; "" when stable
};

// What kind of load a pass put on the server.
enum class LoadShape : std::uint8_t {
  kConcurrency,
  kConstantRate,
  kPoissonRate,
  kArrivals,
  kStages
};

// One load level.
struct Pass {
  LoadShape shape = LoadShape::kConcurrency;
  double load = 0;  // requests in flight, or requests a second (mean, for arrivals and stages)
  std::string load_text;  // "4 in flight", "200/s Poisson", "stages 100:10,200:10"
  std::int64_t started_unix_ns = 0;
  Duration duration{0};
  std::vector<Window> windows;      // all of them, in order
  std::vector<SeriesPoint> series;  // all of the pass
  Stability stability;
  bool valid = true;  // false: GeneratorHealth::saturated
  bool interrupted = false;

  // Of the used windows.
  Duration measured{0};  // their length
  Counts counts;
  Latencies latencies;
  std::vector<ModelPass> models;  // as RunResult::models
  GeneratorHealth health;
  std::vector<ServerModelStatistics> server;  // empty when the server has no statistics
  std::vector<ServerMetric> metrics;

  std::vector<ErrorGroup> errors;       // of the whole pass, most frequent first
  std::vector<RequestRecord> requests;  // of the whole pass; see RunSettings::keep_requests

  bool open_loop() const { return shape != LoadShape::kConcurrency; }
  double requests_per_second() const;
  double inferences_per_second() const;
  double responses_per_second() const;
  double errors_per_second() const;
};

// The answer to --find-max.
struct FindMaxResult {
  bool found = false;  // false: even the lowest rate broke the bound, or it was interrupted
  double rate = 0;     // the highest rate that keeps the bound, as all trials together say
  // With the probability `confidence` it is between these; 0: no rate that was allowed broke it.
  double rate_low = 0;
  double rate_high = 0;
  double confidence = 0;
  double lowest_broken = 0;  // lowest rate whose trial broke it; 0: none did
  Duration bound{0};
  double percentile = 0;  // 99
  std::string text;       // for people
};

// Where the curve bends: the smallest load that reaches most of the best throughput.
struct Knee {
  std::size_t pass = 0;  // index into RunResult::passes
  double share = 0;      // of the best throughput, 0..1
};

// Throughput within the latency bound, beyond the highest load that keeps it.
struct Goodput {
  std::size_t pass = 0;
  double good_per_second = 0;  // completed within the bound
};

struct RunSettings {
  std::string protocol;  // "http", "grpc", "grpc stream", "engine"
  std::string url;       // or the model's path with --engine
  bool count_windows = false;
  Duration measurement_interval{0};
  std::uint64_t measurement_request_count = 0;
  double stability_percentage = 10;
  int max_trials = 10;
  std::optional<double> percentile;  // the latency that must settle; nothing: the mean
  Duration latency_threshold{0};     // 0: none
  int threads = 1;
  std::uint64_t seed = 0;
  bool keep_requests = false;
  std::vector<std::string> others;  // further flags that shape the load, as given
};

struct ModelUnderLoad {
  ModelSignature signature;
  double weight = 1;
  std::int64_t batch_size = 1;
  std::size_t payloads = 0;
  std::size_t distinct = 0;
  std::size_t payload_bytes = 0;  // of the inputs, mean
  std::string description;        // PayloadSet::description
};

struct RunResult {
  std::string command_line;
  std::string version;      // of proa
  std::string server_name;  // from the server's metadata; "" when unknown
  std::string server_version;
  std::string machine;  // processor, cores, kernel of the generator's machine
  std::int64_t started_unix_ms = 0;
  Duration duration{0};
  RunSettings settings;
  std::vector<ModelUnderLoad> models;  // at least one
  std::vector<Pass> passes;            // in the order they ran
  std::optional<FindMaxResult> find_max;
  std::optional<std::size_t> binary_search;  // the answer's pass, index
  bool unanswered = false;                   // a search found no load that keeps the threshold
  std::optional<Knee> knee;
  std::vector<Goodput> goodput;
  bool interrupted = false;
  std::vector<std::string> warnings;  // what a reader must know: "closed loop cannot see ..."
};

// What the terminal shows while a pass runs.
struct Progress {
  std::string load_text;
  int window = 0;  // 1, 2, ...
  int max_windows = 0;
  Duration left_at_most{0};
  SeriesPoint last;          // the latest second or so
  std::uint64_t errors = 0;  // of the pass so far
};

}  // namespace proa::loadgen
