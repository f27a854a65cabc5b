#pragma once

#include <filesystem>
#include <latch>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/testing/puppet_engine.h"
#include "backends/openvino/testing/models.h"
#include "backends/openvino/testing/run_batch.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "openvino/openvino.hpp"

namespace proa::backends::cuda {

inline Tensor floats(Shape shape, const std::vector<float>& values) {
  return openvino::testing::make_tensor(DataType::kFp32, std::move(shape), values);
}

// A batch that is on its way.
struct Pending {
  std::unique_ptr<core::Batch> batch;
  std::latch done{1};

  std::vector<core::Response> wait() {
    done.wait();
    return batch->take_responses();
  }
};

inline void start(core::Instance& instance, Pending& pending,
                  std::vector<std::unique_ptr<core::Request>> requests) {
  instance.start(std::make_unique<core::Batch>(std::move(requests)),
                 [&](std::unique_ptr<core::Batch> batch) {
                   pending.batch = std::move(batch);
                   pending.done.count_down();
                 });
}

inline void start_one(core::Instance& instance, Pending& pending, std::int64_t rows, Tensor input) {
  std::vector<std::unique_ptr<core::Request>> requests;
  requests.push_back(openvino::testing::make_request(rows, {std::move(input)}));
  start(instance, pending, std::move(requests));
}

// A backend over a puppet of two GPUs, and one model.
class CudaBackendTest : public ::testing::Test {
 protected:
  CudaBackendTest() {
    make_backend({});
    config_.name = "m";
    config_.default_model_filename = "model.xml";
  }

  void make_backend(std::map<int, double> memory_limits) {
    backend_ = create_cuda_backend({.memory_limits = std::move(memory_limits),
                                    .open_engine = [this]() -> Result<engine::DeviceEngine*> {
                                      if (!open_error_) return open_error_.error();
                                      return &engine_;
                                    }});
  }

  void write(const std::shared_ptr<ov::Model>& model) {
    std::filesystem::create_directories(files_.version_folder);
    openvino::testing::write_ir(model, files_.version_folder / "model.xml");
  }
  Status load() {
    PROA_TRY(backend_->complete_config(files_, true, config_));
    PROA_ASSIGN(loaded_, backend_->load(files_, config_));
    return {};
  }
  std::string load_error() {
    const Status status = load();
    return status ? std::string("no error") : status.error().message;
  }
  std::unique_ptr<core::Instance> instance(int device = 0) {
    auto made = loaded_->create_instance(
        {.name = "m_0", .kind = config::InstanceGroup::Kind::kGpu, .device = device});
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
  void serve(std::int32_t max_batch_size) {
    write(openvino::testing::affine_model({-1, 2}));
    config_.max_batch_size = max_batch_size;
    const Status status = load();
    ASSERT_TRUE(status) << status.error().message;
  }

  TempFolder folder_;
  core::ModelFiles files_{folder_.path(), folder_.path() / "1", 1};
  config::ModelConfig config_;
  testing::PuppetEngine engine_{2};
  Status open_error_;
  std::unique_ptr<core::Backend> backend_;
  std::unique_ptr<core::LoadedModel> loaded_;
};

}  // namespace proa::backends::cuda
