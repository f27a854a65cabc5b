#include "frontends/log_settings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::frontends {
namespace {

using ::testing::HasSubstr;

// The settings after `json` has been applied to the defaults, or the error.
std::string applied(std::string_view json) {
  auto request = parse_log_settings(json);
  if (!request) return request.error().message;
  auto options = with_settings({}, *request);
  return options ? log_settings_json(*options) : options.error().message;
}

TEST(LogSettingsTest, ChangesWhatIsNamedOnly) {
  EXPECT_EQ(applied("{}"), R"({"log_file":"","log_info":true,"log_warning":true,"log_error":true,)"
                           R"("log_verbose_level":0,"log_format":"ISO8601"})");
  EXPECT_EQ(applied(R"({"log_info":false,"log_verbose_level":2,"log_format":"default"})"),
            R"({"log_file":"","log_info":false,"log_warning":true,"log_error":true,)"
            R"("log_verbose_level":2,"log_format":"default"})");
}

TEST(LogSettingsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(applied(R"({"log_infos":true})"), HasSubstr("unknown log setting 'log_infos'"));
  EXPECT_THAT(applied(R"({"log_info":1})"), HasSubstr("'log_info' must be a boolean"));
  EXPECT_THAT(applied(R"({"log_verbose_level":-1})"), HasSubstr("'log_verbose_level' must be"));
  EXPECT_THAT(applied(R"({"log_verbose_level":4294967296})"), HasSubstr("must be"));
  EXPECT_THAT(applied(R"({"log_verbose_level":4294967295})"), HasSubstr("must be a number"));
  EXPECT_THAT(applied(R"({"log_format":"xml"})"), HasSubstr("'xml' is not known"));
  EXPECT_THAT(applied(R"({"log_error":null})"), HasSubstr("'log_error' must be"));
  EXPECT_THAT(applied("[]"), HasSubstr("failed to parse"));
  EXPECT_THAT(applied(R"({"log_info":)"), HasSubstr("failed to parse"));
}

TEST(LogSettingsTest, TakesNoPathFromTheNetwork) {
  EXPECT_THAT(applied(R"({"log_file":"/etc/passwd"})"),
              HasSubstr("log file location can not be updated through network protocol"));
}

TEST(LogSettingsTest, SaysTheSameInAMessage) {
  const auto message = log_settings_message({.error = false, .verbose = 3, .file = "/var/log/p"});
  EXPECT_EQ(message.settings().size(), 6u);
  EXPECT_EQ(message.settings().at("log_file").string_param(), "/var/log/p");
  EXPECT_FALSE(message.settings().at("log_error").bool_param());
  EXPECT_EQ(message.settings().at("log_verbose_level").uint32_param(), 3u);
}

}  // namespace
}  // namespace proa::frontends
