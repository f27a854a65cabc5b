// Every field of inference.ModelConfig, one after the other and found by reflection, set to
// something else than its default: what happens to it is what the table says, and it is shown
// again.
#include <functional>

#include "config/field_rules.h"
#include "config/proto_reader.h"
#include "config/proto_writer.h"
#include "gmock/gmock.h"
#include "google/protobuf/descriptor.pb.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

namespace pb = google::protobuf;
using pb::FieldDescriptor;
using FieldPath = std::vector<const FieldDescriptor*>;

// Sets or adds a value that is not the default.
void set_scalar(pb::Message& message, const FieldDescriptor& field) {
  const pb::Reflection& reflection = *message.GetReflection();
#define PROA_SET(type, value)                                          \
  field.is_repeated() ? reflection.Add##type(&message, &field, value)  \
                      : reflection.Set##type(&message, &field, value); \
  return
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      PROA_SET(Int32, 1);
    case FieldDescriptor::CPPTYPE_INT64:
      PROA_SET(Int64, 1);
    case FieldDescriptor::CPPTYPE_UINT32:
      PROA_SET(UInt32, 1);
    case FieldDescriptor::CPPTYPE_UINT64:
      PROA_SET(UInt64, 1);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      PROA_SET(Double, 1);
    case FieldDescriptor::CPPTYPE_FLOAT:
      PROA_SET(Float, 1);
    case FieldDescriptor::CPPTYPE_BOOL:
      PROA_SET(Bool, true);
    case FieldDescriptor::CPPTYPE_STRING:
      PROA_SET(String, "a");
    case FieldDescriptor::CPPTYPE_ENUM:
      PROA_SET(EnumValue, field.enum_type()->value(field.enum_type()->value_count() - 1)->number());
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
#undef PROA_SET
}

// Calls `visit` with the path to each field below `type` that is no message; `path` leads there.
void visit_fields(const pb::Descriptor& type, FieldPath& path,
                  const std::function<void(const FieldPath&)>& visit) {
  for (int i = 0; i < type.field_count(); ++i) {
    path.push_back(type.field(i));
    const pb::Descriptor* inner = type.field(i)->message_type();
    if (inner == nullptr) {
      visit(path);
    } else if (inner->field_count() > 0) {
      visit_fields(*inner, path, visit);
    }
    path.pop_back();
  }
}

// A configuration in which only that field is set; of a map's entry also the key.
inference::ModelConfig only(const FieldPath& path) {
  inference::ModelConfig config;
  pb::Message* message = &config;
  for (const FieldDescriptor* field : path) {
    if (field->message_type() == nullptr) {
      set_scalar(*message, *field);
      break;
    }
    const pb::Reflection& reflection = *message->GetReflection();
    message = field->is_repeated() ? reflection.AddMessage(message, field)
                                   : reflection.MutableMessage(message, field);
    if (field->is_map()) set_scalar(*message, *field->message_type()->map_key());
  }
  return config;
}

// "input.dims": as the table names it, without the fields of map entries.
std::string name_of(const FieldPath& path) {
  std::string name;
  for (const FieldDescriptor* field : path) {
    if (field->containing_type()->options().map_entry()) continue;
    name += (name.empty() ? "" : ".") + field->name();
  }
  return name;
}

class EveryFieldTest : public testing::Test {
 protected:
  void for_each(const std::function<void(const std::string&, const FieldRule&,
                                         const inference::ModelConfig&)>& check) {
    FieldPath path;
    int fields = 0;
    visit_fields(*inference::ModelConfig::descriptor(), path, [&](const FieldPath& field) {
      const std::string name = name_of(field);
      SCOPED_TRACE(name);
      const FieldRule* rule = find_field_rule(name);
      ASSERT_NE(rule, nullptr);
      inference::ModelConfig message = only(field);
      // Buckets that nobody names, and names without buckets, are no metric_control.
      for (auto& control : *message.mutable_model_metrics()->mutable_metric_control()) {
        control.mutable_metric_identifier()->set_family("proa_batch_size");
        if (!control.has_histogram_options()) control.mutable_histogram_options()->add_buckets(1);
      }
      if (message.model_metrics().metric_control().empty()) message.clear_model_metrics();
      check(name, *rule, message);
      ++fields;
    });
    EXPECT_GT(fields, 100);
  }
};

TEST_F(EveryFieldTest, IsHonouredWarnedOfOrRefusedAsTheTableSays) {
  for_each([](const std::string&, const FieldRule& rule, const inference::ModelConfig& message) {
    Problems problems;
    std::vector<std::string> warnings;
    apply_field_rules(message, problems, warnings);
    EXPECT_EQ(problems.empty(), rule.field_class != FieldClass::kRefused);
    EXPECT_EQ(warnings.size(), rule.field_class == FieldClass::kWarned ? 1U : 0U);
    for (const std::string& warning : warnings) {
      EXPECT_THAT(warning, testing::HasSubstr(std::string(rule.reason)));
    }
  });
}

TEST_F(EveryFieldTest, IsShownAgain) {
  for_each([](const std::string&, const FieldRule&, const inference::ModelConfig& message) {
    Problems ignored;
    std::vector<std::string> warnings;
    ModelConfig config = read_proto(message, {}, ignored, warnings);
    config.stated = std::make_shared<inference::ModelConfig>(message);
    pb::util::MessageDifferencer differ;
    differ.set_scope(pb::util::MessageDifferencer::PARTIAL);
    EXPECT_TRUE(differ.Compare(message, to_proto(config))) << to_proto(config).DebugString();
  });
}

// What is honoured reaches the structs that everything else reads: it is shown from them alone.
TEST_F(EveryFieldTest, ReachesTheStructsWhenHonoured) {
  for_each(
      [](const std::string& name, const FieldRule& rule, const inference::ModelConfig& message) {
        if (rule.field_class != FieldClass::kHonoured) return;
        // Becomes half_precision.
        if (name.starts_with("optimization.execution_accelerators")) return;
        // Without levels, these have no effect.
        if (name.starts_with("dynamic_batching.priority_queue_policy")) return;
        Problems ignored;
        std::vector<std::string> warnings;
        const ModelConfig config = read_proto(message, {}, ignored, warnings);
        pb::util::MessageDifferencer differ;
        differ.set_scope(pb::util::MessageDifferencer::PARTIAL);
        EXPECT_TRUE(differ.Compare(message, to_proto(config))) << to_proto(config).DebugString();
      });
}

}  // namespace
}  // namespace proa::config
