// Every case of cases/, damaged in many ways: parsing and printing must end, with or without an
// error, and never otherwise.
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "base/testing/source_path.h"
#include "config/complete.h"
#include "config/parse.h"
#include "config/proto_writer.h"
#include "gtest/gtest.h"

namespace proa::config {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> read_cases() {
  std::vector<std::string> texts;
  for (const auto& entry : fs::directory_iterator(source_path("src/config/cases"))) {
    if (entry.path().extension() != ".pbtxt") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    texts.push_back(content.str());
  }
  return texts;
}

// Up to four changes: a byte put in, taken out, replaced, or a piece of another case in between.
std::string damage(std::string text, const std::vector<std::string>& others, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(text.size() + 1);
    const std::string& other = others[below(others.size())];
    switch (below(4)) {
      case 0:
        text.insert(at, 1, static_cast<char>(below(256)));
        break;
      case 1:
        text.erase(at, below(20));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        break;
      default:
        text.insert(at, other.substr(below(other.size()), below(40)));
    }
  }
  return text;
}

TEST(ConfigMutationTest, DamagedTextsGiveAnErrorOrAConfiguration) {
  const std::vector<std::string> cases = read_cases();
  const std::vector<std::string> files = {"model.onnx"};
  std::mt19937 random(7);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string text = damage(cases[i % cases.size()], cases, random);
    Result<ParsedConfig> parsed = parse_config(text, "config.pbtxt");
    if (!parsed) {
      EXPECT_FALSE(parsed.error().message.empty()) << text;
      ++refused;
      continue;
    }
    if (!complete_from_folder("model", files, {}, *parsed) || !complete_rest({}, *parsed)) continue;
    EXPECT_TRUE(parse_config(to_text(parsed->config), "again")) << text;
    ++accepted;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace proa::config
