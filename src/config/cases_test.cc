// Runs every cases/NAME.pbtxt and compares with cases/NAME.expected: the completed configuration
// with its warnings, or the error. One more pair of files is one more case. Comments of the form
// "# files: model.onnx" say what is in the version's folder and "# backend: batches" that the
// backend finds a batch dimension, "# gpu-models-on-cpu: true" that the flag is set; the model's
// folder is called "model". Run with PROA_UPDATE_CASES=1 to write what comes out as expected, and
// read the difference.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/testing/source_path.h"
#include "config/complete.h"
#include "config/parse.h"
#include "config/proto_writer.h"
#include "gtest/gtest.h"
#include "proto/json.h"
#include "proto/model_config.pb.h"

namespace proa::config {
namespace {

namespace fs = std::filesystem;

const fs::path kCases = source_path("src/config/cases");

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::vector<std::string> words_after(const std::string& text, const std::string& directive) {
  const std::size_t at = text.find("# " + directive + ":");
  if (at == std::string::npos) return {};
  std::istringstream line(
      text.substr(at + directive.size() + 3, text.find('\n', at) - at - directive.size() - 3));
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  return words;
}

// What a backend fills in from a model file.
void complete_like_a_backend(bool batches, ParsedConfig& parsed) {
  ModelConfig& config = parsed.config;
  if (!parsed.given.contains("max_batch_size") && batches) config.max_batch_size = 1;
  Tensor tensor;
  tensor.type = DataType::kFp32;
  tensor.dims = {4};
  if (config.inputs.empty()) {
    tensor.name = "x";
    config.inputs.push_back(tensor);
  }
  if (config.outputs.empty()) {
    tensor.name = "y";
    config.outputs.push_back(tensor);
  }
}

// What stands around a configuration.
struct Setting {
  std::vector<std::string> files;
  bool batches = false;
  CompletionOptions options;

  explicit Setting(const std::string& text)
      : files(words_after(text, "files")), batches(!words_after(text, "backend").empty()) {
    options.gpu_models_on_cpu = !words_after(text, "gpu-models-on-cpu").empty();
  }
};

Result<ParsedConfig> complete(const Setting& setting, Result<ParsedConfig> parsed) {
  if (!parsed) return parsed;
  PROA_TRY(complete_from_folder("model", setting.files, setting.options, *parsed));
  complete_like_a_backend(setting.batches, *parsed);
  PROA_TRY(complete_rest(setting.options, *parsed));
  return parsed;
}

Result<ParsedConfig> load(const std::string& text) {
  return complete(Setting(text), parse_config(text, "config.pbtxt"));
}

std::string outcome(const std::string& text) {
  const Result<ParsedConfig> parsed = load(text);
  if (!parsed) return "error:\n" + parsed.error().message + "\n";
  std::string result;
  for (const std::string& warning : parsed->warnings) result += "warning: " + warning + "\n";
  return result + to_text(parsed->config);
}

class ConfigCaseTest : public testing::TestWithParam<std::string> {};

TEST_P(ConfigCaseTest, GivesWhatIsExpected) {
  const std::string result = outcome(read_file(kCases / (GetParam() + ".pbtxt")));
  const fs::path expected = kCases / (GetParam() + ".expected");
  if (std::getenv("PROA_UPDATE_CASES") != nullptr) {
    std::ofstream(expected, std::ios::binary) << result;
  }
  EXPECT_EQ(result, read_file(expected));
}

// What GET .../config shows.
std::string shown(const Result<ParsedConfig>& parsed) {
  return parsed ? proto::to_json(to_proto(parsed->config)) : "error: " + parsed.error().message;
}

class ConfigPasteTest : public testing::TestWithParam<std::string> {};

TEST_P(ConfigPasteTest, ShowsTheSameAfterItIsPasted) {
  const std::string text = read_file(kCases / (GetParam() + ".pbtxt"));
  const Setting setting(text);
  const Result<ParsedConfig> first = load(text);
  ASSERT_TRUE(first) << first.error().message;
  const std::string json = shown(first);
  EXPECT_EQ(shown(complete(setting, parse_config_json(json, "config of a load request"))), json);
  EXPECT_EQ(shown(complete(setting, parse_config(json, "config.pbtxt"))), json);
  EXPECT_EQ(shown(complete(setting, parse_config(to_text(first->config), "config.pbtxt"))), json);
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kCases)) {
    if (entry.path().extension() == ".pbtxt") names.push_back(entry.path().stem().native());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> good_case_names() {
  std::vector<std::string> names = case_names();
  std::erase_if(names, [](const std::string& name) {
    return read_file(kCases / (name + ".expected")).starts_with("error:");
  });
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, ConfigCaseTest, testing::ValuesIn(case_names()),
                         [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Cases, ConfigPasteTest, testing::ValuesIn(good_case_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace proa::config
