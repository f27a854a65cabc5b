#include "net/http_date.h"

#include "fmt/format.h"

namespace proa::net {

// By hand: strftime() would follow the locale.
std::string http_date(std::time_t moment) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  gmtime_r(&moment, &parts);
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[parts.tm_wday],
                     parts.tm_mday, kMonths[parts.tm_mon], parts.tm_year + 1900, parts.tm_hour,
                     parts.tm_min, parts.tm_sec);
}

std::string_view http_date_now() {
  thread_local std::time_t second = -1;
  thread_local std::string text;
  if (const std::time_t now = std::time(nullptr); now != second) {
    second = now;
    text = http_date(now);
  }
  return text;
}

}  // namespace proa::net
