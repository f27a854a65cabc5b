#include "config/field_rules.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "base/testing/source_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

namespace pb = google::protobuf;

// The proto names of all fields below `type` that are no messages themselves, "a.b.c". ModelConfig
// contains no message twice on one path.
void collect_fields(const pb::Descriptor& type, const std::string& prefix,
                    std::vector<std::string>& paths) {
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor* field = type.field(i);
    if (field->message_type() != nullptr && !field->is_map()) {
      collect_fields(*field->message_type(), prefix + field->name() + ".", paths);
    } else {
      paths.push_back(prefix + field->name());
    }
  }
}

TEST(FieldRulesTest, CoverEveryFieldOfTheMessage) {
  std::vector<std::string> paths;
  collect_fields(*inference::ModelConfig::descriptor(), "", paths);
  EXPECT_GT(paths.size(), 100u);
  for (const std::string& path : paths) EXPECT_NE(find_field_rule(path), nullptr) << path;
}

TEST(FieldRulesTest, NameFieldsThatExistAndEachOnce) {
  std::vector<std::string> paths;
  collect_fields(*inference::ModelConfig::descriptor(), "", paths);
  std::set<std::string_view> seen;
  for (const FieldRule& rule : field_rules()) {
    EXPECT_TRUE(seen.insert(rule.field).second) << rule.field;
    if (rule.field.starts_with("parameters.")) continue;
    EXPECT_TRUE(std::ranges::any_of(paths, [&](const std::string& path) {
      return path == rule.field || path.starts_with(std::string(rule.field) + ".");
    })) << rule.field;
  }
}

TEST(FieldRulesTest, GiveAReasonForWhatIsNotHonoured) {
  for (const FieldRule& rule : field_rules()) {
    EXPECT_EQ(rule.reason.empty(), rule.field_class == FieldClass::kHonoured) << rule.field;
  }
}

TEST(FieldRulesTest, StandInTheDocumentWordForWord) {
  std::ifstream file(source_path("docs/configuration.md"));
  std::stringstream document;
  document << file.rdbuf();
  EXPECT_THAT(document.str(), testing::HasSubstr(field_rules_as_markdown()));
}

}  // namespace
}  // namespace proa::config
