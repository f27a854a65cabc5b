#include "frontends/grpc/message_reader.h"

#include <algorithm>
#include <cstring>

#include "frontends/options.h"

namespace proa::frontends {

Result<std::size_t> MessageReader::read(std::span<const std::byte> data) {
  std::size_t used = 0;
  if (prefix_size_ < kPrefix) {
    used = std::min(kPrefix - prefix_size_, data.size());
    std::memcpy(prefix_.data() + prefix_size_, data.data(), used);
    prefix_size_ += used;
    if (prefix_size_ < kPrefix) return used;
    PROA_TRY(start_message());
  }
  const std::size_t body = std::min(length_ - body_.size(), data.size() - used);
  PROA_TRY(body_.append(data.subspan(used, body)));
  return used + body;
}

MessageReader::Message MessageReader::take() {
  prefix_size_ = 0;
  BufferView bytes = body_.take();
  return {std::move(bytes), prefix_[0] == 1, body_.take_reservation()};
}

Status MessageReader::start_message() {
  if (prefix_[0] > 1) {
    return error::internal("gRPC message begins with flag byte {}; 0 or 1 is meant", prefix_[0]);
  }
  length_ = std::size_t{prefix_[1]} << 24 | std::size_t{prefix_[2]} << 16 |
            std::size_t{prefix_[3]} << 8 | prefix_[4];
  if (length_ > max_message_bytes_) {
    return error::resource_exhausted(
        "Received message larger than max ({} vs. {} bytes); for inference requests {} raises it",
        length_, max_message_bytes_, kGrpcMaxMessageFlag);
  }
  body_.start(length_);
  return body_.charge(kOverhead);
}

}  // namespace proa::frontends
