#pragma once

#include <map>
#include <string>
#include <string_view>

namespace proa::config {

// A place in a file, counted from 1; line 0 = unknown.
struct Position {
  int line = 0;
  int column = 0;
};

// Which fields a configuration states, and where: also those that state their default, which the
// proto3 message alone cannot tell from absent ones. So completion never overwrites an explicit 0.
//
// Paths name fields by their proto names, elements by number and map entries by key:
// "max_batch_size", "input[0].dims[1]", "parameters[KEY]".
// Threading: a plain value.
class GivenFields {
 public:
  void add(std::string path, Position position) { fields_.emplace(std::move(path), position); }

  bool contains(std::string_view path) const { return fields_.find(path) != fields_.end(); }

  // Where `path` stands, else where the message around it does; line 0 when neither is given.
  Position find(std::string_view path) const;

 private:
  std::map<std::string, Position, std::less<>> fields_;
};

}  // namespace proa::config
