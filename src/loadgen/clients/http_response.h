#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace proa::loadgen {

// Reads HTTP/1.1 responses out of a stream of bytes, one after the other. Bodies come with a
// length, in chunks, or until the end of the connection.
// Threading: a plain value.
// Source: RFC 9112, sections 2 to 7.
class HttpResponseReader {
 public:
  // How much of a body is kept: all of it, or as much as an error message needs.
  enum class Keep : std::uint8_t { kAll, kErrors };

  // Before each response.
  void start(Keep keep);

  // Takes the bytes that have come. True: the response is complete.
  // Errors: kInternal for what is not HTTP/1.1, bytes behind the response included.
  Result<bool> feed(std::string_view bytes);
  // The other side has closed. True: that completes the response.
  bool end_of_stream() const { return state_ == State::kUntilClose; }
  // Whether a byte of this response has come.
  bool begun() const { return state_ != State::kHeader || !header_.empty(); }

  int status() const { return status_; }
  bool keep_alive() const { return keep_alive_; }
  // Inference-Header-Content-Length; 0 = absent.
  std::size_t json_size() const { return json_size_; }
  const std::string& body() const { return body_; }

 private:
  enum class State : std::uint8_t {
    kHeader,
    kBody,
    kChunkSize,
    kChunk,
    kChunkEnd,
    kTrailer,
    kUntilClose,
    kDone
  };

  Status take_header(std::string_view& bytes);
  Status parse_header(std::string_view text);
  Status parse_status_line(std::string_view line);
  Status parse_field(std::string_view line);
  void choose_framing();
  void take_body(std::string_view& bytes);
  Status take_line(std::string_view& bytes);
  Status end_line();

  State state_ = State::kHeader;
  Keep keep_ = Keep::kErrors;
  std::string header_;  // what has come of it; of chunk lines too
  std::string body_;
  int status_ = 0;
  int minor_version_ = 1;
  bool keep_alive_ = true;
  bool chunked_ = false;
  bool has_length_ = false;
  std::uint64_t left_ = 0;  // of the body or chunk
  std::size_t json_size_ = 0;
};

}  // namespace proa::loadgen
