#include "engine/cuda/tuner.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "base/thread.h"
#include "engine/cuda/candidate_timer.h"
#include "engine/cuda/status.h"
#include "engine/passes/match.h"
#include "engine/plan/choose_fusions.h"

namespace proa::engine::cuda {
namespace {

// FP16 results with FP32 sums differ by 3e-4, TF32 ones by as much, FP32 ones by 1e-6.
constexpr float kLargestDistance = 3e-3f;
constexpr float kLargestStrictDistance = 2e-5f;
constexpr int kQuickRepeats = 3;
constexpr int kFinalRepeats = 11;
constexpr std::size_t kFinalists = 3;
constexpr float kHopeless = 3;  // times the best so far
constexpr float kNoLimit = std::numeric_limits<float>::infinity();
constexpr std::size_t kFirstVariants = 3;  // of an implementation, tried where nothing is timed

struct Candidate {
  Choice choice;
  std::unique_ptr<StepKernel> kernel = nullptr;  // null: it did not build
  std::string why = {};                          // it did not
};

// Everything about one distinct signature of the plan.
struct Job {
  const Step* step = nullptr;
  std::size_t parts = 1;  // steps of the plan; several: a fusion, which the plan can do without
  std::vector<Candidate> candidates;
  std::string why;  // what failed last, for the error when nothing is left
  std::shared_ptr<StepKernel> kernel;
  Choice choice;
};

// Runs work(0) ... work(count - 1) on threads that have the device and libraries of their own.
// Errors: of making the threads and libraries.
Status run_parallel(const DeviceInfo& device, int threads, std::size_t count,
                    const std::function<void(std::size_t, Libraries&)>& work) {
  if (count == 0) return {};
  std::atomic<std::size_t> next = 0;
  std::vector<Status> failures(std::min(static_cast<std::size_t>(threads), count));
  std::vector<std::thread> pool;
  for (Status& failure : failures) {
    auto thread = try_start_thread("engine-build", [&] {
      (void)cudaSetDevice(device.index);
      auto libraries = Libraries::create();
      if (!libraries) {
        failure = std::move(libraries).error();
        return;
      }
      for (std::size_t i = next++; i < count; i = next++) work(i, **libraries);
    });
    if (thread) {
      pool.push_back(std::move(*thread));
    } else {
      failure = std::move(thread).error();
    }
  }
  for (std::thread& thread : pool) thread.join();
  // One thread that works is enough; if none does, say why.
  const bool any = std::ranges::any_of(failures, [](const Status& s) { return s.has_value(); });
  return any ? Status{} : std::move(failures.front());
}

// Copies what no kernel computes with, nor a timer: integers and others, byte by byte.
bool needs_no_choice(const Graph& graph, const Step& step) {
  return is_copy(graph, step.node) && step.candidates == std::vector{Implementation::kReference};
}

// The plain kernel is a candidate only where nothing else is. Empty: nothing is to be tried.
std::vector<Implementation> implementations_to_try(const Graph& graph, const Job& job,
                                                   const std::set<Implementation>& avoid) {
  if (needs_no_choice(graph, *job.step)) return {};
  std::vector<Implementation> list = job.step->candidates;
  const auto avoided = [&](Implementation each) { return avoid.contains(each); };
  if (job.parts > 1 || !std::ranges::all_of(list, avoided)) std::erase_if(list, avoided);
  if (list.size() > 1) std::erase(list, Implementation::kReference);
  return list;
}

void list_candidates(const Graph& graph, Job& job, const TunerOptions& options,
                     Libraries& libraries) {
  for (Implementation implementation : implementations_to_try(graph, job, options.avoid)) {
    auto variants = maker_of(implementation).variants(graph, job.step->node, libraries);
    if (!variants) {
      job.why = variants.error().message;
      continue;
    }
    for (std::string& variant : *variants) {
      job.candidates.push_back({{implementation, std::move(variant), 0}});
    }
  }
}

void build_candidate(const Graph& graph, const Step& step, Candidate& candidate,
                     Libraries& libraries) {
  auto kernel = maker_of(candidate.choice.implementation)
                    .build(graph, step.node, candidate.choice.variant, libraries);
  if (kernel) {
    candidate.kernel = std::move(*kernel);
  } else {
    candidate.why = kernel.error().message;
  }
}

// An entry that people edited may name what the step cannot use.
bool allows(const Step& step, const Choice& choice) {
  return std::ranges::find(step.candidates, choice.implementation) != step.candidates.end();
}

// How far a kernel's answer may be from the plain one's.
float largest_distance(const Graph& graph, const Node& node) {
  if (graph.value(node.output()).type != DataType::kFp32) return kLargestDistance;
  const auto* conv = std::get_if<Conv>(&node.op);
  const auto* matmul = std::get_if<MatMul>(&node.op);
  const bool rounds = (conv != nullptr && conv->tf32) || (matmul != nullptr && matmul->tf32);
  const bool reads_half = graph.value(node.input(0)).type == DataType::kFp16;
  return rounds || reads_half ? kLargestDistance : kLargestStrictDistance;
}

// Sorted by time, failures last.
void sort_by_time(std::vector<Candidate>& candidates) {
  std::ranges::stable_sort(candidates, {},
                           [](const Candidate& c) { return c.choice.microseconds; });
}

class Chooser {
 public:
  Chooser(const Plan& plan, const DeviceInfo& device, Libraries& libraries, TuningCache& cache,
          const TunerOptions& options)
      : plan_(plan), device_(device), libraries_(libraries), cache_(cache), options_(options) {}

  Result<ChosenKernels> run() {
    for (const Step& step : plan_.steps) {
      Job& job = jobs_[step.signature];
      if (job.step == nullptr) job.step = &step;
    }
    for (const Fusion& fusion : plan_.fusions) {
      Job& job = jobs_[fusion.step.signature];
      job.step = &fusion.step;
      job.parts = fusion.count;
    }
    PROA_TRY(build_known());
    PROA_TRY(build_unknown());
    for (auto& [signature, job] : jobs_) {
      if (job.kernel == nullptr) PROA_TRY(decide(job));
    }
    return collect();
  }

 private:
  std::vector<Job*> open_jobs() {
    std::vector<Job*> open;
    for (auto& [signature, job] : jobs_) {
      if (job.kernel == nullptr) open.push_back(&job);
    }
    return open;
  }

  // Kernels that the cache names. One that does not build any more is tuned again.
  Status build_known() {
    std::vector<Job*> known;
    for (auto& [signature, job] : jobs_) {
      const auto choice = cache_.find(device_.environment, signature);
      if (!choice || !allows(*job.step, *choice)) continue;
      job.candidates.push_back({*choice});
      known.push_back(&job);
    }
    PROA_TRY(run_parallel(
        device_, options_.threads, known.size(), [&](std::size_t i, Libraries& libraries) {
          build_candidate(plan_.graph, *known[i]->step, known[i]->candidates.front(), libraries);
        }));
    for (Job* job : known) {
      Candidate& candidate = job->candidates.front();
      if (candidate.kernel != nullptr) {
        job->choice = candidate.choice;
        job->kernel = std::move(candidate.kernel);
        ++built_;
      }
      job->candidates.clear();
    }
    return {};
  }

  // Every candidate of the steps that the cache does not know, built side by side.
  Status build_unknown() {
    const std::vector<Job*> open = open_jobs();
    if (open.empty() || !options_.time_candidates) return {};
    PROA_TRY(run_parallel(device_, options_.threads, open.size(),
                          [&](std::size_t i, Libraries& libraries) {
                            list_candidates(plan_.graph, *open[i], options_, libraries);
                          }));
    std::vector<std::pair<Job*, Candidate*>> work;
    for (Job* job : open) {
      for (Candidate& candidate : job->candidates) work.emplace_back(job, &candidate);
    }
    built_ += work.size();
    return run_parallel(
        device_, options_.threads, work.size(), [&](std::size_t i, Libraries& libraries) {
          build_candidate(plan_.graph, *work[i].first->step, *work[i].second, libraries);
        });
  }

  // Gives the job its kernel.
  Status decide(Job& job) {
    for (const Candidate& candidate : job.candidates) {
      if (candidate.kernel == nullptr) job.why = candidate.why;
    }
    std::erase_if(job.candidates, [](const Candidate& c) { return c.kernel == nullptr; });
    if (job.parts > 1) {
      PROA_TRY(decide_fusion(job));
      if (job.kernel == nullptr) return {};
    } else if (!options_.time_candidates) {
      PROA_TRY(take_first(job));
    } else if (!job.candidates.empty()) {
      PROA_TRY(time_all(job));
    }
    // What was not timed is no result to keep, nor what a failure left: it may work the next time.
    const bool found = job.kernel != nullptr;
    if (!found) PROA_TRY(take_plain(job));
    if (options_.time_candidates && found) {
      cache_.put(device_.environment, job.step->signature, job.choice);
    }
    job.candidates.clear();
    return {};
  }

  // A fusion is taken only where it was timed and checked. The plan can do without it: memory that
  // is missing for that is no error.
  Status decide_fusion(Job& job) {
    if (!options_.time_candidates || job.candidates.empty()) return {};
    Status timed = time_all(job);
    if (timed || timed.error().code != ErrorCode::kResourceExhausted) return timed;
    job.why = timed.error().message;
    job.kernel = nullptr;
    return {};
  }

  // The first candidate that builds and runs.
  Status take_first(Job& job) {
    const Node& node = job.step->node;
    const std::vector<Implementation> list =
        implementations_to_try(plan_.graph, job, options_.avoid);
    if (list.empty()) return {};
    PROA_ASSIGN(CandidateTimer timer,
                CandidateTimer::create(plan_.graph, node, job.parts,
                                       CandidateTimer::Operands::kOneSet, libraries_));
    for (const Implementation implementation : list) {
      const auto variants = maker_of(implementation).variants(plan_.graph, node, libraries_);
      if (!variants) continue;
      for (std::size_t i = 0; i < std::min(kFirstVariants, variants->size()); ++i) {
        Candidate candidate{{implementation, (*variants)[i], 0}};
        build_candidate(plan_.graph, *job.step, candidate, libraries_);
        if (candidate.kernel == nullptr) continue;
        ++built_;
        PROA_ASSIGN(candidate.choice.microseconds, time_one(timer, job, candidate, 1, kNoLimit));
        if (candidate.choice.microseconds == std::numeric_limits<float>::infinity()) continue;
        take(job, candidate);
        return {};
      }
    }
    return {};
  }

  Error nothing_left(const Job& job) const {
    return error::internal("no kernel works for {} on {}{}{}", job.step->signature,
                           device_.environment, job.why.empty() ? "" : ": ", job.why);
  }

  // What is left when no fast kernel built, ran or agreed.
  Status take_plain(Job& job) {
    Candidate plain{{Implementation::kReference, "", 0}};
    if (!options_.avoid.contains(Implementation::kReference) && allows(*job.step, plain.choice)) {
      build_candidate(plan_.graph, *job.step, plain, libraries_);
    }
    if (plain.kernel == nullptr) return nothing_left(job);
    take(job, plain);
    return {};
  }

  static void take(Job& job, Candidate& candidate) {
    job.choice = candidate.choice;
    job.kernel = std::move(candidate.kernel);
  }

  // A failed launch only rules the candidate out, unless it broke the device. What takes longer
  // than `limit` need not be timed well.
  Result<float> time_one(CandidateTimer& timer, Job& job, Candidate& candidate, int repeats,
                         float limit) {
    ++timed_;
    auto time = timer.time(*candidate.kernel, repeats, limit);
    if (time) return *time;
    job.why = time.error().message;
    PROA_CUDA(cudaDeviceSynchronize());
    return std::numeric_limits<float>::infinity();
  }

  void report(const Job& job) const {
    if (!options_.timed) return;
    std::vector<Choice> choices;
    for (const Candidate& candidate : job.candidates) choices.push_back(candidate.choice);
    options_.timed(*job.step, choices);
  }

  Status time_all(Job& job) {
    PROA_ASSIGN(CandidateTimer timer,
                CandidateTimer::create(plan_.graph, job.step->node, job.parts,
                                       CandidateTimer::Operands::kRotated, libraries_));
    float best = kNoLimit;
    for (Candidate& candidate : job.candidates) {
      PROA_ASSIGN(candidate.choice.microseconds,
                  time_one(timer, job, candidate, kQuickRepeats, kHopeless * best));
      best = std::min(best, candidate.choice.microseconds);
    }
    sort_by_time(job.candidates);
    report(job);
    const std::size_t finalists = std::min(kFinalists, job.candidates.size());
    for (std::size_t i = 0; i < finalists; ++i) {
      Candidate& candidate = job.candidates[i];
      PROA_ASSIGN(candidate.choice.microseconds,
                  time_one(timer, job, candidate, kFinalRepeats, kNoLimit));
    }
    sort_by_time(job.candidates);
    for (Candidate& candidate : job.candidates) {
      if (candidate.choice.microseconds == std::numeric_limits<float>::infinity()) break;
      PROA_ASSIGN(const float distance, timer.distance_from_plain(*candidate.kernel));
      if (distance < largest_distance(plan_.graph, job.step->node)) {
        take(job, candidate);
        return {};
      }
      job.why =
          fmt::format("{} {} is {} away from the plain kernel",
                      name_of(candidate.choice.implementation), candidate.choice.variant, distance);
    }
    return {};
  }

  ChosenKernels collect() {
    ChosenKernels chosen;
    for (const Step& step : plan_.steps) {
      const Job& job = jobs_.at(step.signature);
      chosen.by_step.push_back(job.kernel);
      chosen.choices.push_back(job.choice);
    }
    take_fusions(chosen);
    for (const auto& kernel : chosen.by_step) {
      if (kernel == nullptr) continue;
      chosen.workspace_bytes = std::max(chosen.workspace_bytes, kernel->workspace_bytes());
    }
    chosen.built = built_;
    chosen.timed = timed_;
    return chosen;
  }

  void take_fusions(ChosenKernels& chosen) const {
    std::vector<float> steps, fusions;
    for (const Choice& choice : chosen.choices) {
      // Only a plain kernel is taken untimed: where it is all that is left.
      steps.push_back(choice.microseconds > 0 ? choice.microseconds : kUntimed);
    }
    for (const Fusion& fusion : plan_.fusions) {
      const Job& job = jobs_.at(fusion.step.signature);
      fusions.push_back(job.kernel != nullptr ? job.choice.microseconds : kUntimed);
    }
    chosen.fusions = choose_fusions(plan_, steps, fusions);
    for (const std::size_t index : taken_fusions(plan_, chosen)) {
      const Fusion& fusion = plan_.fusions[index];
      const Job& job = jobs_.at(fusion.step.signature);
      std::fill_n(chosen.by_step.begin() + static_cast<std::ptrdiff_t>(fusion.first), fusion.count,
                  nullptr);
      chosen.by_step[fusion.first] = job.kernel;
      chosen.choices[fusion.first] = job.choice;
    }
  }

  const Plan& plan_;
  const DeviceInfo& device_;
  Libraries& libraries_;
  TuningCache& cache_;
  const TunerOptions& options_;
  std::map<std::string, Job> jobs_;
  std::size_t built_ = 0, timed_ = 0;
};

}  // namespace

Result<ChosenKernels> choose_kernels(const Plan& plan, const DeviceInfo& device,
                                     Libraries& libraries, TuningCache& cache,
                                     const TunerOptions& options) {
  return Chooser(plan, device, libraries, cache, options).run();
}

std::vector<std::size_t> taken_fusions(const Plan& plan, const ChosenKernels& kernels) {
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const std::optional<std::size_t> index = kernels.fusions[i];
    if (index && plan.fusions[*index].first == i) taken.push_back(*index);
  }
  return taken;
}

const Step& work_of(const Plan& plan, const ChosenKernels& kernels, std::size_t i) {
  const std::optional<std::size_t> fusion = kernels.fusions[i];
  return fusion ? plan.fusions[*fusion].step : plan.steps[i];
}

}  // namespace proa::engine::cuda
