#include <cstring>
#include <random>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "gmock/gmock.h"
#include "google/protobuf/stubs/logging.h"
#include "gtest/gtest.h"
#include "protocol/infer_proto.h"
#include "protocol/testing/describe_request.h"
#include "protocol/testing/message_bytes.h"
#include "protocol/testing/random_requests.h"
#include "protocol/wire_writer.h"

namespace proa::protocol {
namespace {

using inference::ModelInferRequest;
using testing::HasSubstr;

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

TEST(InferProtoReaderTest, BoundsWhatTypedContentsBecome) {
  ModelInferRequest message;
  for (const char* type : {"INT64", "BYTES"}) {
    auto* input = message.add_inputs();
    input->set_datatype(type);
    auto* contents = input->mutable_contents();
    for (int i = 0; i < 100; ++i) {
      input->datatype() == "INT64" ? contents->add_int64_contents(i)
                                   : contents->add_bytes_contents("four");
    }
  }
  const BufferView bytes = buffer_of(message.SerializeAsString());
  const auto fits = read_infer_request(bytes, 1600);
  ASSERT_TRUE(fits) << fits.error().message;
  EXPECT_EQ(fits->decoded_bytes, 1600u);
  const auto exceeds = read_infer_request(bytes, 1599);
  ASSERT_FALSE(exceeds);
  EXPECT_EQ(exceeds.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(exceeds.error().message, HasSubstr("become 800 bytes"));
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

}  // namespace
}  // namespace proa::protocol
