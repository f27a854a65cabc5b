#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "frontends/compression.h"
#include "frontends/grpc/message_reader.h"
#include "frontends/options.h"
#include "net/exchange.h"

namespace proa::frontends {

// The part that all gRPC calls share: headers, messages cut out of the body and unpacked, answers
// framed (and packed where configured), the status at the end. A method derives from it.
//
// Nothing reaches the method after finish(). Source: "gRPC over HTTP/2".
// Threading: confined to the exchange's loop.
class GrpcCall : public net::ExchangeHandler {
 public:
  // `max_message_bytes` bounds the client's messages, before and after unpacking.
  GrpcCall(const FrontendContext& context, std::size_t max_message_bytes);

  void on_head(net::Exchange& exchange, const net::RequestHead& head) override;
  void on_data(std::span<const std::byte> data) override;
  void on_end() override;
  void on_close(net::CloseReason reason) override;
  // The start of a message holds memory. Streams may be held back by this server itself.
  bool awaits_rest() const override { return !manual_flow_control() && !reader_.at_boundary(); }

 protected:
  using Message = MessageReader::Message;

  // The next message of the client, unpacked. An error ends the call.
  virtual Status on_message(Message message) = 0;
  // The client has sent its last message. An error ends the call.
  virtual Status on_half_close() = 0;
  // The exchange is gone, perhaps before finish().
  virtual void on_gone() {}

  // Sends one message: `parts` without the frame's prefix; they are moved from. The first part's
  // bytes should leave room in front: see kPrefixRoom.
  void send_message(std::span<net::Segment> parts);
  // Ends the call with OK or an error; the first one counts.
  void finish(const Status& status);

  bool finished() const { return finished_; }
  // False once the exchange is gone.
  bool open() const { return exchange_ != nullptr; }
  net::Exchange& exchange() const { return *exchange_; }
  const FrontendContext& context() const { return context_; }
  TimePoint deadline() const { return deadline_; }

  // Put so many bytes in front of a message's first part; send_message() writes the prefix there.
  static constexpr std::string_view kPrefixRoom{"\0\0\0\0\0", MessageReader::kPrefix};

 private:
  Status read_head(const net::RequestHead& head);
  Status read_messages(std::span<const std::byte> data);
  Status unpack(Message& message);
  void send_headers();
  void frame(std::span<net::Segment> parts);

  const FrontendContext& context_;
  const std::size_t max_message_bytes_;
  net::Exchange* exchange_ = nullptr;
  MessageReader reader_;
  TimePoint deadline_ = kNever;
  Encoding request_encoding_ = Encoding::kIdentity;
  Encoding response_encoding_ = Encoding::kIdentity;
  bool headers_sent_ = false;
  bool finished_ = false;
};

// Bounds the messages of calls that carry no tensors.
inline constexpr std::size_t kControlMessageBytes = std::size_t{4} << 20;

// Ends a call without a method: "trailers-only".
void send_trailers_only(net::Exchange& exchange, const Error& error);

}  // namespace proa::frontends
