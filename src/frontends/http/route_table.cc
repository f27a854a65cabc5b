#include "frontends/http/route_table.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace proa::frontends {
namespace {

// Decodes %XX of `raw` onto the end of `out`; false when one is malformed.
bool percent_decode(std::string_view raw, std::string& out) {
  while (!raw.empty()) {
    const bool encoded = raw.front() == '%';
    const std::optional<char> byte = encoded ? percent_encoded_byte(raw) : raw.front();
    if (!byte) return false;
    out += *byte;
    raw.remove_prefix(encoded ? 3 : 1);
  }
  return true;
}

}  // namespace

RequestPath::RequestPath(std::string_view target) {
  std::string_view path = target.substr(0, target.find('?'));
  if (!path.starts_with('/')) return;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  valid_ = true;
  if (path.empty()) return;
  const bool encoded = path.find('%') != std::string_view::npos;
  if (encoded) decoded_.reserve(path.size());
  while (valid_ && count_ < kMaxSegments) {
    const auto slash = path.find('/');
    add(path.substr(0, slash), encoded);
    if (slash == std::string_view::npos) return;
    path.remove_prefix(slash + 1);
  }
}

void RequestPath::add(std::string_view raw, bool encoded) {
  if (!encoded) {
    segments_[count_++] = raw;
    return;
  }
  const std::size_t begin = decoded_.size();
  valid_ = percent_decode(raw, decoded_);
  segments_[count_++] = std::string_view(decoded_).substr(begin);
}

RouteTable::RouteTable(std::span<const Route> routes) {
  entries_.reserve(routes.size());
  for (const Route& route : routes) {
    const auto segments = RequestPath(route.pattern);
    entries_.push_back({route, {segments.segments().begin(), segments.segments().end()}});
  }
}

RouteTable::Match RouteTable::find(std::string_view method, const RequestPath& path) const {
  Match match;
  if (!path.valid()) return match;
  for (const Entry& entry : entries_) {
    RouteArguments arguments;
    if (!matches(entry, path, arguments)) continue;
    if (entry.route.method == method || (method == "HEAD" && entry.route.method == "GET")) {
      return {Match::Kind::kFound, entry.route.endpoint, arguments, {}};
    }
    match.kind = Match::Kind::kWrongMethod;
    if (!match.allow.empty()) match.allow += ", ";
    match.allow += entry.route.method;
  }
  return match;
}

bool RouteTable::matches(const Entry& entry, const RequestPath& path, RouteArguments& arguments) {
  const auto segments = path.segments();
  if (segments.size() != entry.segments.size()) return false;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string_view pattern = entry.segments[i];
    if (pattern == "{model}") {
      arguments.model = segments[i];
    } else if (pattern == "{version}") {
      arguments.version = segments[i];
    } else if (pattern == "{repository}") {
      arguments.repository = segments[i];
    } else if (pattern == "{memory}") {
      if (segments[i] != "systemsharedmemory" && segments[i] != "cudasharedmemory") return false;
    } else if (pattern == "{any}") {
      continue;
    } else if (pattern != segments[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace proa::frontends
