#pragma once

#include <string_view>

namespace proa::loadgen {

// The files of report/page/, compiled in.
struct PageFiles {
  std::string_view html;  // with @CSS@, @TEXT@, @JSON@, @CHART@ and @REPORT@ to fill in
  std::string_view css;
  std::string_view chart;   // chart.js
  std::string_view report;  // report.js
};
extern const PageFiles kPageFiles;

}  // namespace proa::loadgen
