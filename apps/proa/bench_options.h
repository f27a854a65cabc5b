#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "image/picture_plan.h"

namespace CLI {
class App;
}

namespace proa {

// `proa bench` as it was called. Flags carry perf_analyzer's names where they mean the same; texts
// that have a form of their own ("1:8:2") are taken apart by bench_plan.h.
struct BenchOptions {
  // What is under load
  std::vector<std::string> models;  // NAME or NAME=WEIGHT
  std::string version;
  std::string url;  // "" = localhost and the protocol's port
  std::string protocol = "http";
  bool streaming = false;
  std::string engine;  // a model's path, instead of a server
  std::vector<std::string> headers;

  // Load
  std::string concurrency_range;
  std::string request_rate_range;
  std::string request_distribution = "constant";
  std::string request_intervals;  // file
  std::string stages;
  bool binary_search = false;
  bool find_max = false;
  std::optional<double> latency_ms;
  std::uint64_t request_count = 0;
  std::uint64_t warmup_request_count = 0;
  int max_threads = 0;  // 0 = chosen
  int max_connections = 2000;
  double request_timeout_ms = 0;
  std::uint64_t seed = 1;

  // Measurement
  std::string measurement_mode = "time_windows";
  std::int64_t measurement_interval_ms = 5000;
  std::uint64_t measurement_request_count = 50;
  double stability_percentage = 10;
  int max_trials = 10;
  std::optional<double> percentile;
  std::string metrics_url;
  bool collect_metrics = false;

  // Data
  std::int64_t batch_size = 1;
  std::vector<std::string> input_data;
  bool zero_input = false;
  std::vector<std::string> shapes;
  std::string string_data;
  std::size_t string_length = 128;
  std::size_t distinct = 16;
  std::vector<std::string> request_parameters;  // name:value:type
  image::PictureOptions picture;
  std::string picture_input;
  std::string input_format = "binary";
  std::string output_format = "binary";

  // Sequences
  std::size_t sequences = 4;
  std::optional<std::size_t> sequence_length;
  double sequence_length_variation = 20;
  std::string sequence_id_range;

  // Reports
  std::string csv;
  bool verbose_csv = false;
  std::string json;
  std::string html;
  std::string compare;
  double max_regression = 5;
  std::string profile_export;
};

// Adds `proa bench` to `app`; `options` must outlive the parsing.
CLI::App* add_bench_command(CLI::App& app, BenchOptions& options);

}  // namespace proa
