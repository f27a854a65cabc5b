#include "frontends/grpc/grpc_call.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "frontends/grpc/grpc_text.h"
#include "frontends/segments.h"
#include "protocol/status_map.h"

namespace proa::frontends {
namespace {

constexpr net::Header kContentType = {"content-type", "application/grpc"};
constexpr net::Header kStatusOk = {"grpc-status", "0"};
constexpr std::string_view kAcceptedEncodings = "identity,deflate,gzip";

int zlib_level(CompressionLevel level) {
  switch (level) {
    case CompressionLevel::kLow:
      return 1;
    case CompressionLevel::kMedium:
      return 6;
    default:
      return 9;
  }
}

void write_prefix(std::string& to, bool compressed, std::size_t length) {
  to[0] = compressed ? 1 : 0;
  for (std::size_t i = 0; i < 4; ++i) to[1 + i] = static_cast<char>(length >> (24 - 8 * i) & 0xff);
}

}  // namespace

void send_trailers_only(net::Exchange& exchange, const Error& error) {
  const std::string code = std::to_string(static_cast<int>(error.code));
  const std::string message = encode_grpc_message(protocol::client_message(error.message));
  const std::array headers = {kContentType, net::Header{"grpc-status", code},
                              net::Header{"grpc-message", message},
                              net::Header{"grpc-accept-encoding", kAcceptedEncodings}};
  exchange.respond(200, headers, {});
}

GrpcCall::GrpcCall(const FrontendContext& context, std::size_t max_message_bytes)
    : context_(context),
      max_message_bytes_(std::min(max_message_bytes, context.options.grpc_max_message_bytes)),
      reader_(*context.memory, *context.budget, max_message_bytes_) {}

void GrpcCall::on_head(net::Exchange& exchange, const net::RequestHead& head) {
  exchange_ = &exchange;
  if (const Status status = read_head(head); !status) finish(status);
}

Status GrpcCall::read_head(const net::RequestHead& head) {
  std::string_view accepted;
  for (const net::Header& header : head.headers) {
    if (!header.name.starts_with("grpc-")) continue;
    if (header.name == "grpc-timeout") {
      const auto timeout = parse_grpc_timeout(header.value);
      if (!timeout) {
        return error::invalid_argument("grpc-timeout is '{}'; wanted digits and a unit, as in 100m",
                                       header.value);
      }
      deadline_ = deadline_after(context_.clock->now(), *timeout);
    } else if (header.name == "grpc-encoding") {
      request_encoding_ = parse_encoding(header.value);
      if (request_encoding_ == Encoding::kUnknown) {
        return error::unimplemented("grpc-encoding '{}' is not supported; use one of {}",
                                    header.value, kAcceptedEncodings);
      }
    } else if (header.name == "grpc-accept-encoding") {
      accepted = header.value;
    }
  }
  if (context_.options.grpc_response_compression != CompressionLevel::kNone) {
    response_encoding_ = choose_encoding(accepted);
  }
  return {};
}

void GrpcCall::on_data(std::span<const std::byte> data) {
  if (finished_) return;
  if (const Status status = read_messages(data); !status) finish(status);
}

Status GrpcCall::read_messages(std::span<const std::byte> data) {
  while (!data.empty() && !finished_) {
    PROA_ASSIGN(const std::size_t used, reader_.read(data));
    data = data.subspan(used);
    if (!reader_.complete()) continue;
    Message message = reader_.take();
    if (message.compressed) PROA_TRY(unpack(message));
    PROA_TRY(on_message(std::move(message)));
  }
  return {};
}

Status GrpcCall::unpack(Message& message) {
  if (request_encoding_ == Encoding::kIdentity) {
    return error::internal("a message is marked as compressed, but there is no grpc-encoding");
  }
  MessageBuffer plain(*context_.memory, *context_.budget);
  PROA_TRY(decompress(message.bytes.bytes(), max_message_bytes_, kGrpcMaxMessageFlag, plain));
  message = {plain.take(), false, plain.take_reservation()};
  return {};
}

void GrpcCall::on_end() {
  if (finished_) return;
  if (!reader_.at_boundary()) {
    return finish(error::internal("the request ends in the middle of a gRPC message"));
  }
  if (const Status status = on_half_close(); !status) finish(status);
}

void GrpcCall::on_close(net::CloseReason) {
  exchange_ = nullptr;
  on_gone();
}

void GrpcCall::send_message(std::span<net::Segment> parts) {
  if (finished_ || exchange_ == nullptr) return;
  send_headers();
  frame(parts);
  exchange_->send_data(parts);
}

void GrpcCall::frame(std::span<net::Segment> parts) {
  std::string& first = parts.front().bytes;
  constexpr std::size_t kPrefix = MessageReader::kPrefix;
  PROA_CHECK(first.size() >= kPrefix, "no room for a gRPC prefix");
  const bool packed = response_encoding_ != Encoding::kIdentity;
  if (packed) {
    pack(parts, kPrefix, response_encoding_,
         zlib_level(context_.options.grpc_response_compression));
  }
  write_prefix(first, packed, total_size(parts) - kPrefix);
}

void GrpcCall::send_headers() {
  if (std::exchange(headers_sent_, true)) return;
  if (response_encoding_ == Encoding::kIdentity) {
    return exchange_->send_headers(200, std::span(&kContentType, 1));
  }
  const std::array headers = {kContentType,
                              net::Header{"grpc-encoding", encoding_name(response_encoding_)}};
  exchange_->send_headers(200, headers);
}

void GrpcCall::finish(const Status& status) {
  if (std::exchange(finished_, true) || exchange_ == nullptr) return;
  if (!status && !headers_sent_) return send_trailers_only(*exchange_, status.error());
  send_headers();
  if (status) return exchange_->end(std::span(&kStatusOk, 1));
  const std::string code = std::to_string(static_cast<int>(status.error().code));
  const std::string message = encode_grpc_message(protocol::client_message(status.error().message));
  const std::array trailers = {net::Header{"grpc-status", code},
                               net::Header{"grpc-message", message}};
  exchange_->end(trailers);
}

}  // namespace proa::frontends
