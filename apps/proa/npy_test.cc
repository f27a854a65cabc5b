#include "npy.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa {
namespace {

using ::testing::HasSubstr;

// What numpy.save writes for that header, without its padding.
std::string npy(const std::string& header, const std::string& data) {
  std::string file("\x93NUMPY\1\0", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + data;
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  Buffer buffer = Buffer::allocate(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(buffer.data(), values.data(), buffer.size());
  return {DataType::kFp32, std::move(shape), BufferView(std::move(buffer))};
}

TEST(NpyTest, ReadsWhatNumpyWrites) {
  const auto tensor = parse_npy(npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n",
                                    std::string("\1\0\2\0\3\0\4\0\5\0\xff\xff", 12)));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->type, DataType::kInt16);
  EXPECT_EQ(tensor->shape, (Shape{2, 3}));
  EXPECT_EQ(reinterpret_cast<const std::int16_t*>(tensor->data.data())[5], -1);
}

TEST(NpyTest, ReadsBackWhatItWrites) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{2, 2}, Shape{0, 7}}) {
    const Tensor tensor =
        floats(shape, std::vector<float>(static_cast<std::size_t>(*shape.element_count()), 1.5F));
    const auto file = format_npy(tensor);
    ASSERT_TRUE(file);
    EXPECT_EQ((file->size() - tensor.data.size) % 64, 0U);
    const auto back = parse_npy(*file);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->shape, shape);
    EXPECT_TRUE(std::ranges::equal(back->data.bytes(), tensor.data.bytes()));
  }
}

TEST(NpyTest, TurnsFortranOrderAround) {
  // numpy.asfortranarray(numpy.arange(12).reshape(2, 3, 2)), as bytes.
  const auto tensor = parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 2), }",
                                    std::string("\0\6\2\10\4\12\1\7\3\11\5\13", 12)));
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape, (Shape{2, 3, 2}));
  for (int i = 0; i < 12; ++i) EXPECT_EQ(static_cast<int>(tensor->data.data()[i]), i);
}

TEST(NpyTest, SaysWhatItCannotRead) {
  const auto reason = [](const std::string& file) {
    const auto tensor = parse_npy(file);
    return tensor ? std::string("read") : tensor.error().message;
  };
  EXPECT_THAT(reason("hello"), HasSubstr("does not begin"));
  EXPECT_THAT(reason(npy("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }", "")),
              HasSubstr("<U3"));
  EXPECT_THAT(reason(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", "1234")),
              HasSubstr(">f4"));
  EXPECT_THAT(reason(npy("{'descr': '<f4', 'shape': (1,), }", "1234")), HasSubstr("fortran_order"));
  EXPECT_THAT(reason(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "1234")),
              HasSubstr("4 bytes"));
  EXPECT_THAT(reason(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }", "1234")),
              HasSubstr("shape"));
  EXPECT_THAT(reason(npy("{'descr': [('a', '<f4')], 'fortran_order': False, }", "")),
              HasSubstr("record"));
}

TEST(NpyTest, SurvivesDamagedHeaders) {
  const std::string whole = *format_npy(floats({2, 2}, {1, 2, 3, 4}));
  for (std::size_t i = 0; i < 100; ++i) {
    for (const char c : {'\0', '(', '\'', ':', '\xff'}) {
      std::string file = whole;
      file[i] = c;
      const auto tensor = parse_npy(file);
      EXPECT_TRUE(tensor || !tensor.error().message.empty());
      (void)parse_npy(whole.substr(0, i));
    }
  }
}

}  // namespace
}  // namespace proa
