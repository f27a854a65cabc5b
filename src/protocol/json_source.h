#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "boost/container/small_vector.hpp"
#include "simdjson.h"

namespace proa::protocol {

// A JSON text under a simdjson on-demand parser: walks over objects and arrays, and makes errors
// that name the place. All errors are kInvalidArgument.
// Threading: a plain value; points to the text and the document of its owner.
class JsonSource {
 public:
  // `document` may be null before the parser has run.
  JsonSource(std::string_view text, simdjson::ondemand::document* document)
      : text_(text), document_(document) {}

  std::string_view text() const { return text_; }

  // The value's first token, and how errors call the value.
  std::string_view token(simdjson::ondemand::value& value) const;
  std::string summary(simdjson::ondemand::value& value) const;

  // "problem (line 1, column 7)"
  Error error_at(const char* at, std::string_view problem) const;
  Error syntax_error(simdjson::error_code code) const;
  // "'what' must be type, got ..."
  Error wanted(simdjson::ondemand::value& value, std::string_view what,
               std::string_view type) const;

  // Calls on_member(key, value) -> Status for each member of an object. Keys must be unique, and
  // max_members at most (each is compared with all before it). A key is valid until the parser
  // reads its next text.
  template <class OnMember>
  Status for_each_member(simdjson::ondemand::object& object, OnMember on_member,
                         std::size_t max_members = kMaxMembers) const {
    boost::container::small_vector<std::string_view, 8> seen;
    for (auto item : object) {
      simdjson::ondemand::field field;
      std::string_view key;
      if (const auto code = std::move(item).get(field)) return syntax_error(code);
      const char* place = field.key().raw() - 1;
      if (const auto code = field.unescaped_key().get(key)) return syntax_error(code);
      if (std::ranges::find(seen, key) != seen.end()) {
        return error_at(place, fmt::format("member '{}' comes twice", key));
      }
      if (seen.size() == max_members) return error_at(place, "the object has too many members");
      seen.push_back(key);
      simdjson::ondemand::value value = field.value();
      PROA_TRY(on_member(key, value));
    }
    return {};
  }

  // Calls on_item(value) -> Status for each element of an array, which is called `what` in errors.
  template <class OnItem>
  Status for_each_item(simdjson::ondemand::value& value, std::string_view what,
                       OnItem on_item) const {
    simdjson::ondemand::array array;
    if (value.get_array().get(array)) return wanted(value, what, "an array");
    for (auto item : array) {
      simdjson::ondemand::value element;
      if (const auto code = std::move(item).get(element)) return syntax_error(code);
      PROA_TRY(on_item(element));
    }
    return {};
  }

  // Walks over a value of no interest, which must still be JSON and have `max_depth` levels at
  // most.
  Status skip(simdjson::ondemand::value& value, int max_depth) const;

  static constexpr std::size_t kMaxMembers = 128;

 private:
  Status skip_scalar(simdjson::ondemand::value& value, simdjson::ondemand::json_type type) const;

  std::string_view text_;
  simdjson::ondemand::document* document_;
};

}  // namespace proa::protocol
