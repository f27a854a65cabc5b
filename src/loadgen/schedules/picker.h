#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <unordered_set>
#include <vector>

#include "loadgen/clients/client.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// Ids that sequences have in turn: from `first` up to `end`, which is none, and then again those
// that are free.
struct SequenceIds {
  std::uint64_t first = 1;
  std::uint64_t end = 0;  // 0: without end
};

struct PickerOptions {
  std::vector<const PayloadSet*> sets;  // by model; outlive the picker
  std::vector<double> weights;          // by model, above 0
  // Sequence models: how many sequences of all workers take turns at least, and how long they are.
  std::size_t sequences = 1;
  std::optional<std::size_t> sequence_length;  // none: that of a file's stream, else 20
  double length_variation = 0.2;               // of the length, both ways
  SequenceIds ids;
  int worker = 0;
  int workers = 1;
  std::uint64_t seed = 1;
};

// What one worker sends next: models by their weights, payloads in order. Requests of a sequence
// model come in sequences, each of which has one request in flight at most; where a set has several
// streams, each sequence follows one of them from start to end.
// Threading: confined to the worker's thread.
class Picker {
 public:
  struct Choice {
    std::uint32_t model = 0;
    std::uint32_t payload = 0;
    SequencePlace sequence;
  };

  explicit Picker(const PickerOptions& options);

  Choice next();
  // The request has ended: its sequence may go on, unless it failed.
  void finished(const Exchange& exchange);
  // The last request of a sequence that is between two requests; nothing when there is none. For
  // the end of a load, so that the server does not keep them.
  std::optional<Choice> next_to_close();

 private:
  struct Sequence {
    std::uint64_t id = 0;
    std::size_t first = 0;   // of its payloads
    std::size_t count = 0;   // of them
    std::size_t sent = 0;    // requests
    std::size_t length = 0;  // requests in all
  };
  struct Model {
    const PayloadSet* set = nullptr;
    double weight = 1;
    double credit = 0;
    std::size_t next_payload = 0;
    std::size_t next_stream = 0;
    std::deque<Sequence> idle;  // the one that waits longest first
    std::vector<Sequence> busy;
  };

  std::uint32_t pick_model();
  std::uint64_t take_id();
  Sequence begin_sequence(Model& model);
  Choice step(std::uint32_t index, Sequence sequence, bool last);

  const PickerOptions options_;
  std::vector<Model> models_;
  double total_weight_ = 0;
  std::size_t sequences_;  // its share
  std::uint64_t next_id_;
  std::unordered_set<std::uint64_t> ids_in_use_;  // where they come again
  std::mt19937_64 random_;
};

}  // namespace proa::loadgen
