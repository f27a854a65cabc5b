#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "loadgen/measure/slice.h"
#include "loadgen/run/pass_runner.h"

namespace proa::loadgen {

// Puts the slices of a pass together: series, windows, and at the end the pass's figures. Knows no
// threads and no clock.
// Threading: confined to one thread.
class PassBuilder {
 public:
  PassBuilder(const PassOptions& options, const Load& load, Duration slice_length);

  // The next slice. True: it completed a window.
  bool add(Slice slice);
  // A slice from after the end of the load: its errors and records count, its times do not.
  void add_late(const Slice& slice);
  // The server's counters at the start of the pass, and after each window; of a load that ends by
  // itself, at its end.
  void add_snapshot(std::optional<ServerSnapshot> snapshot);

  // Whether the last three windows agree.
  bool settled() const;
  std::size_t windows() const { return pass_.windows.size(); }
  // The figures of the windows so far; for verdicts.
  const Pass& so_far(int threads);
  const std::vector<SeriesPoint>& series() const { return pass_.series; }
  // How long nothing has been sent, answered or failed.
  Duration quiet() const;
  // All of the pass so far.
  const Counts& total() const { return total_; }
  // Requests that were due so far, in open loop.
  std::uint64_t asked() const { return asked_; }

  // The pass; the builder is spent. `ends_by_itself`: all windows count and need not agree.
  Pass finish(bool interrupted, bool ends_by_itself, const Client::Statistics& connections,
              int threads);

 private:
  // What a window saw, beyond what Window holds.
  struct WindowParts {
    Slice slice;
    double asked = 0;  // requests that were due
  };

  void append_point(Slice& slice);
  bool window_is_full(Duration length) const;
  void keep_errors_and_records(const Slice& slice);
  void close_window(Duration length);
  std::pair<std::size_t, std::size_t> used_windows(bool all) const;
  void sum_up(std::size_t first, std::size_t last);
  // What the server counted between two snapshots.
  void compare_snapshots(std::size_t first, std::size_t last);
  void judge_stability(bool ends_by_itself);

  const PassOptions options_;
  const Duration slice_length_;
  std::unique_ptr<Arrivals> arrivals_;  // open loop: counts what was due
  Duration next_arrival_{0};
  std::uint64_t arrivals_left_;  // of a load that ends after so many
  Duration last_event_{0};       // the end of the last slice in which anything happened
  Pass pass_;
  std::vector<WindowParts> parts_;  // by window
  std::optional<WindowParts> open_;
  Duration open_start_{0};
  std::vector<std::optional<ServerSnapshot>> snapshots_;
  std::map<std::string, ErrorGroup> all_errors_;
  Counts total_;
  std::uint64_t asked_ = 0;
};

}  // namespace proa::loadgen
