// What one inference costs between the connection and the model's instance, FP32[1,16], without
// sockets: reading, checking, scheduling inline, writing. For instructions per request:
//   valgrind --tool=callgrind --toggle-collect='*play_once*' infer_frontends_bench
#include <cstring>
#include <string>

#include "benchmark/benchmark.h"
#include "frontends/testing/grpc_frames.h"
#include "frontends/testing/test_server.h"
#include "proto/grpc_service.pb.h"

namespace proa::frontends {
namespace {

// Takes answers and forgets them.
class NullExchange final : public net::Exchange {
 public:
  using Exchange::Exchange;
  std::string_view peer() override { return "127.0.0.1:1"; }
  void respond(int code, std::span<const net::Header>, std::span<net::Segment> body) override {
    status = code;
    send_data(body);
  }
  void send_headers(int code, std::span<const net::Header>) override { status = code; }
  void send_data(std::span<net::Segment> data) override {
    for (net::Segment& part : data) {
      bytes += part.size();
      part = net::Segment();
    }
  }
  void end(std::span<const net::Header> trailers) override {
    if (trailers.size() > 1) status = 500;
  }
  std::size_t unsent_bytes() const override { return 0; }
  void reset(std::uint32_t) override {}
  void consume(std::size_t) override {}
  void over(net::ExchangeHandler& handler) {
    detach();
    handler.on_close(net::CloseReason::kFinished);
  }

  int status = 0;
  std::size_t bytes = 0;
};

// One request, from its head to its end.
[[gnu::noinline]] void play_once(const net::HandlerFactory& factory, const net::RequestHead& head,
                                 std::string_view body, NullExchange& exchange) {
  const auto handler = factory(head);
  handler->on_head(exchange, head);
  if (head.http_major == 1) {
    const auto target = handler->body_target(body.size());
    std::memcpy(target.data(), body.data(), body.size());
    handler->on_filled(body.size());
  } else {
    handler->on_data(bytes_of(body));
  }
  handler->on_end();
  exchange.over(*handler);
}

void play(benchmark::State& state, TestServer& server, const net::RequestHead& head,
          std::string_view body) {
  const net::HandlerFactory factory = server.frontend().factory({.rest = true, .grpc = true});
  for (auto _ : state) {
    NullExchange exchange(server.loop());
    play_once(factory, head, body, exchange);
    if (exchange.status != 200) state.SkipWithError("the request failed");
  }
}

void BM_GrpcInfer(benchmark::State& state) {
  TestServer server;
  inference::ModelInferRequest request;
  request.set_model_name("wide");
  auto& input = *request.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  input.add_shape(1);
  input.add_shape(16);
  request.add_raw_input_contents(std::string(64, '\1'));
  const net::Header headers[] = {{"content-type", "application/grpc"},
                                 {"te", "trailers"},
                                 {"user-agent", "bench"},
                                 {"grpc-accept-encoding", "identity, deflate, gzip"}};
  const net::RequestHead head{.method = "POST",
                              .target = "/inference.GRPCInferenceService/ModelInfer",
                              .authority = "localhost",
                              .headers = headers,
                              .http_major = 2};
  play(state, server, head, grpc_frame(request.SerializeAsString()));
}
BENCHMARK(BM_GrpcInfer);

void BM_RestInferBinary(benchmark::State& state) {
  TestServer server;
  const std::string json = R"({"inputs":[{"name":"INPUT0","shape":[1,16],"datatype":"FP32",)"
                           R"("parameters":{"binary_data_size":64}}],)"
                           R"("outputs":[{"name":"OUTPUT0","parameters":{"binary_data":true}}]})";
  const std::string body = json + std::string(64, '\1');
  const std::string json_size = std::to_string(json.size());
  const net::Header headers[] = {{"host", "localhost"},
                                 {"user-agent", "bench"},
                                 {"content-type", "application/octet-stream"},
                                 {"inference-header-content-length", json_size}};
  const net::RequestHead head{.method = "POST",
                              .target = "/v2/models/wide/infer",
                              .authority = "localhost",
                              .headers = headers,
                              .http_major = 1,
                              .content_length = static_cast<std::int64_t>(body.size())};
  play(state, server, head, body);
}
BENCHMARK(BM_RestInferBinary);

}  // namespace
}  // namespace proa::frontends
