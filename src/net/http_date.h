#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace proa::net {

// A moment as HTTP writes it: "Sun, 06 Nov 1994 08:49:37 GMT". Source: RFC 9110, section 5.6.7.
std::string http_date(std::time_t moment);

// The present second of the machine's clock, for the Date header: made once a second and thread.
// The view lives until the next call on the same thread. Threading: any.
std::string_view http_date_now();

}  // namespace proa::net
