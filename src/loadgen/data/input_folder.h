#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/picture_plan.h"
#include "loadgen/data/element.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

// Whether `folder` holds a file for each input that is not optional, named like it.
bool has_input_files(const std::filesystem::path& folder,
                     const std::vector<TensorSignature>& inputs);

// One element out of such files: the bytes of a tensor, or for BYTES a text with one element a
// line. Files named like outputs are what is expected.
// Errors: kInvalidArgument naming the file, its size and the size that is wanted.
// Source: perf_analyzer's documented input data folders.
Result<Element> read_input_files(const std::filesystem::path& folder, const ModelSignature& model,
                                 const std::vector<TensorSignature>& inputs);

struct PictureFolder {
  std::vector<Element> elements;  // in the order of the file names
  std::string how;                // "RGB, short side 256 bicubic, ..."
};

// One element for each JPEG, PNG and WebP directly in `folder`, told by their names. `name` is the
// input that takes them, "" = found by its shape. Errors: kInvalidArgument naming file or input: no
// pictures, further inputs, unreadable ones.
Result<PictureFolder> read_pictures(const std::filesystem::path& folder,
                                    const ModelSignature& model,
                                    const std::vector<TensorSignature>& inputs,
                                    const std::string& name, const image::PictureOptions& options);

}  // namespace proa::loadgen
