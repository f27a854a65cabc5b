#pragma once

#include <vector>

#include "backends/openvino/background_warm_up.h"
#include "backends/openvino/binding.h"
#include "base/clock.h"
#include "core/backend.h"
#include "openvino/runtime/infer_request.hpp"
#include "openvino/runtime/tensor.hpp"
#include "tensor/buffer.h"

namespace proa::backends::openvino {

// One infer request of a compiled model. infer() computes on the caller's thread, with that
// stream's helpers: for models of microseconds it costs 6 us against 50 us for start_async() and a
// callback, for larger ones both cost the same.
//
// Inputs of a batch of one request are used where they lie; those of several are gathered once into
// the instance's own memory. Outputs are written straight into the buffers that travel to the
// clients. Outlived by the model that made it.
// Threading: see core::Instance.
class OpenVinoInstance final : public core::Instance {
 public:
  // `background` may be null; it and `binding` must outlive the instance.
  OpenVinoInstance(ov::InferRequest request, const Binding& binding, BackgroundWarmUp* background,
                   const Clock& clock);

  void start(std::unique_ptr<core::Batch> batch, Done done) override;

 private:
  Status run(core::Batch& batch);
  // Answers requests whose numbers OpenVINO cannot compute; false when none is left.
  bool refuse_unfit_numbers(core::Batch& batch) const;
  Status set_inputs(const core::Batch& batch);
  Status set_outputs(std::int64_t batch_size);
  Status take_outputs(core::Batch& batch);
  Result<Tensor> take_output(std::size_t i, std::int64_t batch_size);
  // The output that equals an input: the request's own bytes, or a copy of the gathered ones.
  Tensor copy_of_input(const core::Batch& batch, std::size_t i) const;

  ov::InferRequest request_;
  const Binding& binding_;
  BackgroundWarmUp* background_;
  const Clock& clock_;

  std::vector<Buffer> gathered_;  // by input; grown to the largest batch seen
  std::vector<Buffer> outputs_;   // by output; of the running batch, empty when OpenVINO allocates
  std::vector<ov::Tensor> dynamic_;  // by output; what OpenVINO allocates into
};

}  // namespace proa::backends::openvino
