#include "loadgen/schedules/picker.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace proa::loadgen {
namespace {

constexpr std::size_t kLength = 20;  // of a sequence

}  // namespace

Picker::Picker(const PickerOptions& options)
    : options_(options),
      sequences_(options.sequences / static_cast<std::size_t>(options.workers)),
      next_id_(options.ids.first + static_cast<std::uint64_t>(options.worker)),
      random_(options.seed + static_cast<std::uint64_t>(options.worker)) {
  const auto worker = static_cast<std::size_t>(options.worker);
  if (worker < options.sequences % static_cast<std::size_t>(options.workers)) ++sequences_;
  for (std::size_t i = 0; i < options.sets.size(); ++i) {
    Model model;
    model.set = options.sets[i];
    model.weight = options.weights[i];
    model.next_payload = worker % model.set->payloads.size();
    model.next_stream = worker % model.set->streams.size();
    total_weight_ += model.weight;
    models_.push_back(std::move(model));
  }
}

// Smooth weighted round robin: everybody earns its weight, the richest is picked and pays for all.
std::uint32_t Picker::pick_model() {
  if (models_.size() == 1) return 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    models_[i].credit += models_[i].weight;
    if (models_[i].credit > models_[best].credit) best = i;
  }
  models_[best].credit -= total_weight_;
  return static_cast<std::uint32_t>(best);
}

Picker::Choice Picker::next() {
  const std::uint32_t index = pick_model();
  Model& model = models_[index];
  const auto workers = static_cast<std::size_t>(options_.workers);
  if (!model.set->model.sequences) {
    const std::size_t payload = model.next_payload;
    model.next_payload = (payload + workers) % model.set->payloads.size();
    return {index, static_cast<std::uint32_t>(payload), {}};
  }
  const std::size_t active = model.idle.size() + model.busy.size();
  if (model.idle.empty() || active < sequences_) {
    return step(index, begin_sequence(model), false);
  }
  const Sequence sequence = model.idle.front();
  model.idle.pop_front();
  return step(index, sequence, false);
}

std::uint64_t Picker::take_id() {
  const SequenceIds& ids = options_.ids;
  const auto after = [&](std::uint64_t id) {
    const std::uint64_t next = id + static_cast<std::uint64_t>(options_.workers);
    const bool around = ids.end != 0 && next >= ids.end;
    return around ? ids.first + static_cast<std::uint64_t>(options_.worker) : next;
  };
  std::uint64_t id = next_id_;
  while (ids_in_use_.contains(id)) {
    id = after(id);
    if (id == next_id_) break;  // an overload has more sequences than ids
  }
  if (ids.end != 0) ids_in_use_.insert(id);
  next_id_ = after(id);
  return id;
}

Picker::Sequence Picker::begin_sequence(Model& model) {
  Sequence sequence;
  sequence.id = take_id();
  const Stream& stream = model.set->streams[model.next_stream];
  model.next_stream =
      (model.next_stream + static_cast<std::size_t>(options_.workers)) % model.set->streams.size();
  sequence.first = stream.first;
  sequence.count = stream.count;
  if (model.set->from_file && !options_.sequence_length) {
    sequence.length = stream.count;
    return sequence;
  }
  const double spread = options_.length_variation;
  const double factor = std::uniform_real_distribution<double>(1 - spread, 1 + spread)(random_);
  const double length =
      std::round(static_cast<double>(options_.sequence_length.value_or(kLength)) * factor);
  sequence.length = static_cast<std::size_t>(std::max(length, 1.0));
  return sequence;
}

// `last`: the sequence ends here, however long it was to be.
Picker::Choice Picker::step(std::uint32_t index, Sequence sequence, bool last) {
  Choice choice;
  choice.model = index;
  choice.payload = static_cast<std::uint32_t>(sequence.first + sequence.sent % sequence.count);
  choice.sequence.id = sequence.id;
  choice.sequence.start = sequence.sent == 0;
  ++sequence.sent;
  choice.sequence.end = last || sequence.sent >= sequence.length;
  if (!choice.sequence.end) models_[index].busy.push_back(sequence);
  return choice;
}

void Picker::finished(const Exchange& exchange) {
  if (exchange.sequence.end || exchange.failure != nullptr) {
    ids_in_use_.erase(exchange.sequence.id);
  }
  if (exchange.sequence.id == 0 || exchange.sequence.end) return;
  Model& model = models_[exchange.model];
  const auto at = std::ranges::find(model.busy, exchange.sequence.id, &Sequence::id);
  PROA_CHECK(at != model.busy.end(), "a sequence that is not under way");
  if (exchange.failure == nullptr) model.idle.push_back(*at);
  *at = model.busy.back();
  model.busy.pop_back();
}

std::optional<Picker::Choice> Picker::next_to_close() {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (models_[i].idle.empty()) continue;
    const Sequence sequence = models_[i].idle.front();
    models_[i].idle.pop_front();
    return step(static_cast<std::uint32_t>(i), sequence, true);
  }
  return std::nullopt;
}

}  // namespace proa::loadgen
