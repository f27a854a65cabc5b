#include "tensor/data_type.h"

#include <array>

namespace proa {
namespace {

struct Row {
  std::string_view name;
  std::size_t size;
};

// Indexed by DataType.
constexpr std::array<Row, 15> kRows = {{{"INVALID", 0},
                                        {"BOOL", 1},
                                        {"UINT8", 1},
                                        {"UINT16", 2},
                                        {"UINT32", 4},
                                        {"UINT64", 8},
                                        {"INT8", 1},
                                        {"INT16", 2},
                                        {"INT32", 4},
                                        {"INT64", 8},
                                        {"FP16", 2},
                                        {"FP32", 4},
                                        {"FP64", 8},
                                        {"BYTES", 0},
                                        {"BF16", 2}}};

}  // namespace

std::size_t element_size(DataType type) { return kRows[static_cast<std::size_t>(type)].size; }

std::string_view data_type_name(DataType type) {
  return kRows[static_cast<std::size_t>(type)].name;
}

std::optional<DataType> parse_data_type(std::string_view name) {
  for (std::size_t i = 1; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<DataType>(i);
  }
  return std::nullopt;
}

}  // namespace proa
