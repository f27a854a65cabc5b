// A client on Debian's libgrpc++ against a running server: `grpcpp_client HOST:PORT`.
// The server's repository holds `identity` (FP32 [-1] in batches of up to 8) and `slow`, the same
// with an execution delay of 200 ms. Started by tests/e2e/test_interop.py.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "proto/grpc_service.grpc.pb.h"
#include "proto/health.grpc.pb.h"

namespace {

using inference::GRPCInferenceService;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using std::chrono::milliseconds;

std::string g_target;

std::shared_ptr<grpc::Channel> new_channel(int id = 0) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("proa.channel", id);  // distinct arguments make distinct connections
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return grpc::CreateCustomChannel(g_target, grpc::InsecureChannelCredentials(), arguments);
}

std::string floats(std::size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return {reinterpret_cast<const char*>(values.data()), count * sizeof(float)};
}

ModelInferRequest request(const std::string& model, std::size_t count, float first) {
  ModelInferRequest message;
  message.set_model_name(model);
  message.set_id(std::to_string(first));
  auto* input = message.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype("FP32");
  input->add_shape(1);
  input->add_shape(static_cast<std::int64_t>(count));
  message.add_raw_input_contents(floats(count, first));
  return message;
}

class GrpcppTest : public testing::Test {
 protected:
  std::unique_ptr<GRPCInferenceService::Stub> stub_ = GRPCInferenceService::NewStub(new_channel());
};

TEST_F(GrpcppTest, EchoesSmallAndLargeTensors) {
  for (const std::size_t count : {1u, 16u, 150528u, 4u << 20}) {
    grpc::ClientContext context;
    ModelInferResponse response;
    const auto status = stub_->ModelInfer(&context, request("identity", count, 3), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.raw_output_contents_size(), 1);
    EXPECT_EQ(response.raw_output_contents(0), floats(count, 3));
    EXPECT_EQ(response.outputs(0).shape(1), static_cast<std::int64_t>(count));
    EXPECT_EQ(response.id(), std::to_string(3.0f));
  }
}

TEST_F(GrpcppTest, CompressedRequestsAreUnderstood) {
  for (const auto algorithm : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    grpc::ClientContext context;
    context.set_compression_algorithm(algorithm);
    ModelInferResponse response;
    const auto status = stub_->ModelInfer(&context, request("identity", 10000, 1), &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.raw_output_contents(0), floats(10000, 1));
  }
}

TEST_F(GrpcppTest, UnknownModelAndMethodAreErrors) {
  grpc::ClientContext context;
  ModelInferResponse response;
  const auto status = stub_->ModelInfer(&context, request("nobody", 1, 0), &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_NE(status.error_message().find("'nobody'"), std::string::npos) << status.error_message();

  grpc::ClientContext other;
  inference::CudaSharedMemoryStatusResponse memory;
  EXPECT_EQ(stub_->CudaSharedMemoryStatus(&other, {}, &memory).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(GrpcppTest, DeadlineEndsASlowCall) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + milliseconds(20));
  ModelInferResponse response;
  EXPECT_EQ(stub_->ModelInfer(&context, request("slow", 1, 0), &response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
}

TEST_F(GrpcppTest, ManyThreadsShareOneConnection) {
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        grpc::ClientContext context;
        ModelInferResponse response;
        const float first = static_cast<float>(t * 1000 + i);
        const std::size_t count = 1 + static_cast<std::size_t>(i) * 97;
        const auto status =
            stub_->ModelInfer(&context, request("identity", count, first), &response);
        if (status.ok() && response.raw_output_contents(0) == floats(count, first)) ++right;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 16 * 50);
}

TEST_F(GrpcppTest, StreamAnswersInOrder) {
  grpc::ClientContext context;
  auto stream = stub_->ModelStreamInfer(&context);
  std::thread writer([&] {
    for (int i = 0; i < 200; ++i) stream->Write(request("identity", 5000, static_cast<float>(i)));
    stream->WritesDone();
  });
  inference::ModelStreamInferResponse response;
  int count = 0;
  while (stream->Read(&response)) {
    EXPECT_EQ(response.error_message(), "");
    EXPECT_EQ(response.infer_response().raw_output_contents(0),
              floats(5000, static_cast<float>(count)));
    ++count;
  }
  writer.join();
  EXPECT_EQ(count, 200);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(GrpcppTest, StreamSurvivesABadRequest) {
  grpc::ClientContext context;
  auto stream = stub_->ModelStreamInfer(&context);
  stream->Write(request("nobody", 1, 0));
  stream->Write(request("identity", 4, 7));
  stream->WritesDone();
  inference::ModelStreamInferResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_NE(response.error_message(), "");
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_EQ(response.infer_response().raw_output_contents(0), floats(4, 7));
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(GrpcppTest, CancelledCallsLeaveTheConnectionUsable) {
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    auto call = stub_->AsyncModelInfer(&context, request("slow", 1, 0), &queue);
    ModelInferResponse response;
    grpc::Status status;
    call->Finish(&response, &status, nullptr);
    context.TryCancel();
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  }
  grpc::ClientContext context;
  ModelInferResponse response;
  EXPECT_TRUE(stub_->ModelInfer(&context, request("identity", 1, 0), &response).ok());
}

TEST_F(GrpcppTest, HealthServiceAnswers) {
  auto health = grpc::health::v1::Health::NewStub(new_channel(1));
  grpc::ClientContext context;
  grpc::health::v1::HealthCheckResponse response;
  ASSERT_TRUE(health->Check(&context, {}, &response).ok());
  EXPECT_EQ(response.status(), grpc::health::v1::HealthCheckResponse::SERVING);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fprintf(stderr, "usage: grpcpp_client HOST:PORT\n");
    return 2;
  }
  g_target = argv[1];
  return RUN_ALL_TESTS();
}
