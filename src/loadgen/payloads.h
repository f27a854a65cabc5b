#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/result.h"
#include "tensor/tensor.h"

namespace proa::loadgen {

// What is sent: requests of one model, prepared before the load starts. The clients encode each
// payload once, to an HTTP or a gRPC body, and send those bytes over and over; nothing is made on
// the path. data/make_payloads.h makes them from random numbers, pictures or a JSON file.

// One input or output of a model as its metadata tell it. `shape` is that of one request WITHOUT
// the batch dimension, also where the metadata show it; Shape::kAny where an extent is open.
struct TensorSignature {
  std::string name;
  DataType type = DataType::kInvalid;
  Shape shape;
  bool optional = false;
};

// What the target said about a model (its metadata and configuration). Filled by control/.
struct ModelSignature {
  std::string name;
  std::string version;              // "" = the server's choice
  std::int64_t max_batch_size = 0;  // 0: the model has no batch dimension
  bool sequences = false;           // the model wants sequence_id, sequence_start, sequence_end
  bool decoupled = false;           // 0..N responses to a request
  std::vector<TensorSignature> inputs;
  std::vector<TensorSignature> outputs;

  bool batches() const { return max_batch_size > 0; }
};

struct NamedTensor {
  std::string name;
  Tensor tensor;  // full shape, batch dimension included; kBytes in its length-prefixed form
};

// One request without its id and without sequence fields, which belong to the schedule.
struct Payload {
  std::vector<NamedTensor> inputs;  // in the order of the model's inputs
  Parameters parameters;            // of the request
  // What the answer must hold (`validation_data`); empty: answers are not compared.
  std::vector<NamedTensor> expected;

  std::size_t input_bytes() const;
};

// Consecutive payloads that belong together: one sequence of a sequence model, or one stream of an
// --input-data file. Every payload belongs to exactly one stream.
struct Stream {
  std::size_t first = 0;
  std::size_t count = 0;
};

// The requests of one model.
// Threading: immutable once made; any thread may read. Tensors share their buffers.
struct PayloadSet {
  ModelSignature model;
  std::int64_t batch_size = 1;    // inferences in a request
  std::vector<Payload> payloads;  // at least one
  std::vector<Stream> streams;    // at least one; they cover `payloads` in order
  bool from_file = false;         // streams are those of --input-data, and as long as sequences
  // Payloads whose inputs differ, by content; caches make equal ones cheap.
  std::size_t distinct = 0;
  std::string description;  // "16 random requests (seed 1)", for the report
};

// Compares an answer with what was expected. Integers, strings and booleans must be equal;
// floating-point numbers within `tolerance` relative to the expected one (absolutely below 1);
// NaN equals NaN. Outputs that were not expected are not looked at.
// `answer` holds tensors by name, in any order.
// Errors: kFailedPrecondition naming output, element, what was wanted and what came.
// Threading: thread-safe.
Status check_answer(const Payload& payload, const std::vector<NamedTensor>& answer,
                    double tolerance);

inline constexpr double kDefaultTolerance = 1e-4;

}  // namespace proa::loadgen
