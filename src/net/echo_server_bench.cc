// A server that sends every body back, for measuring what this room alone costs (docs/net.md says
// how). Prints its port, serves until its standard input ends, then drains.
//   net_echo_server [loops]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "net/loop_group.h"

namespace proa::net {
namespace {

class EchoHandler final : public ExchangeHandler {
 public:
  void on_head(Exchange& exchange, const RequestHead& head) override {
    exchange_ = &exchange;
    if (head.content_length > 0) body_ = Buffer::allocate(head.content_length);
  }
  std::span<std::byte> body_target(std::size_t wanted) override {
    return body_.bytes().subspan(filled_, wanted);
  }
  void on_filled(std::size_t bytes) override { filled_ += bytes; }
  void on_data(std::span<const std::byte> data) override {
    if (filled_ + data.size() > body_.size()) return;
    std::copy(data.begin(), data.end(), body_.data() + filled_);
    filled_ += data.size();
  }
  void on_end() override {
    const Header headers[] = {{"content-type", "application/octet-stream"}};
    Segment parts[] = {{"", BufferView(std::move(body_), 0, filled_)}};
    exchange_->respond(200, headers, parts);
  }
  void on_close(CloseReason) override {}

 private:
  Exchange* exchange_ = nullptr;
  Buffer body_;
  std::size_t filled_ = 0;
};

int serve(int loops) {
  LoopGroup group({.loops = loops});
  ListenerOptions options;
  options.address = "127.0.0.1";
  options.factory = [](const RequestHead&) { return std::make_unique<EchoHandler>(); };
  const auto listener = group.listen(std::move(options));
  if (!listener) {
    std::fprintf(stderr, "%s\n", listener.error().to_string().c_str());
    return 1;
  }
  std::printf("%d\n", (*listener)->port());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  group.drain(steady_clock().now() + std::chrono::seconds(1));
  return 0;
}

}  // namespace
}  // namespace proa::net

int main(int argc, char** argv) { return proa::net::serve(argc > 1 ? std::atoi(argv[1]) : 1); }
