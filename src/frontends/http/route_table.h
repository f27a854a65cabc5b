#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace proa::frontends {

// The path of a request target, cut at '/' and percent-decoded; the query is dropped and one slash
// at the end does not count. "/v2/models/a%2Fb?x=1" -> "v2", "models", "a/b".
// Threading: a plain value; not copyable, because the segments point into it and into the target.
class RequestPath {
 public:
  // Longer paths cannot match any route; they are cut off, so that they do not match by accident.
  static constexpr std::size_t kMaxSegments = 9;

  explicit RequestPath(std::string_view target);
  RequestPath(const RequestPath&) = delete;
  RequestPath& operator=(const RequestPath&) = delete;

  // False: it does not begin with '/', or holds a malformed %XX.
  bool valid() const { return valid_; }
  std::span<const std::string_view> segments() const { return {segments_.data(), count_}; }

 private:
  void add(std::string_view raw, bool encoded);

  std::array<std::string_view, kMaxSegments> segments_;
  std::size_t count_ = 0;
  bool valid_ = false;
  std::string decoded_;  // reserved once, so that views into it stay
};

// The parts of a path that a pattern names.
struct RouteArguments {
  std::string_view model;
  std::string_view version;
  std::string_view repository;
};

// A pattern's segments are literal, "{model}", "{version}" or "{repository}", "{memory}" for one of
// the two kinds of shared memory, or "{any}". `endpoint` is the owner's number.
struct Route {
  std::string_view method;
  std::string_view pattern;
  int endpoint = 0;
};

// An explicit list of routes.
// Threading: immutable.
class RouteTable {
 public:
  explicit RouteTable(std::span<const Route> routes);

  struct Match {
    enum class Kind : std::uint8_t { kFound, kNoSuchPath, kWrongMethod };
    Kind kind = Kind::kNoSuchPath;
    int endpoint = 0;
    RouteArguments arguments;
    std::string allow;  // kWrongMethod: "GET" or "GET, POST"
  };

  // The views in the match live as long as `path` and its target. HEAD matches routes of GET.
  Match find(std::string_view method, const RequestPath& path) const;

 private:
  struct Entry {
    Route route;
    std::vector<std::string_view> segments;
  };
  static bool matches(const Entry& entry, const RequestPath& path, RouteArguments& arguments);

  std::vector<Entry> entries_;
};

}  // namespace proa::frontends
