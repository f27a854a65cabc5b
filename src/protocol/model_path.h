#pragma once

#include <string>
#include <string_view>

namespace proa::protocol {

// "/v2/models/NAME[/versions/V]", each part percent-encoded as one segment of a path. `version`: ""
// = the server's choice. Source: the KServe v2 protocol; RFC 3986, unreserved characters.
std::string model_path(std::string_view name, std::string_view version);

}  // namespace proa::protocol
