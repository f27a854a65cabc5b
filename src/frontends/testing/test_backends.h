#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/backend.h"
#include "core/testing/puppet_model.h"

namespace proa::frontends {

// Backends for tests of the front ends, by name:
//   "echo"    outputs = inputs, inline
//   "puppet"  the test decides when a batch ends (core::Puppet)
//   "repeat"  decoupled: sends its inputs INPUT0[0] times, then an empty final response
// Threading: thread-safe, apart from the puppet's own rules.
class TestBackend final : public core::Backend {
 public:
  TestBackend(std::string name, core::Puppet& puppet) : name_(std::move(name)), puppet_(puppet) {}

  std::string_view name() const override { return name_; }
  Status complete_config(const core::ModelFiles&, bool, config::ModelConfig&) override {
    return {};
  }
  Result<std::unique_ptr<core::LoadedModel>> load(const core::ModelFiles&,
                                                  const config::ModelConfig&) override {
    return std::make_unique<Loaded>(*this);
  }

 private:
  class Loaded final : public core::LoadedModel {
   public:
    explicit Loaded(const TestBackend& backend) : backend_(backend) {}
    core::Execution execution() const override {
      return backend_.name_ == "puppet" ? core::Execution::kAsync : core::Execution::kInline;
    }
    Result<std::unique_ptr<core::Instance>> create_instance(
        const core::InstancePlacement&) override {
      if (backend_.name_ == "puppet") {
        return std::make_unique<core::PuppetInstance>(backend_.puppet_, 100);
      }
      if (backend_.name_ == "repeat") return std::make_unique<RepeatInstance>();
      return std::make_unique<core::EchoInstance>();
    }

   private:
    const TestBackend& backend_;
  };

  class RepeatInstance final : public core::Instance {
   public:
    void start(std::unique_ptr<core::Batch> batch, Done done) override {
      core::Request& request = *batch->requests()[0];
      float times = 0;
      std::memcpy(&times, request.inputs[0].data.data(), sizeof(times));
      for (int i = 0; i < static_cast<int>(times); ++i) {
        core::Response response;
        response.outputs = request.inputs;
        request.sink->send(std::move(response), false);
      }
      batch->set_response(0, core::Response());
      done(std::move(batch));
    }
  };

  const std::string name_;
  core::Puppet& puppet_;
};

}  // namespace proa::frontends
