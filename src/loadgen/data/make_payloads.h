#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/result.h"
#include "image/picture_plan.h"
#include "loadgen/payloads.h"
#include "tensor/given_shape.h"

namespace proa::loadgen {

// What to send. The comments name the flags that errors speak of.
struct DataOptions {
  // --input-data: "random", "zero", a folder or a JSON file; several JSON files add up. Empty:
  // random. A folder that holds a file for every input, named like it, is read as perf_analyzer
  // reads it; any other one holds pictures.
  std::vector<std::string> input_data;
  std::int64_t batch_size = 1;                   // -b
  std::vector<GivenShape> shapes;                // --shape
  std::string string_data;                       // --string-data; "": random strings
  std::size_t string_length = 128;               // --string-length
  std::size_t distinct = 16;                     // --distinct-payloads: of random data
  std::uint64_t seed = 1;                        // --seed
  Parameters parameters;                         // --request-parameter
  std::string picture_input;                     // --picture-input; "": found by its shape
  image::PictureOptions picture;                 // --mean, --scale, --resize, --crop, ...
  std::size_t max_bytes = std::size_t{1} << 30;  // of all payloads together
};

// Makes the requests of one model:
//   random    `distinct` requests: FP in [0, 1), UINT8 0..255, other integers 0..99, BOOL 0 or 1,
//             strings of letters and digits; the same for the same seed
//   zero      one request of zeros (empty strings)
//   pictures  one element a picture, decoded and prepared for the picture input (BYTES and
//             one-dimensional UINT8 inputs get the file's bytes as they are)
//   JSON      one element an entry of `data`; a stream an array in it
// A batch is made of that many elements one after the other of a stream, starting over at its end.
// Errors: kInvalidArgument naming file, entry and tensor, and what would mend it; kNotFound.
Result<PayloadSet> make_payloads(const ModelSignature& model, const DataOptions& options);

}  // namespace proa::loadgen
