// What follows in an ensemble's run from a tensor, an answer, an end: its state under the lock.
// ensemble_run.cc acts on it.
#include <algorithm>
#include <utility>

#include "core/ensemble_run.h"
#include "core/ensemble_step_sink.h"
#include "core/reshape.h"

namespace proa::core {
namespace {

// `shape` for a tensor that `config` describes so: with the batch dimension where the model batches
// and without where it does not, when one side has it and the other has not.
Shape fit_batch(const Shape& shape, const config::ModelConfig& config,
                const config::Tensor& described) {
  const std::size_t rank = described.dims.rank();
  if (config.batches() && shape.rank() == rank) return shape.with_first(1);
  if (!config.batches() && shape.rank() == rank + 1 && shape[0] == 1) return shape.without_first();
  return shape;
}

}  // namespace

// Counts what runs in the frame, and what each of it waits for.
void EnsembleRun::open_frame_locked(Frame& frame) {
  frame.values.resize(plan_.tensors());
  for (std::size_t t = 0; t < plan_.tensors(); ++t) frame.values[t].uses = route_.readers[t].size();
  frame.waits = route_.waits;
  for (std::size_t s = 0; s <= plan_.steps.size(); ++s) {
    if (binding_.step_scopes[s] != frame.scope) continue;
    if (s == plan_.answer() || route_.needed[s]) ++frame.open;
  }
  // What is there outside need not be waited for.
  for (const Frame* outer = frame.around; outer != nullptr; outer = outer->around) {
    for (std::size_t t = 0; t < plan_.tensors(); ++t) {
      if (binding_.tensor_scopes[t] != outer->scope) continue;
      if (outer->values[t].state == Value::State::kAwaited) continue;
      for (const std::size_t reader : route_.readers[t]) {
        if (binding_.step_scopes[reader] == frame.scope) --frame.waits[reader];
      }
    }
  }
}

// The tensor has come, or will not come (no type). It belongs to the frame.
void EnsembleRun::settle_locked(Frame& frame, std::size_t tensor, Tensor value) {
  Value& place = frame.values[tensor];
  const bool there = value.type != DataType::kInvalid;
  place.state = there ? Value::State::kThere : Value::State::kAbsent;
  if (place.uses > 0) place.tensor = std::move(value);
  for (const std::size_t reader : route_.readers[tensor]) tell_frames_locked(frame, reader);
}

// One tensor less that the step waits for, in the frames that it runs in.
void EnsembleRun::tell_frames_locked(Frame& frame, std::size_t step) {
  if (binding_.step_scopes[step] != frame.scope) {
    ++frame.open;  // inner frames may end now, and this one with the last of them
    for (auto inner = frame.frames.begin(); inner != frame.frames.end();) {
      tell_frames_locked(*inner++, step);
    }
    end_in_locked(frame);
    return;
  }
  if (--frame.waits[step] > 0) return;
  if (step == plan_.answer()) {
    answer_locked(frame);
  } else {
    make_task_locked(frame, step);
  }
}

// The tensor for one reader; no type = absent.
Tensor EnsembleRun::take_locked(Frame& frame, std::size_t tensor) {
  Frame* home = &frame;
  while (home->scope != binding_.tensor_scopes[tensor]) home = home->around;
  Value& value = home->values[tensor];
  // Steps in inner frames read it as often as there are responses.
  const bool last = !binding_.decoupled && --value.uses == 0;
  return last ? std::move(value.tensor) : value.tensor;
}

void EnsembleRun::make_task_locked(Frame& frame, std::size_t step) {
  ++running_;
  Task& task = ready_.emplace_back();
  task.run = shared_from_this();
  task.frame = &frame;
  task.step = step;
  const config::ModelConfig& config = pin_->models[step]->config();
  for (const EnsemblePlan::Edge& edge : plan_.steps[step].inputs) {
    Tensor tensor = take_locked(frame, edge.tensor);
    if (tensor.type == DataType::kInvalid) continue;
    const auto& described = config.inputs[static_cast<std::size_t>(config.find_input(edge.name))];
    task.inputs.push_back({edge.name, tensor.type, fit_batch(tensor.shape, config, described),
                           std::move(tensor.data)});
  }
}

void EnsembleRun::answer_locked(Frame& frame) {
  const config::ModelConfig& config = ensemble_.config();
  Response response;
  response.outputs.resize(plan_.outputs.size());
  for (std::size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (!request_->wants_output(i)) continue;
    Tensor& output = response.outputs[i];
    output = take_locked(frame, plan_.outputs[i]);
    if (output.type == DataType::kInvalid) continue;
    const config::Tensor& described = config.outputs[i];
    output.shape = fit_batch(output.shape, config, described);
    if (!described.reshape) continue;
    output.shape =
        reshaped(output.shape, config.batches() ? 1 : 0, *described.reshape, described.dims);
  }
  answers_.push_back(std::move(response));
  end_in_locked(frame);
}

// Tensors of a step's response; each response of a decoupled step has a frame of its own.
void EnsembleRun::take_outputs_locked(StepSink& sink, Response& response, bool final) {
  const EnsembleBinding::Step& bound = binding_.steps[sink.step];
  const bool empty = response.outputs.empty();
  Frame* frame = &sink.frame;
  if (bound.decoupled) {
    if (empty) return;
    ++frame->open;
    ++frames_;
    Frame& opened = frame->frames.emplace_back();
    opened.around = frame;
    opened.scope = sink.step;
    opened.memory = request_->memory.empty_share();
    open_frame_locked(opened);
    frame = &opened;
    ++frame->open;  // until all its tensors are in place
  } else if (sink.outputs_taken || (empty && !final)) {
    return;
  }
  sink.outputs_taken = true;
  const EnsemblePlan::Step& step = plan_.steps[sink.step];
  for (std::size_t e = 0; e < step.outputs.size(); ++e) {
    const std::size_t index = bound.outputs[e];
    Tensor tensor;
    if (index < response.outputs.size()) tensor = std::move(response.outputs[index]);
    (frame->around == nullptr ? request_->memory : frame->memory).add(tensor.data.size);
    settle_locked(*frame, step.outputs[e].tensor, std::move(tensor));
  }
  if (bound.decoupled) end_in_locked(*frame);
}

// One of what the frame waits for has ended; the last one ends the frame.
void EnsembleRun::end_in_locked(Frame& frame) {
  if (--frame.open > 0 || frame.around == nullptr) return;
  Frame& around = *frame.around;
  around.frames.remove_if([&](const Frame& inner) { return &inner == &frame; });
  --frames_;
  end_in_locked(around);
}

void EnsembleRun::fail_locked(Error error) {
  if (!error_) error_ = std::move(error);
}

std::optional<EnsembleRun::Outgoing> EnsembleRun::next_answer_locked() {
  const bool several = ensemble_.config().decoupled;
  const bool ended = running_ == 0;
  Outgoing next;
  if (!answers_.empty() && (several || (ended && !error_))) {
    next.response = std::move(answers_.front());
    answers_.erase(answers_.begin());
    // One behind which nothing comes is the end itself, as that of a decoupled model may be.
    next.last = !several || (ended && !error_ && answers_.empty());
  } else if (ended) {
    next.last = true;
    next.response.error = std::move(error_);
    if (!several && !next.response.error) {
      next.response.error = error::internal(
          "in ensemble '{}', no step is left and an output is not there", ensemble_.config().name);
    }
  } else {
    return std::nullopt;
  }
  next.spent = spent_;
  return next;
}

bool EnsembleRun::must_wait_locked() const { return frames_ >= ensemble_.max_frames() && !error_; }

}  // namespace proa::core
