#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "protocol/infer.h"
#include "tensor/buffer.h"

namespace proa::protocol {

// KServe v2 inference over HTTP: a JSON object, behind it the bytes of binary tensors.
// Source: KServe v2 REST API; Triton's binary tensor data extension.

// Reads the bodies of infer requests. Keeps the parser's memory from one request to the next.
// Threading: confined to one thread at a time.
class InferJsonReader {
 public:
  InferJsonReader();
  ~InferJsonReader();
  InferJsonReader(const InferJsonReader&) = delete;
  InferJsonReader& operator=(const InferJsonReader&) = delete;

  // Reads a request whose JSON object is the first `json_size` bytes of `body` (the header
  // Inference-Header-Content-Length, or the whole body without it). Views in the result point into
  // `body` or the request itself; binary tensors are ranges of its buffer.
  //
  // MemoryPool::kTailPadding bytes behind `body` must be there, as they are behind every buffer of
  // a pool: they are read, and the byte behind the JSON is changed for as long as the call takes.
  //
  // JSON data may be nested or flat; NaN, Infinity, -Infinity, Inf and -Inf are numbers. Unknown
  // members are skipped.
  //
  // Errors: kInvalidArgument naming line, column and member or tensor; kUnimplemented for shared
  // memory.
  Result<InferRequest> read(const BufferView& body, std::size_t json_size);

  static constexpr int kMaxDepth = 100;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// The raw binary request (Inference-Header-Content-Length: 0): the whole body is the only input of
// the model, with batch size 1; outputs come back binary. `shape` is the input's shape in the
// model's signature, without batch dimension; at most one extent may be kAny and follows from the
// body's size. For kBytes the body is one element, without its length.
// Errors: kInvalidArgument when the size does not fit the shape.
Result<InferRequest> read_raw_infer_request(const BufferView& body, std::string_view input_name,
                                            DataType type, const Shape& shape, bool batches);

// A response as the body of an HTTP reply.
struct JsonResponse {
  EncodedMessage message;     // the JSON object first
  std::size_t json_size = 0;  // goes into Inference-Header-Content-Length when `binary`
  bool binary = false;        // bytes follow the JSON; not when all binary outputs are empty
};

// Numbers are printed as the shortest decimals that read back as the same double (FP32 values are
// widened first, as Triton does), with ".0" behind whole floating-point numbers. NaN, Infinity and
// -Infinity are printed bare, as Triton does; no JSON standard knows them. BYTES elements are
// strings; bytes that are not UTF-8 become U+FFFD there (ask for binary outputs to get them as they
// are).
// Errors: kInvalidArgument for FP16 and BF16 outputs that are not binary.
Result<JsonResponse> write_infer_response_json(const InferResponse& response);

}  // namespace proa::protocol
