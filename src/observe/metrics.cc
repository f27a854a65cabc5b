#include "observe/metrics.h"

#include <algorithm>
#include <iterator>

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

std::string Metrics::render(const std::vector<std::shared_ptr<core::Model>>& models,
                            const std::vector<ServerFigure>& server) {
  std::vector<MetricFamily> families = model_families(models);
  std::ranges::move(server_families(server), std::back_inserter(families));
  std::ranges::move(process_.collect(), std::back_inserter(families));
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace proa::observe
