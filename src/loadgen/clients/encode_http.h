#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/clients/client.h"
#include "loadgen/payloads.h"

namespace proa::loadgen {

enum class TensorFormat : std::uint8_t { kBinary, kJson };

struct HttpEncoding {
  std::string authority;             // of the server
  std::string prefix;                // of its paths
  std::vector<std::string> headers;  // "Name: value", sent with every request
  TensorFormat input = TensorFormat::kBinary;
  TensorFormat output = TensorFormat::kBinary;
};

// One payload as an HTTP request, made before the load starts.
// Threading: immutable once made.
class HttpRequest {
 public:
  // Errors: kInvalidArgument for inputs that JSON cannot carry.
  static Result<HttpRequest> make(const ModelSignature& model, const Payload& payload,
                                  const HttpEncoding& encoding);

  // The whole request of a payload that stands in no sequence.
  const std::string& bytes() const { return whole_; }
  // The same with its place in a sequence; made anew each time.
  std::string bytes(const SequencePlace& sequence) const;

 private:
  std::string compose(std::string_view sequence_parameters) const;

  std::string head_;        // request line and headers up to the lengths
  std::string json_front_;  // up to the end of the parameters
  std::string json_back_;   // from there to the end
  std::string binary_;      // tensors behind the JSON
  bool has_parameters_ = false;
  std::string whole_;
};

}  // namespace proa::loadgen
