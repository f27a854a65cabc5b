#include "loadgen/report/profile_export.h"

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "proto/json_text.h"

namespace proa::loadgen {
namespace {

std::string request_json(const RequestRecord& request, std::int64_t start_ns) {
  std::string responses;
  if (request.responses.empty()) {
    responses = fmt::format("{}", start_ns + request.done.count());
  } else {
    std::vector<std::int64_t> instants;
    for (const Duration response : request.responses) {
      instants.push_back(start_ns + response.count());
    }
    responses = fmt::format("{}", fmt::join(instants, ","));
  }
  std::string text =
      fmt::format("{{\"timestamp\":{},\"due\":{},\"response_timestamps\":[{}]",
                  start_ns + request.sent.count(), start_ns + request.due.count(), responses);
  if (request.sequence_id != 0) text += fmt::format(",\"sequence_id\":{}", request.sequence_id);
  return text + '}';
}

std::string experiment_json(const Pass& pass, std::int64_t start_ns) {
  std::string text = fmt::format("{{\"experiment\":{{\"mode\":\"{}\",\"value\":{}}},\"requests\":[",
                                 pass.open_loop() ? "request_rate" : "concurrency", pass.load);
  bool first = true;
  for (const RequestRecord& request : pass.requests) {
    if (request.failed) continue;
    if (!first) text += ',';
    first = false;
    text += request_json(request, start_ns);
  }
  text += "],\"window_boundaries\":[";
  for (std::size_t i = 0; i < pass.windows.size(); ++i) {
    const Window& window = pass.windows[i];
    if (i == 0) text += fmt::format("{}", start_ns + window.start.count());
    text += fmt::format(",{}", start_ns + (window.start + window.duration).count());
  }
  return text + "]}";
}

}  // namespace

std::string profile_export(const RunResult& run) {
  std::string text = "{\"experiments\":[";
  for (std::size_t i = 0; i < run.passes.size(); ++i) {
    if (i > 0) text += ',';
    text += experiment_json(run.passes[i], run.passes[i].started_unix_ns);
  }
  text += "],\"version\":";
  proto::append_json_string(text, run.version);
  return text + ",\"service_kind\":\"triton\",\"endpoint\":\"\"}\n";
}

}  // namespace proa::loadgen
