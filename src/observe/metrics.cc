#include "observe/metrics.h"

#include <algorithm>
#include <iterator>

#include "observe/custom_families.h"
#include "observe/families.h"
#include "observe/model_families.h"
#include "prometheus/text_serializer.h"

namespace proa::observe {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// Figures of one name make one family, in the order of their first appearance.
std::vector<MetricFamily> server_families(const std::vector<ServerFigure>& figures) {
  std::vector<MetricFamily> families;
  for (const ServerFigure& figure : figures) {
    auto found = std::ranges::find(families, figure.name, &MetricFamily::name);
    if (found == families.end()) {
      const auto type =
          figure.kind == ServerFigure::Kind::kCounter ? MetricType::Counter : MetricType::Gauge;
      found = families.insert(families.end(), family(figure.name, figure.help, type));
    }
    add_value(*found, figure.labels, figure.value);
  }
  return families;
}

}  // namespace

Metrics::Metrics(MetricsOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), process_(options_.interval, clock) {}

std::string Metrics::render(const std::vector<std::shared_ptr<core::Model>>& models,
                            const std::vector<ServerFigure>& server,
                            const core::CustomMetrics* custom) {
  const std::vector<ModelRow> rows = model_rows(models);
  std::vector<MetricFamily> families = counter_families(rows, options_.counter_latencies);
  const auto add = [&](std::vector<MetricFamily> more) {
    std::ranges::move(more, std::back_inserter(families));
  };
  add(histogram_families(rows, options_.histogram_latencies));
  if (options_.summary_latencies) {
    add(summaries_.collect(rows, options_.summary_quantiles, clock_));
  }
  add(server_families(server));
  if (custom != nullptr) add(custom_families(*custom));
  if (options_.cpu) add(process_.machine());
  add(process_.process());
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace proa::observe
