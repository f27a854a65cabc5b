#include "protocol/infer_json.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "base/testing/source_path.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "protocol/testing/message_bytes.h"
#include "protocol/typed.h"
#include "tensor/bytes_tensor.h"
#include "tensor/tensor.h"

namespace proa::protocol {
namespace {

using testing::HasSubstr;

// --- the text form of a request, as in the case files ---

// Bytes that are not printable ASCII as \xNN.
std::string printable(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += c >= ' ' && c <= '~' ? std::string(1, c)
                                 : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return text;
}

std::string describe(const Parameter& parameter) {
  static constexpr const char* kTypes[] = {"bool", "int64", "uint64", "double", "string"};
  return fmt::format(
      "{} = {} {}", parameter.name, kTypes[parameter.value.index()],
      printable(std::visit([](const auto& v) { return fmt::format("{}", v); }, parameter.value)));
}

std::string describe_data(const InferInput& input) {
  std::string text;
  if (input.type == DataType::kInvalid) return fmt::format(" {} bytes", input.data.size);
  if (input.type == DataType::kBytes) {
    const auto elements =
        read_bytes_elements(input.data.bytes(), input.shape.element_count().value_or(-1));
    if (!elements) return " malformed";
    for (const auto element : *elements) text += fmt::format(" \"{}\"", printable(element));
    return text;
  }
  visit_element_type(input.type, [&]<class T>(std::type_identity<T>) {
    for (std::size_t at = 0; at < input.data.size; at += sizeof(T)) {
      T element{};
      std::memcpy(&element, input.data.data() + at, sizeof(T));
      if constexpr (NumericElement<T>) {
        text += fmt::format(" {}", +element);
      } else {
        text += fmt::format(" {}", to_float(element));
      }
    }
  });
  return text;
}

std::string describe(const InferRequest& request) {
  std::string text;
  if (!request.id.empty()) text += fmt::format("id {}\n", printable(request.id));
  for (const Parameter& parameter : request.parameters) {
    text += fmt::format("parameter {}\n", describe(parameter));
  }
  if (request.sequence_id != decltype(request.sequence_id){}) {
    text += fmt::format(
        "sequence {}{}{}\n",
        std::visit([](const auto& id) { return fmt::format("{}", id); }, request.sequence_id),
        request.sequence_start ? " start" : "", request.sequence_end ? " end" : "");
  }
  if (request.priority != 0) text += fmt::format("priority {}\n", request.priority);
  if (request.timeout_us != 0) text += fmt::format("timeout {}\n", request.timeout_us);
  if (request.binary_data_output) text += "binary output\n";
  for (const InferInput& input : request.inputs) {
    text +=
        fmt::format("in {} {} {}", printable(input.name), input.datatype, input.shape.to_string());
    for (const Parameter& parameter : input.parameters) text += ' ' + describe(parameter);
    text += ':' + describe_data(input) + '\n';
  }
  for (const InferRequestedOutput& output : request.outputs) {
    text += fmt::format("out {}", printable(output.name));
    if (output.classification > 0) text += fmt::format(" classification {}", output.classification);
    if (output.binary) text += *output.binary ? " binary" : " json";
    for (const Parameter& parameter : output.parameters) text += ' ' + describe(parameter);
    text += '\n';
  }
  return text;
}

// --- the case file ---

struct Case {
  std::string name, json, binary, expect;
};

std::string unescape(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\x") == 0) {
      bytes += static_cast<char>(std::stoi(text.substr(i + 2, 2), nullptr, 16));
      i += 3;
    } else if (text[i] != '\n') {
      bytes += text[i];
    }
  }
  return bytes;
}

std::vector<Case> read_cases() {
  std::ifstream file(source_path("src/protocol/cases/infer_json.txt"));
  std::vector<Case> cases;
  std::string* section = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      cases.push_back({.name = line.substr(4)});
      section = &cases.back().json;
    } else if (line == "--- binary") {
      section = &cases.back().binary;
    } else if (line == "--- expect") {
      section = &cases.back().expect;
    } else if (section != nullptr) {
      *section += line + '\n';
    }
  }
  for (Case& c : cases) {
    c.json.pop_back();
    c.binary = unescape(c.binary);
    if (c.expect.ends_with("\n\n") || c.expect == "\n") c.expect.pop_back();
  }
  return cases;
}

std::string outcome(InferJsonReader& reader, const std::string& json, const std::string& binary) {
  const BufferView body = buffer_of(json + binary);
  const auto request = reader.read(body, json.size());
  if (!request) return "error: " + request.error().message + '\n';
  return describe(*request);
}

TEST(InferJsonReaderTest, ReadsEveryCaseOfTheCaseFile) {
  const std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 50U);
  InferJsonReader reader;  // one for all: nothing may stay from case to case
  for (const Case& c : cases) EXPECT_EQ(outcome(reader, c.json, c.binary), c.expect) << c.name;
}

TEST(InferJsonReaderTest, NeverCrashesOnCutOrFlippedBodies) {
  InferJsonReader reader;
  for (const Case& c : read_cases()) {
    const std::string body = c.json + c.binary;
    for (std::size_t size = 0; size < body.size(); ++size) {
      // The byte behind the text must not matter, whatever it is.
      for (const char behind : {' ', ',', ']', '}', '"', '['}) {
        const BufferView cut = buffer_of(body.substr(0, size) + std::string(64, behind));
        const BufferView view(cut.buffer, 0, size);
        const auto request = reader.read(view, std::min(size, c.json.size()));
        EXPECT_TRUE(!request || c.expect.starts_with("error")) << c.name << ' ' << size;
        EXPECT_EQ(text_of(cut), body.substr(0, size) + std::string(64, behind));
      }
    }
    for (std::size_t i = 0; i < body.size(); ++i) {
      std::string flipped = body;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      const BufferView view = buffer_of(flipped);
      if (const auto request = reader.read(view, c.json.size())) describe(*request);
    }
  }
}

TEST(InferJsonReaderTest, PointsIntoTheBodyForBinaryTensorsAndPlainNames) {
  const std::string json =
      R"({"inputs":[{"name":"x","datatype":"UINT8","shape":[4],"parameters":{"binary_data_size":4}}]})";
  const BufferView body = buffer_of(json + "abcd");
  InferJsonReader reader;
  const auto request = reader.read(body, json.size());
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->inputs[0].data.buffer.data(), body.buffer.data());
  EXPECT_EQ(request->inputs[0].data.offset, json.size());
  EXPECT_EQ(static_cast<const void*>(request->inputs[0].name.data()),
            body.data() + json.find("x\""));
}

TEST(InferJsonReaderTest, KeepsUnescapedNamesAliveAfterTheNextRequest) {
  InferJsonReader reader;
  const std::string json = R"({"id":"\u0061","inputs":[{"name":"\u0062","datatype":"UINT8",)"
                           R"("shape":[1],"data":[1]}]})";
  const BufferView body = buffer_of(json);
  auto first = reader.read(body, json.size());
  ASSERT_TRUE(first);
  const InferRequest moved = *std::move(first);
  const std::string other = R"({"id":"\u0063\u0063\u0063","inputs":[]})";
  const BufferView other_body = buffer_of(other);
  ASSERT_TRUE(reader.read(other_body, other.size()));
  EXPECT_EQ(moved.id, "a");
  EXPECT_EQ(moved.inputs[0].name, "b");
}

TEST(InferJsonReaderTest, RefusesAHeaderLengthBeyondTheBody) {
  InferJsonReader reader;
  const auto request = reader.read(buffer_of("{}"), 3);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().message,
            "Inference-Header-Content-Length is 3 but the body has only 2 bytes");
}

TEST(InferJsonReaderTest, RefusesAnEmptyBody) {
  InferJsonReader reader;
  EXPECT_EQ(outcome(reader, "", ""),
            "error: the body is empty: an infer request must be a JSON object\n");
  EXPECT_FALSE(reader.read(BufferView(), 0));
}

TEST(InferJsonReaderTest, BoundsTensorsParametersAndMembers) {
  const auto repeated = [](std::string_view front, int count, auto item, std::string_view back) {
    std::string json(front);
    for (int i = 0; i < count; ++i) json += (i == 0 ? "" : ",") + item(i);
    return json + std::string(back);
  };
  InferJsonReader reader;
  const auto input = [](int) {
    return std::string(R"({"name":"x","datatype":"UINT8","shape":[0],"data":[]})");
  };
  const auto member = [](int i) { return fmt::format("\"p{}\":1", i); };
  EXPECT_THAT(outcome(reader, repeated(R"({"inputs":[)", 4097, input, "]}"), ""),
              HasSubstr("4096 inputs"));
  EXPECT_THAT(outcome(reader, repeated(R"({"inputs":[],"parameters":{)", 1025, member, "}}"), ""),
              HasSubstr("1024 parameters"));
  EXPECT_THAT(outcome(reader, repeated(R"({"inputs":[],)", 200, member, "}"), ""),
              HasSubstr("too many members"));
}

TEST(InferJsonReaderTest, BoundsNesting) {
  InferJsonReader reader;
  const auto error_of = [&](const std::string& open, int levels, const std::string& member) {
    std::string json = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[0],")" + member + "\":";
    for (int i = 0; i < levels; ++i) json += open;
    for (int i = 0; i < levels; ++i) json += open == "[" ? "]" : "1}";
    json += member == "data" ? "}]}" : ",\"data\":[]}]}";
    const auto request = reader.read(buffer_of(json), json.size());
    return request ? std::string("none") : request.error().message;
  };
  EXPECT_EQ(error_of("[", 97, "data"), "none");
  EXPECT_THAT(error_of("[", 98, "data"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("[", 100000, "data"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("[", 100000, "other"), HasSubstr("nested too deeply"));
  EXPECT_THAT(error_of("{\"a\":", 100000, "other"), HasSubstr("nested too deeply"));
}

TEST(InferJsonReaderTest, ReadsALargeBodyAndASmallOneAfterIt) {
  InferJsonReader reader;
  std::string json = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[300000],"data":[0.5)";
  for (int i = 1; i < 300000; ++i) json += ",0.25";
  json += "]}]}";
  const BufferView body = buffer_of(json);
  const auto request = reader.read(body, json.size());
  ASSERT_TRUE(request) << request.error().message;
  float last = 0;
  std::memcpy(&last, request->inputs[0].data.data() + 299999 * 4, 4);
  EXPECT_EQ(last, 0.25F);
  EXPECT_EQ(outcome(reader, R"({"inputs":[]})", ""), "");
}

TEST(InferJsonReaderTest, RefusesTextThatIsNotUtf8) {
  InferJsonReader reader;
  EXPECT_THAT(outcome(reader, "{\"id\":\"\xff\",\"inputs\":[]}", ""), HasSubstr("UTF-8"));
}

// --- raw requests ---

TEST(RawInferRequestTest, InfersTheOneVariableExtent) {
  const BufferView body = buffer_of(std::string(24, 'x'));
  const auto request = read_raw_infer_request(body, "in", DataType::kFp32, {-1, 2}, true);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->inputs[0].shape, Shape({1, 3, 2}));
  EXPECT_EQ(request->inputs[0].data.data(), body.data());
  EXPECT_TRUE(request->binary_data_output);
}

TEST(RawInferRequestTest, TakesTheBodyAsOneBytesElement) {
  const auto request = read_raw_infer_request(buffer_of("jpeg"), "in", DataType::kBytes, {1}, true);
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->inputs[0].shape, Shape({1, 1}));
  EXPECT_EQ(text_of(request->inputs[0].data), std::string("\4\0\0\0jpeg", 8));
}

TEST(RawInferRequestTest, RefusesABodyThatDoesNotFit) {
  const auto error_of = [](DataType type, const Shape& shape) {
    const auto request = read_raw_infer_request(buffer_of("12345"), "in", type, shape, false);
    return request ? std::string("none") : request.error().message;
  };
  EXPECT_EQ(error_of(DataType::kFp32, {-1}),
            "input byte size mismatch for input 'in': the body has 5 bytes, which do not fit type "
            "FP32 and shape [-1]");
  EXPECT_EQ(error_of(DataType::kUint8, {4}),
            "input byte size mismatch for input 'in': the body has 5 bytes, which do not fit type "
            "UINT8 and shape [4]");
  EXPECT_EQ(error_of(DataType::kUint8, {0, -1}),
            "input byte size mismatch for input 'in': the body has 5 bytes, which do not fit type "
            "UINT8 and shape [0,-1]");
  EXPECT_THAT(error_of(DataType::kUint8, {-1, -1}), HasSubstr("several variable extents"));
  EXPECT_THAT(error_of(DataType::kBytes, {2}), HasSubstr("one BYTES element"));
}

// --- the writer ---

template <class T>
Tensor tensor_of(DataType type, const Shape& shape, std::vector<T> elements) {
  return {type, shape,
          buffer_of({reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)})};
}

std::string json_of(const Tensor& tensor) {
  InferResponse response;
  response.model_name = "m";
  response.model_version = "1";
  response.outputs = {{.name = "y", .tensor = &tensor, .binary = false}};
  const auto written = write_infer_response_json(response);
  return written ? text_of(written->message) : written.error().message;
}

// What stands in "data":[...].
std::string data_of(const Tensor& tensor) {
  const std::string json = json_of(tensor);
  const std::size_t start = json.find("\"data\":[") + 8;
  return json.substr(start, json.rfind("]}]}") - start);
}

TEST(InferJsonWriterTest, PrintsWhatTritonPrints) {
  const Tensor tensor =
      tensor_of<float>(DataType::kFp32, {1, 3}, {0.9128109812736511F, 0.9792302846908569F, 1.0F});
  EXPECT_EQ(json_of(tensor),
            R"({"model_name":"m","model_version":"1","outputs":[{"name":"y","datatype":"FP32",)"
            R"("shape":[1,3],"data":[0.9128109812736511,0.9792302846908569,1.0]}]})");
}

TEST(InferJsonWriterTest, PrintsEveryType) {
  EXPECT_EQ(data_of(tensor_of<std::uint8_t>(DataType::kBool, {3}, {0, 1, 7})), "false,true,true");
  EXPECT_EQ(data_of(tensor_of<std::int8_t>(DataType::kInt8, {2}, {-128, 5})), "-128,5");
  EXPECT_EQ(data_of(tensor_of<std::uint8_t>(DataType::kUint8, {1}, {255})), "255");
  EXPECT_EQ(data_of(tensor_of<std::int16_t>(DataType::kInt16, {1}, {-300})), "-300");
  EXPECT_EQ(data_of(tensor_of<std::uint64_t>(DataType::kUint64, {1}, {UINT64_MAX})),
            "18446744073709551615");
  EXPECT_EQ(data_of(tensor_of<double>(DataType::kFp64, {4}, {0.1, -0.0, 1e300, 123456789.0})),
            "0.1,-0.0,1e+300,123456789.0");
  EXPECT_EQ(data_of(tensor_of<double>(DataType::kFp64, {3}, {NAN, INFINITY, -INFINITY})),
            "NaN,Infinity,-Infinity");
  EXPECT_EQ(data_of(tensor_of<float>(DataType::kFp32, {0}, {})), "");
}

TEST(InferJsonWriterTest, PrintsFloatsThatReadBackAsTheSame) {
  std::mt19937_64 random(6);
  std::vector<float> values;
  for (int i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) values.push_back(value);
  }
  const auto count = static_cast<std::int64_t>(values.size());
  const std::string json =
      fmt::format(R"({{"inputs":[{{"name":"x","datatype":"FP32","shape":[{}],"data":[{}]}}]}})",
                  count, data_of(tensor_of<float>(DataType::kFp32, {count}, values)));
  InferJsonReader reader;
  const BufferView body = buffer_of(json);
  const auto request = reader.read(body, json.size());
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(std::memcmp(request->inputs[0].data.data(), values.data(), values.size() * 4), 0);
}

TEST(InferJsonWriterTest, EscapesStringsAndRepairsBadUtf8) {
  std::string bytes;
  for (const char* element : {"a\"b\\\n", "\xc3\xa9", "\xff", ""}) {
    append_bytes_element(bytes, element);
  }
  const Tensor tensor{DataType::kBytes, {2, 2}, buffer_of(bytes)};
  EXPECT_EQ(data_of(tensor), "\"a\\\"b\\\\\\n\",\"\xc3\xa9\",\"\\ufffd\",\"\"");
}

TEST(InferJsonWriterTest, RefusesHalfPrecisionInJson) {
  const Tensor tensor = tensor_of<std::uint16_t>(DataType::kFp16, {1}, {0x3c00});
  EXPECT_EQ(json_of(tensor),
            "output 'y' is of type FP16, which has no JSON form: ask for binary data (parameter "
            "binary_data)");
}

TEST(InferJsonWriterTest, PutsBinaryTensorsBehindTheJsonInOrder) {
  const Tensor small = tensor_of<std::uint8_t>(DataType::kUint8, {3}, {'a', 'b', 'c'});
  const Tensor text = tensor_of<std::int32_t>(DataType::kInt32, {1}, {5});
  const Tensor large{DataType::kUint8, {5000}, buffer_of(std::string(5000, 'L'))};
  InferResponse response;
  response.model_name = "m";
  response.model_version = "3";
  response.id = "i\"d";
  response.parameters = {{"flag", true}, {"n", std::int64_t{-1}}, {"s", std::string("t")}};
  response.outputs = {{.name = "a", .tensor = &small, .binary = true, .parameters = {{"p", 0.5}}},
                      {.name = "b", .tensor = &text, .binary = false},
                      {.name = "c", .tensor = &large, .binary = true},
                      {.name = "d", .tensor = &small, .binary = true}};
  const auto written = write_infer_response_json(response);
  ASSERT_TRUE(written);
  EXPECT_TRUE(written->binary);
  const std::string body = text_of(written->message);
  EXPECT_EQ(body.substr(0, written->json_size),
            R"({"id":"i\"d","model_name":"m","model_version":"3",)"
            R"("parameters":{"flag":true,"n":-1,"s":"t"},"outputs":[)"
            R"({"name":"a","datatype":"UINT8","shape":[3],"parameters":{"p":0.5,)"
            R"("binary_data_size":3}},{"name":"b","datatype":"INT32","shape":[1],"data":[5]},)"
            R"({"name":"c","datatype":"UINT8","shape":[5000],"parameters":)"
            R"({"binary_data_size":5000}},{"name":"d","datatype":"UINT8","shape":[3],)"
            R"("parameters":{"binary_data_size":3}}]})");
  EXPECT_EQ(body.substr(written->json_size), "abc" + std::string(5000, 'L') + "abc");
  ASSERT_EQ(written->message.parts.size(), 3U);
  EXPECT_EQ(written->message.parts[1].view.data(), large.data.data());
}

}  // namespace
}  // namespace proa::protocol
