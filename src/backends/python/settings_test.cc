#include "backends/python/settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends::python {
namespace {

config::ModelConfig with(const char* name, const char* value) {
  config::ModelConfig config;
  config.name = "m";
  config.parameters[name] = value;
  return config;
}

TEST(PythonSettingsTest, ReadsParametersAndLeavesTheModelsOwnAlone) {
  config::ModelConfig config = with("execute_timeout_s", "7");
  config.parameters["initialize_timeout_s"] = "0";
  config.parameters["kept_input_mib"] = "3";
  config.parameters["EXECUTION_ENV_PATH"] = "/opt/env";
  config.parameters["threshold"] = "anything";
  const auto settings = parse_settings(config);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->execute_timeout.count(), 7);
  EXPECT_EQ(settings->initialize_timeout.count(), 0);
  EXPECT_EQ(settings->kept_bytes, std::size_t{3} << 20);
  EXPECT_EQ(settings->environment, "/opt/env");
  EXPECT_EQ(settings->max_in_flight, 2);
}

TEST(PythonSettingsTest, ADecoupledModelHasManyBatchesInFlight) {
  config::ModelConfig config;
  config.decoupled = true;
  EXPECT_EQ(parse_settings(config)->max_in_flight, 64);
}

TEST(PythonSettingsTest, RefusesWhatIsNoNumberOrOutOfRange) {
  for (const auto& [name, value] :
       {std::pair("execute_timeout_s", "soon"), std::pair("finalize_timeout_s", "0"),
        std::pair("max_in_flight", "0"), std::pair("kept_input_mib", "-1")}) {
    const auto settings = parse_settings(with(name, value));
    ASSERT_FALSE(settings) << name;
    EXPECT_EQ(settings.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(settings.error().message, testing::HasSubstr(name));
    EXPECT_THAT(settings.error().message, testing::HasSubstr(value));
  }
}

}  // namespace
}  // namespace proa::backends::python
