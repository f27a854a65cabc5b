#pragma once

#include <memory>
#include <utility>

#include "core/ensemble_run.h"

namespace proa::core {

// Brings the answer of one step back to its run. Threading: as ResponseSink.
class EnsembleRun::StepSink final : public ResponseSink {
 public:
  StepSink(std::shared_ptr<EnsembleRun> of, Frame& in, std::size_t number)
      : frame(in), step(number), run_(std::move(of)) {}

  void send(Response response, bool final) override {
    run_->on_response(*this, std::move(response), final);
  }
  std::size_t credit() const override { return run_->credit(); }
  void when_credit(std::move_only_function<void()> ready) override {
    run_->when_credit(std::move(ready));
  }

  Frame& frame;
  const std::size_t step;
  TimeSpent spent;
  bool outputs_taken = false;

 private:
  const std::shared_ptr<EnsembleRun> run_;
};

}  // namespace proa::core
