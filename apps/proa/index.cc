#include "index.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>

#include "backends/index/vector_index.h"
#include "base/log.h"
#include "base/text.h"
#include "base/utf8.h"
#include "fmt/format.h"
#include "index_progress.h"
#include "index_publish.h"
#include "local_repository.h"
#include "vector_journal.h"
#include "vector_maker.h"

namespace proa {
namespace {

namespace fs = std::filesystem;
using backends::index::Arrangement;
using backends::index::Metric;
using backends::index::VectorIndex;

constexpr std::size_t kInFlight = 64;
constexpr std::size_t kShownFailures = 5;
constexpr std::size_t kRecallQueries = 1000;

std::atomic<bool> interrupted = false;

// The second one ends the process.
void on_interrupt(int) {
  interrupted.store(true);
  std::signal(SIGINT, SIG_DFL);
}

struct Picture {
  std::string name;  // below the folder: what a search answers with
  fs::path path;
  FileStamp stamp;
};

bool is_picture(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png" || ending == ".webp";
}

// All below the folder, by name.
Result<std::vector<Picture>> list_pictures(const fs::path& folder) {
  std::vector<Picture> pictures;
  std::error_code failed;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::follow_directory_symlink, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (!entry->is_regular_file(failed) || !is_picture(entry->path())) continue;
    Picture picture{fs::relative(entry->path(), folder, failed).string(), entry->path(), {}};
    if (!is_utf8(picture.name) || picture.name.contains('\n')) {
      return error::invalid_argument("{}: names of pictures must be UTF-8 without line breaks",
                                     log::printable(picture.name));
    }
    picture.stamp.bytes = entry->file_size(failed);
    picture.stamp.modified_ns = entry->last_write_time(failed).time_since_epoch().count();
    pictures.push_back(std::move(picture));
  }
  if (failed) return error::unavailable("{}: {}", folder.string(), failed.message());
  if (pictures.empty()) {
    return error::not_found("{} has no pictures (.jpg, .jpeg, .png, .webp)", folder.string());
  }
  std::ranges::sort(pictures, {}, &Picture::name);
  return pictures;
}

// Makes the vectors that the journal does not have.
class Indexing {
 public:
  Indexing(const std::vector<Picture>& pictures, VectorMaker& maker, VectorJournal& journal)
      : pictures_(pictures), maker_(maker), journal_(journal) {}

  // Errors: those of the journal.
  Status run() {
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      if (journal_.find(pictures_[i].name, pictures_[i].stamp).empty()) missing.push_back(i);
    }
    done_ = pictures_.size() - missing.size();
    if (done_ > 0) fmt::print(stderr, "{} pictures have their vector from before\n", done_);
    IndexProgress progress(done_, pictures_.size());
    for (const std::size_t i : missing) {
      if (interrupted.load()) break;
      start(i);
      while (maker_.in_flight() >= kInFlight) PROA_TRY(take(progress));
    }
    while (maker_.in_flight() > 0) PROA_TRY(take(progress));
    return {};
  }

  const std::vector<std::string>& failures() const { return failures_; }

 private:
  void start(std::size_t i) {
    std::ifstream stream(pictures_[i].path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const Status started =
        stream.is_open() ? maker_.start(i, bytes) : error::unavailable("the file cannot be read");
    if (!started) note_failure(i, started.error());
  }

  Status take(IndexProgress& progress) {
    VectorMaker::Answer answer = maker_.wait();
    if (answer.vector) {
      const Picture& picture = pictures_[answer.tag];
      PROA_TRY(journal_.append(picture.name, picture.stamp, *std::move(answer.vector)));
      ++done_;
    } else {
      note_failure(answer.tag, answer.vector.error());
    }
    progress.show(done_, failures_.size());
    return {};
  }

  void note_failure(std::size_t i, const Error& why) {
    failures_.push_back(fmt::format("{}: {}", pictures_[i].name, why.message));
  }

  const std::vector<Picture>& pictures_;
  VectorMaker& maker_;
  VectorJournal& journal_;
  std::size_t done_ = 0;
  std::vector<std::string> failures_;
};

struct Collection {
  std::vector<std::string> names;
  std::vector<float> vectors;
  std::size_t dimension = 0;
};

// The vectors of the pictures that have one, in the order of the pictures.
Result<Collection> collect(const std::vector<Picture>& pictures, const VectorJournal& journal) {
  Collection collection;
  for (const Picture& picture : pictures) {
    const auto vector = journal.find(picture.name, picture.stamp);
    if (vector.empty()) continue;
    if (collection.dimension == 0) collection.dimension = vector.size();
    if (vector.size() != collection.dimension) {
      return error::invalid_argument(
          "{} has a vector of {} values, others have {}: the pipeline must give all pictures the "
          "same length",
          picture.name, vector.size(), collection.dimension);
    }
    collection.names.push_back(picture.name);
    collection.vectors.insert(collection.vectors.end(), vector.begin(), vector.end());
  }
  if (collection.names.empty()) return error::invalid_argument("no picture has a vector");
  return collection;
}

// How many of the true neighbours the graph finds, asked with a sample of the vectors themselves.
Result<double> measure_recall(const Collection& collection, const VectorIndex& graph,
                              std::int64_t k) {
  PROA_ASSIGN(
      const VectorIndex flat,
      VectorIndex::build(collection.vectors, static_cast<std::int64_t>(collection.dimension),
                         graph.metric(), Arrangement::kFlat));
  const std::size_t count = std::min(kRecallQueries, collection.names.size());
  const std::size_t step = collection.names.size() / count;
  std::vector<float> queries;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = std::span(collection.vectors)
                         .subspan(i * step * collection.dimension, collection.dimension);
    queries.insert(queries.end(), row.begin(), row.end());
  }
  PROA_ASSIGN(const auto exact, flat.search(queries, {.k = k}));
  PROA_ASSIGN(const auto approximate, graph.search(queries, {.k = k}));
  return backends::index::recall(exact, approximate, k);
}

void print_failures(const std::vector<std::string>& failures) {
  if (failures.empty()) return;
  fmt::print(stderr, "{} pictures are not in the index:\n", failures.size());
  for (std::size_t i = 0; i < std::min(failures.size(), kShownFailures); ++i) {
    fmt::print(stderr, "  {}\n", failures[i]);
  }
  if (failures.size() > kShownFailures) fmt::print(stderr, "  ...\n");
}

Status build_and_publish(const IndexBuildOptions& options, const Collection& collection) {
  const Metric metric = *backends::index::find_metric(options.metric);
  const Arrangement kind = options.kind == "hnsw" ? Arrangement::kHnsw : Arrangement::kFlat;
  PROA_ASSIGN(const VectorIndex index,
              VectorIndex::build(collection.vectors,
                                 static_cast<std::int64_t>(collection.dimension), metric, kind));
  if (kind == Arrangement::kHnsw) {
    PROA_ASSIGN(const double share, measure_recall(collection, index, options.k));
    fmt::print("recall@{} of the graph against exact search: {:.4f}\n", options.k, share);
  }
  PROA_ASSIGN(const std::int64_t version,
              publish_index(options.into, index, options.k, collection.names));
  fmt::print("{} vectors of {} values, {}, {}: {}\n", index.size(), index.dimension(),
             options.metric, options.kind, (options.into / std::to_string(version)).string());
  return {};
}

// The exit status, or what went wrong.
Result<int> build_index(const IndexBuildOptions& options) {
  PROA_ASSIGN(const std::vector<Picture> pictures, list_pictures(options.pictures));
  std::error_code failed;
  fs::create_directories(options.into, failed);
  if (failed) return error::unavailable("{}: {}", options.into.string(), failed.message());
  LocalRepository repository(options.repository);
  PROA_ASSIGN(auto model, repository.load(options.pipeline));
  PROA_ASSIGN(VectorMaker maker, VectorMaker::create(model, options.input, options.output));
  PROA_ASSIGN(VectorJournal journal,
              VectorJournal::open(options.into / ".vectors", maker.source()));
  std::signal(SIGINT, on_interrupt);
  Indexing indexing(pictures, maker, journal);
  PROA_TRY(indexing.run());
  print_failures(indexing.failures());
  if (interrupted.load()) {
    fmt::print(stderr, "interrupted with {} vectors made; run it again to go on\n", journal.size());
    return 130;
  }
  PROA_ASSIGN(const Collection collection, collect(pictures, journal));
  PROA_TRY(build_and_publish(options, collection));
  return 0;
}

}  // namespace

int run_index_build(const IndexBuildOptions& options) {
  const Result<int> status = build_index(options);
  if (status) return *status;
  fmt::print(stderr, "{}\n", status.error().message);
  return 1;
}

}  // namespace proa
