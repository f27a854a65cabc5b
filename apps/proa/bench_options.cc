#include "bench_options.h"

#include "CLI/CLI.hpp"
#include "base/text.h"
#include "bench_refused_flags.h"
#include "picture_flags.h"

namespace proa {
namespace {

constexpr const char* kExamples =
    "Exactly one load is given; without any it is one request in flight. Exit status: 0; 1 when\n"
    "requests failed or nothing could be measured; 2 for the command line; 3 when the figures are\n"
    "not stable or the generator was the limit; 4 for a regression against --compare.\n"
    "\n"
    "Examples:\n"
    "  proa bench -m lite0 --concurrency-range 1:8\n"
    "  proa bench -m lite0 -i grpc --request-rate-range 100:500:100 --request-distribution "
    "poisson\n"
    "  proa bench -m lite0 --find-max --latency-ms 100 --percentile 99\n"
    "  proa bench -m lite0 --stages 100:10,100-500:20,500:10\n"
    "  proa bench -m detector=3 -m classifier=1 --concurrency-range 16\n"
    "  proa bench --engine model.onnx --concurrency-range 1:4";

void add_target_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "What is under load";
  command
      .add_option("-m,--model-name", options.models,
                  "Model on the server; several share the load by their weights")
      ->option_text("NAME[=WEIGHT]")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("-x,--model-version", options.version, "Version (default: the server's choice)")
      ->option_text("N")
      ->group(group);
  command.add_option("-u,--url", options.url, "Server (default localhost:8000, 8001 for gRPC)")
      ->option_text("HOST:PORT")
      ->group(group);
  command.add_option("-i,--protocol", options.protocol, "How to talk to it")
      ->transform([](const std::string& text) { return lower_case(text); })
      ->check(CLI::IsMember({"http", "grpc"}))
      ->option_text("http|grpc  (default http)")
      ->group(group);
  command.add_flag("--streaming", options.streaming, "gRPC streams (ModelStreamInfer)")
      ->group(group);
  command
      .add_option("--engine", options.engine, "A model file or folder in this process, no server")
      ->option_text("PATH")
      ->group(group);
  command.add_option("-H,--header", options.headers, "Sent with every request; repeatable")
      ->option_text("NAME:VALUE")
      ->allow_extra_args(false)
      ->group(group);
}

void add_load_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "Load";
  command
      .add_option("--concurrency-range", options.concurrency_range,
                  "Closed loop: so many requests in flight")
      ->option_text("START[:END[:STEP]]")
      ->group(group);
  command
      .add_option("--request-rate-range", options.request_rate_range,
                  "Open loop: so many requests a second, whatever comes back")
      ->option_text("START[:END[:STEP]]")
      ->group(group);
  command
      .add_option("--request-distribution", options.request_distribution,
                  "Gaps between requests of a rate")
      ->check(CLI::IsMember({"constant", "poisson"}))
      ->option_text("constant|poisson  (default constant)")
      ->group(group);
  command
      .add_option("--request-intervals", options.request_intervals,
                  "Open loop by a file of gaps, one number of microseconds a line")
      ->option_text("FILE")
      ->group(group);
  command
      .add_option("--stages", options.stages,
                  "Open loop at rates that change: 100:10,100-500:20 holds 100/s for 10 s, then "
                  "rises to 500/s within 20 s")
      ->option_text("RATE[-RATE]:SECONDS,...")
      ->group(group);
  command
      .add_flag("--binary-search", options.binary_search,
                "The largest load of the range that keeps --latency-ms")
      ->group(group);
  command
      .add_flag("--find-max", options.find_max,
                "The highest rate in open loop that keeps --latency-ms at --percentile")
      ->group(group);
  command
      .add_option("--latency-ms,-l,--latency-threshold", options.latency_ms,
                  "Bound on the latency (--percentile, or the mean); a range ends beyond it")
      ->check(CLI::Range(0.001, 3.6e6))
      ->option_text("MS")
      ->group(group);
  command
      .add_option("--request-count", options.request_count, "End each load after so many requests")
      ->option_text("N")
      ->group(group);
  command
      .add_option("--warmup-request-count", options.warmup_request_count,
                  "Requests before each load, not measured")
      ->option_text("N")
      ->group(group);
}

void add_generator_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "Generator";
  command.add_option("--max-threads", options.max_threads, "Threads that send (default 1)")
      ->check(CLI::Range(1, 256))
      ->option_text("N")
      ->group(group);
  command
      .add_option("--max-connections", options.max_connections,
                  "Connections of a thread; in open loop requests beyond them wait and are late")
      ->check(CLI::Range(1, 100000))
      ->option_text("N  (default 2000)")
      ->group(group);
  command
      .add_option("--request-timeout-ms", options.request_timeout_ms,
                  "Give a request up after so long (to 0.1 s); 0 = never")
      ->check(CLI::Range(0.0, 3.6e6))
      ->option_text("MS  (default 0)")
      ->group(group);
  command.add_option("--seed", options.seed, "Of random data and arrivals")
      ->option_text("N  (default 1)")
      ->group(group);
}

void add_measurement_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "Measurement";
  command.add_option("--measurement-mode", options.measurement_mode, "What ends a window")
      ->check(CLI::IsMember({"time_windows", "count_windows"}))
      ->option_text("time_windows|count_windows  (default time_windows)")
      ->group(group);
  command
      .add_option("-p,--measurement-interval", options.measurement_interval_ms,
                  "Length of a window; three that agree end a pass")
      ->check(CLI::Range(std::int64_t{100}, std::int64_t{3'600'000}))
      ->option_text("MS  (default 5000)")
      ->group(group);
  command
      .add_option("--measurement-request-count", options.measurement_request_count,
                  "Requests of a window with count_windows; it lasts a second at least")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->option_text("N  (default 50)")
      ->group(group);
  command
      .add_option("-s,--stability-percentage", options.stability_percentage,
                  "How far windows that agree may be from their mean")
      ->check(CLI::Range(0.1, 1000.0))
      ->option_text("PERCENT  (default 10)")
      ->group(group);
  command.add_option("-r,--max-trials", options.max_trials, "Windows of a pass at most")
      ->check(CLI::Range(1, 100000))
      ->option_text("N  (default 10)")
      ->group(group);
  command
      .add_option(
          "--percentile", options.percentile,
          "The latency that must settle and that --latency-ms bounds (default: the mean; 99 "
          "for --find-max)")
      ->check(CLI::Range(1.0, 99.999) | CLI::Range(-1.0, -1.0))  // -1: perf_analyzer's mean
      ->option_text("P")
      ->group(group);
  command
      .add_flag("--collect-metrics", options.collect_metrics,
                "Read the server's metrics before and after")
      ->group(group);
  command.add_option("--metrics-url", options.metrics_url, "Where they are")
      ->option_text("HOST:PORT/PATH  (default: the server's host, localhost:8002/metrics)")
      ->group(group);
}

void add_data_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "Data";
  command.add_option("-b,--batch-size", options.batch_size, "Inferences in a request")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->option_text("N  (default 1)")
      ->group(group);
  command
      .add_option(
          "--input-data", options.input_data,
          "random, zero, a folder (pictures, or a file an input), or a JSON file; repeatable")
      ->option_text("DATA  (default random)")
      ->allow_extra_args(false)
      ->group(group);
  command.add_flag("-z", options.zero_input, "The same as --input-data zero")->group(group);
  command.add_option("--shape", options.shapes, "Extents of an input that is open; repeatable")
      ->option_text("NAME:2,3")
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--string-data", options.string_data, "What string elements hold")
      ->option_text("TEXT  (default: random letters)")
      ->group(group);
  command.add_option("--string-length", options.string_length, "Of random strings")
      ->check(CLI::Range(std::size_t{0}, std::size_t{16} << 20))
      ->option_text("N  (default 128)")
      ->group(group);
  command
      .add_option("--distinct-payloads", options.distinct, "How many random requests take turns")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000}))
      ->option_text("N  (default 16)")
      ->group(group);
  command
      .add_option("--request-parameter", options.request_parameters,
                  "Of every request; types: string, bool, int, uint, double; repeatable")
      ->option_text("NAME:VALUE:TYPE")
      ->allow_extra_args(false)
      ->group(group);
  const CLI::IsMember formats({"binary", "json"});
  command.add_option("--input-tensor-format", options.input_format, "How HTTP carries inputs")
      ->check(formats)
      ->option_text("binary|json  (default binary)")
      ->group(group);
  command.add_option("--output-tensor-format", options.output_format, "How HTTP carries outputs")
      ->check(formats)
      ->option_text("binary|json  (default binary)")
      ->group(group);
}

void add_sequence_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "Sequence models";
  command
      .add_option("--num-of-sequences", options.sequences,
                  "Sequences that take turns in open loop, at least")
      ->option_text("N  (default 4)")
      ->group(group);
  command
      .add_option("--sequence-length", options.sequence_length,
                  "Requests of a sequence, whatever streams of --input-data hold")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}))
      ->option_text("N  (default: that of its --input-data stream, else 20)")
      ->group(group);
  command
      .add_option("--sequence-length-variation", options.sequence_length_variation,
                  "By how many percent lengths differ, both ways")
      ->check(CLI::Range(0.0, 100.0))
      ->option_text("PERCENT  (default 20)")
      ->group(group);
  command
      .add_option("--sequence-id-range", options.sequence_id_range,
                  "Ids that sequences take in turn, END left out")
      ->option_text("START[:END]  (default 1, without end)")
      ->group(group);
}

void add_report_options(CLI::App& command, BenchOptions& options) {
  const std::string group = "Reports";
  command.add_option("-f,--csv", options.csv, "perf_analyzer's columns")
      ->option_text("FILE")
      ->group(group);
  command.add_flag("--verbose-csv", options.verbose_csv, "With its further columns")->group(group);
  command.add_option("--json", options.json, "Everything, in a documented form")
      ->option_text("FILE")
      ->group(group);
  command.add_option("--html", options.html, "A page with plots, of one file")
      ->option_text("FILE")
      ->group(group);
  command.add_option("--compare", options.compare, "A --json file of another run, side by side")
      ->check(CLI::ExistingFile)
      ->option_text("FILE")
      ->group(group);
  command
      .add_option("--max-regression", options.max_regression,
                  "Loss against --compare that makes the exit status 4")
      ->check(CLI::Range(0.0, 1000.0))
      ->option_text("PERCENT  (default 5)")
      ->group(group);
  command
      .add_option("--profile-export-file", options.profile_export,
                  "The instants of every request, as JSON")
      ->option_text("FILE")
      ->group(group);
}

}  // namespace

CLI::App* add_bench_command(CLI::App& app, BenchOptions& options) {
  CLI::App* command = app.add_subcommand("bench", "Measure a server, or a model alone, under load");
  command->footer(kExamples);
  add_target_options(*command, options);
  add_load_options(*command, options);
  add_measurement_options(*command, options);
  add_data_options(*command, options);
  add_picture_flags(*command, options.picture, options.picture_input);
  add_sequence_options(*command, options);
  add_generator_options(*command, options);
  add_report_options(*command, options);
  add_other_perf_analyzer_flags(*command);
  return command;
}

}  // namespace proa
