#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "backends/index/index_options.h"
#include "backends/index/payloads.h"
#include "backends/index/vector_index.h"
#include "base/clock.h"
#include "core/backend.h"

namespace proa::backends::index {

// What the folder of a version holds.
struct Contents {
  // Reads the index and, where kPayloadFile lies beside it, the payloads.
  // Errors: those of VectorIndex::read() and Payloads::read().
  static Result<Contents> read(const std::filesystem::path& file, const IndexOptions& options);

  VectorIndex index;
  std::optional<Payloads> payloads;
  IndexOptions options;
};

// INT64 is for ids, FP32 for scores, BYTES for payloads.
bool is_output_type(DataType type);

// Threading: as core::LoadedModel; the vectors are shared by its instances. `config` has been
// checked against `contents`; `clock` must outlive the model.
std::unique_ptr<core::LoadedModel> make_index_model(Contents contents,
                                                    const config::ModelConfig& config,
                                                    const Clock& clock);

}  // namespace proa::backends::index
