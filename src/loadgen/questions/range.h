#pragma once

#include "loadgen/questions/question.h"

namespace proa::loadgen {

// Every load in turn; with a bound above 0, up to the first that breaks it. Appends to `passes`;
// stops after an interrupted one.
Status run_range(const std::vector<Load>& loads, const LatencyBound& bound, const RunPass& run,
                 std::vector<Pass>& passes);

// Binary search over loads of one shape: the largest of first, first + step, ..., last that keeps
// the bound. Appends to `passes`; the answer is an index into them, or nothing when even `first`
// breaks the bound (or it was interrupted before it was known).
Result<std::optional<std::size_t>> run_binary_search(const Load& shape, double first, double last,
                                                     double step, const LatencyBound& bound,
                                                     const RunPass& run, std::vector<Pass>& passes);

// Where the curve bends: the smallest load with 90 % of the best throughput. Nothing for fewer than
// three passes, or when the smallest one reaches it already.
std::optional<Knee> find_knee(const std::vector<Pass>& passes);

// For each pass beyond the highest load that keeps the bound: what it completed within the bound.
std::vector<Goodput> find_goodput(const std::vector<Pass>& passes, const LatencyBound& bound);

}  // namespace proa::loadgen
