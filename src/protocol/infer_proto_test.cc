#include "protocol/infer_proto.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gmock/gmock.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "proto/grpc_service.pb.h"
#include "protocol/wire_writer.h"
#include "tensor/bytes_tensor.h"

namespace proa::protocol {
namespace {

using inference::InferParameter;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using testing::HasSubstr;
using testing::StartsWith;

using ParameterMap = google::protobuf::Map<std::string, InferParameter>;

BufferView buffer_of(std::string_view bytes) {
  Buffer buffer = Buffer::allocate(bytes.size());
  std::ranges::copy(std::as_bytes(std::span(bytes)), buffer.data());
  return BufferView(std::move(buffer));
}

std::string_view text_of(const BufferView& view) {
  return {reinterpret_cast<const char*>(view.data()), view.size};
}

std::string text_of(const EncodedMessage& message) {
  std::string text;
  for (const MessagePart& part : message.parts)
    text += part.bytes + std::string(text_of(part.view));
  EXPECT_EQ(text.size(), message.size);
  return text;
}

// Two descriptions of a request, one from what our reader made, one from protobuf's message; equal
// when both mean the same.

std::string describe(const Parameter::Value& value) {
  if (const auto* real = std::get_if<double>(&value)) {
    return fmt::format("double {:x}", std::bit_cast<std::uint64_t>(*real));
  }
  return std::visit([&](const auto& v) { return fmt::format("{} {}", value.index(), v); }, value);
}

std::string describe(const Parameters& parameters) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : parameters) lines.push_back(name + '=' + describe(value));
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ","));
}

std::string describe(const InferRequest& request) {
  std::string text = fmt::format("{} {} {} [{}]", request.model_name, request.model_version,
                                 request.id, describe(request.parameters));
  text += fmt::format(
      " seq {} {} {} prio {} timeout {} final {}",
      std::visit([](const auto& id) { return fmt::format("{}", id); }, request.sequence_id),
      request.sequence_start, request.sequence_end, request.priority, request.timeout_us,
      request.enable_empty_final_response);
  for (const InferInput& input : request.inputs) {
    text += fmt::format("\nin {} {} {} [{}] {}", input.name, input.datatype,
                        input.shape.to_string(), describe(input.parameters), text_of(input.data));
  }
  for (const InferRequestedOutput& output : request.outputs) {
    text += fmt::format("\nout {} {} [{}]", output.name, output.classification,
                        describe(output.parameters));
  }
  return text;
}

Parameter::Value value_of(const InferParameter& parameter) {
  switch (parameter.parameter_choice_case()) {
    case InferParameter::kBoolParam:
      return parameter.bool_param();
    case InferParameter::kInt64Param:
      return parameter.int64_param();
    case InferParameter::kStringParam:
      return parameter.string_param();
    case InferParameter::kDoubleParam:
      return parameter.double_param();
    default:
      return parameter.uint64_param();
  }
}

Parameters parameters_of(const ParameterMap& map, std::vector<std::string_view> without = {}) {
  Parameters parameters;
  for (const auto& [name, parameter] : map) {
    if (std::ranges::find(without, name) == without.end()) {
      parameters.push_back({name, value_of(parameter)});
    }
  }
  return parameters;
}

std::uint64_t number_of(const ParameterMap& map, const std::string& name) {
  const auto found = map.find(name);
  if (found == map.end()) return 0;
  return found->second.has_bool_param()    ? static_cast<std::uint64_t>(found->second.bool_param())
         : found->second.has_int64_param() ? static_cast<std::uint64_t>(found->second.int64_param())
                                           : found->second.uint64_param();
}

template <class Element, class Repeated>
std::string elements_of(const Repeated& values) {
  std::string bytes;
  for (const auto value : values) {
    const auto element = static_cast<Element>(value);
    bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
  return bytes;
}

std::string contents_of(const ModelInferRequest::InferInputTensor& input) {
  const auto& contents = input.contents();
  const std::string& type = input.datatype();
  if (type == "BOOL") return elements_of<bool>(contents.bool_contents());
  if (type == "INT8") return elements_of<std::int8_t>(contents.int_contents());
  if (type == "INT16") return elements_of<std::int16_t>(contents.int_contents());
  if (type == "INT32") return elements_of<std::int32_t>(contents.int_contents());
  if (type == "INT64") return elements_of<std::int64_t>(contents.int64_contents());
  if (type == "UINT8") return elements_of<std::uint8_t>(contents.uint_contents());
  if (type == "UINT16") return elements_of<std::uint16_t>(contents.uint_contents());
  if (type == "UINT32") return elements_of<std::uint32_t>(contents.uint_contents());
  if (type == "UINT64") return elements_of<std::uint64_t>(contents.uint64_contents());
  if (type == "FP32") return elements_of<float>(contents.fp32_contents());
  if (type == "FP64") return elements_of<double>(contents.fp64_contents());
  std::string bytes;
  for (const std::string& element : contents.bytes_contents()) append_bytes_element(bytes, element);
  return bytes;
}

std::string sequence_id_of(const ParameterMap& map) {
  const auto found = map.find("sequence_id");
  if (found != map.end() && found->second.has_string_param()) return found->second.string_param();
  return fmt::format("{}", number_of(map, "sequence_id"));
}

std::string describe(const ModelInferRequest& request) {
  const auto& map = request.parameters();
  std::string text =
      fmt::format("{} {} {} [{}]", request.model_name(), request.model_version(), request.id(),
                  describe(parameters_of(
                      map, {"sequence_id", "sequence_start", "sequence_end", "priority", "timeout",
                            "triton_enable_empty_final_response", "binary_data_output"})));
  text += fmt::format(" seq {} {} {} prio {} timeout {} final {}", sequence_id_of(map),
                      number_of(map, "sequence_start") != 0, number_of(map, "sequence_end") != 0,
                      number_of(map, "priority"), number_of(map, "timeout"),
                      number_of(map, "triton_enable_empty_final_response") != 0);
  for (int i = 0; i < request.inputs_size(); ++i) {
    const auto& input = request.inputs(i);
    const Shape shape(std::span(input.shape().data(), input.shape().size()));
    text += fmt::format(
        "\nin {} {} {} [{}] {}", input.name(), input.datatype(), shape.to_string(),
        describe(parameters_of(input.parameters())),
        request.raw_input_contents_size() > 0 ? request.raw_input_contents(i) : contents_of(input));
  }
  for (const auto& output : request.outputs()) {
    text += fmt::format(
        "\nout {} {} [{}]", output.name(), number_of(output.parameters(), "classification"),
        describe(parameters_of(output.parameters(), {"classification", "binary_data"})));
  }
  return text;
}

// Random messages that are valid requests.
class RandomRequests {
 public:
  explicit RandomRequests(unsigned seed) : random_(seed) {}

  ModelInferRequest next() {
    ModelInferRequest request;
    request.set_model_name(text());
    if (chance(2)) request.set_model_version("1");
    if (chance(2)) request.set_id(text());
    fill(*request.mutable_parameters());
    if (chance(3)) set_known_parameters(*request.mutable_parameters());
    const bool raw = chance(2);
    for (int i = below(4); i > 0; --i) {
      add_input(request, raw);
      if (raw) *request.add_raw_input_contents() = text(below(300));
    }
    for (int i = below(3); i > 0; --i) {
      auto& output = *request.add_outputs();
      output.set_name(text());
      fill(*output.mutable_parameters());
      if (chance(2)) (*output.mutable_parameters())["classification"].set_int64_param(below(9));
    }
    return request;
  }

 private:
  bool chance(int one_in) { return below(one_in) == 0; }
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  std::int64_t number() { return static_cast<std::int64_t>(random_()) >> below(64); }

  std::string text(int length = -1) {
    std::string result;
    for (int i = length < 0 ? below(12) : length; i > 0; --i) {
      result += static_cast<char>('a' + below(26));
    }
    return chance(8) ? result + "\xc3\xa9" : result;
  }

  void fill(ParameterMap& map) {
    for (int i = below(3); i > 0; --i) {
      InferParameter& parameter = map[text()];
      switch (below(5)) {
        case 0:
          parameter.set_bool_param(chance(2));
          break;
        case 1:
          parameter.set_int64_param(number());
          break;
        case 2:
          parameter.set_string_param(text());
          break;
        case 3:
          parameter.set_double_param(static_cast<double>(number()) / 7);
          break;
        default:
          parameter.set_uint64_param(static_cast<std::uint64_t>(number()));
          break;
      }
    }
  }

  void set_known_parameters(ParameterMap& map) {
    if (chance(2)) {
      map["sequence_id"].set_int64_param(below(1000));
    } else {
      map["sequence_id"].set_string_param(text());
    }
    map["sequence_start"].set_bool_param(chance(2));
    map["priority"].set_uint64_param(below(5));
    map["timeout"].set_int64_param(below(5000000));
    map["triton_enable_empty_final_response"].set_bool_param(true);
  }

  void add_input(ModelInferRequest& request, bool raw) {
    static constexpr const char* kTypes[] = {"BOOL",   "INT8",  "INT16",  "INT32",
                                             "INT64",  "UINT8", "UINT16", "UINT32",
                                             "UINT64", "FP32",  "FP64",   "BYTES"};
    auto& input = *request.add_inputs();
    input.set_name(text());
    input.set_datatype(raw && chance(4) ? "FP16" : kTypes[below(12)]);
    for (int i = below(5); i > 0; --i) input.add_shape(number());
    fill(*input.mutable_parameters());
    if (raw) return;
    for (int i = below(40); i > 0; --i) add_element(input.datatype(), *input.mutable_contents());
  }

  void add_element(const std::string& type, inference::InferTensorContents& contents) {
    if (type == "BOOL") contents.add_bool_contents(chance(2));
    if (type == "INT8") contents.add_int_contents(below(256) - 128);
    if (type == "INT16") contents.add_int_contents(below(65536) - 32768);
    if (type == "INT32") contents.add_int_contents(static_cast<std::int32_t>(number()));
    if (type == "INT64") contents.add_int64_contents(number());
    if (type == "UINT8") contents.add_uint_contents(below(256));
    if (type == "UINT16") contents.add_uint_contents(below(65536));
    if (type == "UINT32") contents.add_uint_contents(static_cast<std::uint32_t>(number()));
    if (type == "UINT64") contents.add_uint64_contents(static_cast<std::uint64_t>(number()));
    if (type == "FP32") contents.add_fp32_contents(static_cast<float>(number()) / 3);
    if (type == "FP64") contents.add_fp64_contents(static_cast<double>(number()) / 3);
    if (type == "BYTES") contents.add_bytes_contents(std::string(below(20), '\xff'));
  }

  std::mt19937_64 random_;
};

// Reads `bytes` with both readers. Ours must refuse what protobuf refuses, must not call malformed
// what protobuf takes, and must mean the same when it takes it.
void expect_same_as_protobuf(const std::string& bytes) {
  const google::protobuf::LogSilencer quiet;  // about strings that are not UTF-8
  ModelInferRequest message;
  const bool parsed = message.ParseFromString(bytes);
  const BufferView buffer = buffer_of(bytes);
  const Result<InferRequest> ours = read_infer_request(buffer);
  if (!parsed) {
    EXPECT_FALSE(ours) << "protobuf refuses it; ours: " << describe(*ours);
    return;
  }
  if (ours) {
    EXPECT_EQ(describe(*ours), describe(message));
  } else {
    EXPECT_THAT(ours.error().message, testing::Not(HasSubstr("not a valid ModelInferRequest")))
        << fmt::format("{::02x}", std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            bytes.size()));
  }
}

TEST(InferProtoReaderTest, ReadsRandomRequestsAsProtobufDoes) {
  RandomRequests requests(1);
  for (int i = 0; i < 500; ++i) {
    const ModelInferRequest message = requests.next();
    const BufferView bytes = buffer_of(message.SerializeAsString());
    const Result<InferRequest> ours = read_infer_request(bytes);
    ASSERT_TRUE(ours) << ours.error().message << '\n' << message.DebugString();
    EXPECT_EQ(describe(*ours), describe(message));
  }
}

TEST(InferProtoReaderTest, AgreesWithProtobufOnCutMessages) {
  RandomRequests requests(2);
  for (int i = 0; i < 10; ++i) {
    const std::string bytes = requests.next().SerializeAsString();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      expect_same_as_protobuf(bytes.substr(0, size));
    }
  }
}

TEST(InferProtoReaderTest, AgreesWithProtobufOnFlippedBits) {
  RandomRequests requests(3);
  for (int i = 0; i < 5; ++i) {
    const std::string bytes = requests.next().SerializeAsString();
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      expect_same_as_protobuf(flipped);
    }
  }
}

TEST(InferProtoReaderTest, AgreesWithProtobufOnNoise) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? random() : random() % 64);
    expect_same_as_protobuf(bytes);
  }
}

// A message written by hand: "field number, wire type, payload".
class HandMade {
 public:
  HandMade& varint(std::uint32_t field, std::uint64_t value) {
    put(wire_tag(field, WireType::kVarint));
    put(value);
    return *this;
  }
  HandMade& bytes(std::uint32_t field, std::string_view content) {
    put(wire_tag(field, WireType::kBytes));
    put(content.size());
    text_ += content;
    return *this;
  }
  HandMade& tag(std::uint32_t field, WireType type) {
    put(wire_tag(field, type));
    return *this;
  }
  HandMade& raw(std::string_view content) {
    text_ += content;
    return *this;
  }
  operator const std::string&() const { return text_; }
  operator std::string_view() const { return text_; }

 private:
  void put(std::uint64_t value) {
    char bytes[10];
    WireWriter out(bytes);
    out.varint(value);
    text_.append(bytes, out.position());
  }
  std::string text_;
};

TEST(InferProtoReaderTest, ReadsFieldsInAnyOrderAndPacking) {
  const HandMade contents = HandMade().varint(2, 1).bytes(2, "\x02\x03");
  const HandMade more = HandMade().varint(2, UINT64_MAX);
  const HandMade input = HandMade()
                             .bytes(5, contents)
                             .varint(3, 2)
                             .bytes(3, "\x02")
                             .bytes(2, "FP32")
                             .bytes(5, more)
                             .bytes(2, "INT16")
                             .bytes(1, "x");
  const HandMade request = HandMade().bytes(5, input).bytes(1, "old").bytes(1, "m");
  expect_same_as_protobuf(request);
  const BufferView bytes = buffer_of(request);
  const Result<InferRequest> ours = read_infer_request(bytes);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_EQ(ours->model_name, "m");
  EXPECT_EQ(ours->inputs[0].shape, Shape({2, 2}));
  const std::int16_t expected[] = {1, 2, 3, -1};
  ASSERT_EQ(ours->inputs[0].data.size, sizeof expected);
  EXPECT_EQ(std::memcmp(ours->inputs[0].data.data(), expected, sizeof expected), 0);
}

TEST(InferProtoReaderTest, MatchesRawContentsThatComeBeforeTheirInputs) {
  const HandMade request = HandMade()
                               .bytes(7, "one")
                               .bytes(5, HandMade().bytes(1, "a").bytes(2, "BYTES"))
                               .bytes(7, "two")
                               .bytes(5, HandMade().bytes(1, "b").bytes(2, "BYTES"));
  const BufferView bytes = buffer_of(request);
  const Result<InferRequest> ours = read_infer_request(bytes);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_EQ(text_of(ours->inputs[0].data), "one");
  EXPECT_EQ(text_of(ours->inputs[1].data), "two");
}

TEST(InferProtoReaderTest, SkipsUnknownFieldsAndGroups) {
  const HandMade group = HandMade()
                             .tag(9, WireType::kStartGroup)
                             .varint(1, 5)
                             .tag(2, WireType::kStartGroup)
                             .tag(2, WireType::kEndGroup)
                             .tag(9, WireType::kEndGroup);
  const HandMade request = HandMade()
                               .raw(group)
                               .bytes(100, "later")
                               .varint(1, 3)
                               .bytes(1, "m")
                               .raw(HandMade().tag(33, WireType::kFixed32).raw("abcd"));
  expect_same_as_protobuf(request);
  const BufferView bytes = buffer_of(request);
  const Result<InferRequest> ours = read_infer_request(bytes);
  ASSERT_TRUE(ours) << ours.error().message;
  EXPECT_EQ(ours->model_name, "m");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += static_cast<char>(wire_tag(9, WireType::kStartGroup));
  EXPECT_FALSE(read_infer_request(buffer_of(deep)));
}

TEST(InferProtoReaderTest, PointsIntoTheMessageForRawTensors) {
  ModelInferRequest message;
  message.add_inputs()->set_name("x");
  message.add_raw_input_contents("0123456789");
  const BufferView bytes = buffer_of(message.SerializeAsString());
  const Result<InferRequest> ours = read_infer_request(bytes);
  ASSERT_TRUE(ours);
  EXPECT_EQ(ours->inputs[0].data.buffer.data(), bytes.buffer.data());
  EXPECT_EQ(text_of(ours->inputs[0].data), "0123456789");
}

// The error that a message gives as a request.
Error error_of(const std::string& bytes) {
  const Result<InferRequest> request = read_infer_request(buffer_of(bytes));
  EXPECT_FALSE(request) << describe(*request);
  return request ? Error{} : request.error();
}
Error error_of(const ModelInferRequest& message) { return error_of(message.SerializeAsString()); }

TEST(InferProtoReaderTest, NamesThePlaceOfMalformedBytes) {
  const HandMade input = HandMade().bytes(1, "x").bytes(3, "\xff");
  EXPECT_EQ(error_of(HandMade().bytes(1, "m").bytes(5, input)).message,
            "not a valid ModelInferRequest: malformed protobuf in inputs.shape at byte 11 of 11");
  EXPECT_EQ(error_of(HandMade().bytes(1, "\xff")).message,
            "not a valid ModelInferRequest: model_name at byte 2 is not UTF-8");
}

TEST(InferProtoReaderTest, RefusesRawAndTypedContentsTogether) {
  ModelInferRequest message;
  auto& input = *message.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.mutable_contents()->add_fp32_contents(1);
  message.add_raw_input_contents("abcd");
  EXPECT_EQ(error_of(message).message,
            "input 'x' has contents although raw_input_contents are given: send either, for all "
            "inputs");
}

TEST(InferProtoReaderTest, RefusesANumberOfRawContentsThatIsNotThatOfInputs) {
  ModelInferRequest message;
  message.add_inputs()->set_name("x");
  message.add_raw_input_contents("a");
  message.add_raw_input_contents("b");
  EXPECT_EQ(error_of(message).message,
            "expected one element of raw_input_contents per input, got 2 for 1 inputs");
}

TEST(InferProtoReaderTest, RefusesContentsThatDoNotFitTheDataType) {
  ModelInferRequest message;
  auto& input = *message.add_inputs();
  input.set_name("x");
  input.set_datatype("INT8");
  input.mutable_contents()->add_int_contents(128);
  EXPECT_EQ(error_of(message).message, "input 'x': 128 does not fit INT8");
  input.set_datatype("FP32");
  EXPECT_EQ(error_of(message).message,
            "input 'x': FP32 elements belong in fp32_contents, got int_contents");
  input.set_datatype("BF16");
  EXPECT_EQ(error_of(message).message,
            "input 'x': BF16 tensors travel in raw_input_contents only, got int_contents");
}

TEST(InferProtoReaderTest, RefusesParametersItCannotHonour) {
  const auto with = [](const std::string& name, auto set) {
    ModelInferRequest message;
    set((*message.mutable_parameters())[name]);
    return error_of(message);
  };
  EXPECT_EQ(with("priority", [](auto& p) { p.set_int64_param(-1); }).message,
            "parameter 'priority' must be an integer, not negative, got -1");
  EXPECT_EQ(with("sequence_start", [](auto& p) { p.set_string_param("yes"); }).message,
            "parameter 'sequence_start' must be a boolean, got a string");
  EXPECT_EQ(with("empty", [](auto&) {}).message, "parameter 'empty' has no value");
  EXPECT_THAT(with("triton_x", [](auto& p) { p.set_bool_param(true); }).message,
              HasSubstr("names that start with 'triton_' are reserved"));
  ModelInferRequest message;
  auto& input = *message.add_inputs();
  (*input.mutable_parameters())["shared_memory_region"].set_string_param("r");
  EXPECT_EQ(error_of(message).code, ErrorCode::kUnimplemented);
}

TEST(InferProtoReaderTest, BoundsTensorsAndParameters) {
  ModelInferRequest message;
  for (std::size_t i = 0; i <= kMaxTensors; ++i) message.add_inputs();
  EXPECT_THAT(error_of(message).message, HasSubstr("4096 inputs"));
  message.Clear();
  for (std::size_t i = 0; i <= kMaxParameters; ++i) {
    (*message.mutable_parameters())[fmt::format("p{}", i)].set_bool_param(true);
  }
  EXPECT_THAT(error_of(message).message, HasSubstr("1024 parameters"));
}

// A response with its tensors.
struct ResponseCase {
  std::vector<Tensor> tensors;
  InferResponse response;
};

ResponseCase random_response(std::mt19937_64& random, std::size_t largest) {
  ResponseCase result;
  const std::size_t count = random() % 5;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = random() % 3 == 0 ? random() % largest : random() % 100;
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    Shape shape;
    for (std::size_t rank = random() % 4; rank > 0; --rank) {
      shape.push_back(static_cast<std::int64_t>(random() >> (1 + random() % 63)));
    }
    result.tensors.push_back({DataType::kUint8, shape, buffer_of(bytes)});
  }
  result.response.model_name = "model";
  if (random() % 2 == 0) result.response.model_version = "12";
  if (random() % 2 == 0) result.response.id = "request-1";
  if (random() % 2 == 0) {
    result.response.parameters = {{"b", true},
                                  {"i", std::int64_t{-5}},
                                  {"u", UINT64_MAX},
                                  {"d", 0.5},
                                  {"s", std::string(200, 's')}};
  }
  for (const Tensor& tensor : result.tensors) {
    InferOutput output{.name = "out", .tensor = &tensor};
    if (random() % 2 == 0) output.parameters = {{"p", std::string("v")}};
    result.response.outputs.push_back(output);
  }
  return result;
}

void expect_equal(const ModelInferResponse& message, const InferResponse& response) {
  EXPECT_EQ(message.model_name(), response.model_name);
  EXPECT_EQ(message.model_version(), response.model_version);
  EXPECT_EQ(message.id(), response.id);
  EXPECT_EQ(describe(parameters_of(message.parameters())), describe(response.parameters));
  ASSERT_EQ(message.outputs_size(), static_cast<int>(response.outputs.size()));
  ASSERT_EQ(message.raw_output_contents_size(), static_cast<int>(response.outputs.size()));
  for (int i = 0; i < message.outputs_size(); ++i) {
    const InferOutput& output = response.outputs[i];
    EXPECT_EQ(message.outputs(i).name(), output.name);
    EXPECT_EQ(message.outputs(i).datatype(), "UINT8");
    EXPECT_THAT(message.outputs(i).shape(), testing::ElementsAreArray(output.tensor->shape.dims()));
    EXPECT_EQ(describe(parameters_of(message.outputs(i).parameters())),
              describe(output.parameters));
    EXPECT_EQ(message.raw_output_contents(i), text_of(output.tensor->data));
  }
}

TEST(InferProtoWriterTest, WritesWhatProtobufReads) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 300; ++i) {
    const ResponseCase given = random_response(random, 3 * kReferenceFromBytes);
    const auto plain = write_infer_response(given.response, {.stream = false, .grpc_frame = false});
    ASSERT_TRUE(plain);
    ModelInferResponse message;
    ASSERT_TRUE(message.ParseFromString(text_of(*plain)));
    expect_equal(message, given.response);

    const auto stream = write_infer_response(given.response, {.stream = true, .grpc_frame = true});
    ASSERT_TRUE(stream);
    const std::string framed = text_of(*stream);
    inference::ModelStreamInferResponse wrapped;
    ASSERT_TRUE(wrapped.ParseFromString(framed.substr(5)));
    EXPECT_EQ(wrapped.error_message(), "");
    expect_equal(wrapped.infer_response(), given.response);
  }
}

TEST(InferProtoWriterTest, ReferencesLargeTensorsAndCopiesSmallOnes) {
  const Tensor small{DataType::kUint8, {10}, buffer_of(std::string(10, 's'))};
  const Tensor large{DataType::kUint8, {70000}, buffer_of(std::string(70000, 'l'))};
  InferResponse response;
  response.outputs = {{.name = "a", .tensor = &large},
                      {.name = "b", .tensor = &small},
                      {.name = "c", .tensor = &large}};
  const auto message = write_infer_response(response, {});
  ASSERT_TRUE(message);
  ASSERT_EQ(message->parts.size(), 4U);
  EXPECT_EQ(message->parts[1].view.data(), large.data.data());
  EXPECT_EQ(message->parts[3].view.data(), large.data.data());
  EXPECT_LT(message->parts[0].bytes.size() + message->parts[2].bytes.size(), 200U);
}

TEST(InferProtoWriterTest, FramesTheMessageForGrpc) {
  const Tensor large{DataType::kUint8, {70000}, buffer_of(std::string(70000, 'l'))};
  InferResponse response;
  response.outputs = {{.name = "a", .tensor = &large}};
  const auto message = write_infer_response(response, {});
  ASSERT_TRUE(message);
  const std::string bytes = text_of(*message);
  const auto byte = [&](int i) { return static_cast<unsigned char>(bytes[i]); };
  EXPECT_EQ(byte(0), 0);
  EXPECT_EQ(static_cast<std::size_t>(byte(1) << 24 | byte(2) << 16 | byte(3) << 8 | byte(4)),
            bytes.size() - 5);
}

TEST(InferProtoWriterTest, RefusesAMessageOfTwoGigabytes) {
  std::byte nothing{};
  const BufferView huge(Buffer::wrap(&nothing, std::size_t{1} << 31, [] {}));
  const Tensor tensor{DataType::kUint8, {std::int64_t{1} << 31}, huge};
  InferResponse response;
  response.model_name = "m";
  response.outputs = {{.name = "a", .tensor = &tensor}};
  const auto message = write_infer_response(response, {});
  ASSERT_FALSE(message);
  EXPECT_THAT(message.error().message, StartsWith("the response of model 'm' takes 21474"));
}

TEST(InferProtoWriterTest, WritesStreamErrors) {
  inference::ModelStreamInferResponse message;
  ASSERT_TRUE(message.ParseFromString(text_of(write_stream_error("no such model", "7", false))));
  EXPECT_EQ(message.error_message(), "no such model");
  EXPECT_EQ(message.infer_response().id(), "7");
  const std::string framed = text_of(write_stream_error("e", ""));
  EXPECT_EQ(framed, std::string("\0\0\0\0\3\x0a\1e", 8));
}

}  // namespace
}  // namespace proa::protocol
