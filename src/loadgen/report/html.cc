#include "loadgen/report/html.h"

#include <string_view>

#include "loadgen/report/page_files.h"
#include "loadgen/report/text.h"
#include "proto/json.h"

namespace proa::loadgen {
namespace {

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// JSON that cannot end the script element it stands in: "<" is only ever inside strings.
std::string escape_script(std::string_view json) {
  std::string escaped;
  for (const char c : json) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// `page` with the text behind each @NAME@ of `fillings`, which stand in the page in this order.
struct Filling {
  std::string_view name;
  std::string_view text;
};
std::string fill(std::string_view page, std::initializer_list<Filling> fillings) {
  std::string filled;
  for (const Filling& filling : fillings) {
    const std::size_t at = page.find(filling.name);
    filled += page.substr(0, at);
    filled += filling.text;
    page.remove_prefix(at + filling.name.size());
  }
  return filled += page;
}

}  // namespace

std::string html_report(const bench::BenchReport& report) {
  const std::string text = escape_html(text_report(report));
  const std::string json = escape_script(proto::to_json(report));
  return fill(kPageFiles.html, {{"@CSS@", kPageFiles.css},
                                {"@TEXT@", text},
                                {"@JSON@", json},
                                {"@CHART@", kPageFiles.chart},
                                {"@REPORT@", kPageFiles.report}});
}

}  // namespace proa::loadgen
