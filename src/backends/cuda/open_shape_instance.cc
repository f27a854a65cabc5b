#include "backends/cuda/open_shape_instance.h"

#include <algorithm>
#include <utility>

#include "base/thread.h"

namespace proa::backends::cuda {

std::string shapes_text(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : " ") + shape.to_string();
  return text;
}

Result<std::unique_ptr<OpenShapeInstance>> OpenShapeInstance::create(Options options) {
  std::unique_ptr<OpenShapeInstance> made(new OpenShapeInstance(std::move(options)));
  OpenShapeInstance* self = made.get();
  PROA_ASSIGN(made->builder_, try_start_thread("proa-plan-" + self->options_.placement.name,
                                               [self] { self->build(); }));
  return made;
}

OpenShapeInstance::~OpenShapeInstance() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (builder_.joinable()) builder_.join();
}

std::vector<Shape> OpenShapeInstance::shapes_of(const core::Batch& batch) const {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; batch.has_input(i); ++i) {
    Shape shape = batch.input_shape(i);
    if (options_.batches) shape = shape.without_first();
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

void OpenShapeInstance::start(std::unique_ptr<core::Batch> batch, Done done) {
  if (start_known(batch, done)) return;
  {
    MutexLock lock(mutex_);
    waiting_.push_back({std::move(batch), std::move(done)});
  }
  changed_.notify_all();
}

bool OpenShapeInstance::start_known(std::unique_ptr<core::Batch>& batch, Done& done) {
  const std::string key = shapes_text(shapes_of(*batch));
  Shaped* shaped = nullptr;
  {
    MutexLock lock(mutex_);
    const auto found = shaped_.find(key);
    if (found == shaped_.end()) return false;
    shaped = found->second.get();
    ++shaped->in_flight;
    shaped->last_use = ++uses_;
  }
  shaped->instance->start(std::move(batch), [this, shaped, done = std::move(done)](
                                                std::unique_ptr<core::Batch> finished) mutable {
    {
      MutexLock lock(mutex_);
      --shaped->in_flight;
    }
    done(std::move(finished));
  });
  return true;
}

void OpenShapeInstance::build() {
  while (true) {
    Waiting next;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) changed_.wait(mutex_);
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (start_known(next.batch, next.done)) continue;
    const std::vector<Shape> shapes = shapes_of(*next.batch);
    if (Status status = add(shapes); !status) {
      next.batch->fail(with_context(fmt::format("inputs of shape {}", shapes_text(shapes)),
                                    std::move(status).error()));
      next.done(std::move(next.batch));
      continue;
    }
    (void)start_known(next.batch, next.done);  // nobody but this thread drops shapes
  }
}

Status OpenShapeInstance::add(const std::vector<Shape>& shapes) {
  PROA_TRY(options_.health->status());
  drop_idle(options_.most_shapes - 1);
  const std::string text = shapes_text(shapes);
  const auto no_room = [](const Result<std::unique_ptr<Shaped>>& made) {
    return !made && made.error().code == ErrorCode::kResourceExhausted;
  };
  Result<std::unique_ptr<Shaped>> made = make(shapes);
  if (no_room(made) && !too_large_.contains(text)) {
    const bool alone = drop_idle(0);
    made = make(shapes);
    if (no_room(made) && alone) {
      if (too_large_.size() >= kMostTooLarge) too_large_.clear();
      too_large_.insert(text);
    }
  }
  PROA_TRY(made);
  too_large_.erase(text);
  MutexLock lock(mutex_);
  shaped_[text] = std::move(*made);
  return {};
}

Result<std::unique_ptr<OpenShapeInstance::Shaped>> OpenShapeInstance::make(
    const std::vector<Shape>& shapes) {
  auto shaped = std::make_unique<Shaped>();
  PROA_ASSIGN(shaped->model, options_.model_for(shapes));
  PROA_ASSIGN(shaped->instance, shaped->model->create_instance(options_.placement));
  return shaped;
}

bool OpenShapeInstance::drop_idle(std::size_t most) {
  std::vector<std::unique_ptr<Shaped>> dropped;  // ended outside the lock
  MutexLock lock(mutex_);
  while (shaped_.size() > most) {
    auto oldest = shaped_.end();
    for (auto at = shaped_.begin(); at != shaped_.end(); ++at) {
      if (at->second->in_flight > 0) continue;
      if (oldest == shaped_.end() || at->second->last_use < oldest->second->last_use) oldest = at;
    }
    if (oldest == shaped_.end()) return false;
    dropped.push_back(std::move(oldest->second));
    shaped_.erase(oldest);
  }
  return true;
}

}  // namespace proa::backends::cuda
