#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "loadgen/data/element.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// Errors: kInvalidArgument when the model does not take requests of that batch size.
Status check_batch_size(const ModelSignature& model, std::int64_t batch_size);

// Requests of `batch_size` elements each: consecutive ones of a stream, which starts over at its
// end, so that every element is sent equally often. Batch size 1 shares the elements' buffers.
// `parameters` and `description` are left to the caller.
// `batch_size` suits the model. Errors: kInvalidArgument when elements of one batch differ in shape
// or in which inputs they have, or the payloads would take more than `max_bytes`.
Result<PayloadSet> assemble(const ModelSignature& model, std::int64_t batch_size,
                            const std::vector<ElementStream>& streams, std::size_t max_bytes);

}  // namespace proa::loadgen
