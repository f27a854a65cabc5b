#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace proa {

// A file as it was when its vector was made.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileStamp&) const = default;
};

// The vectors that an interrupted `proa index build` has already made: a file of records that only
// grows, so that a run that ends anywhere costs at most its last record.
// Threading: confined to one thread.
class VectorJournal {
 public:
  // Opens or makes the file. Records of another `source` (what makes the vectors, and how) are
  // dropped, as is a record that was cut.
  // Errors: kUnavailable with the path and the system's reason.
  static Result<VectorJournal> open(const std::filesystem::path& file, std::string_view source);

  // The vector of that file as it is now; empty = to be made.
  std::span<const float> find(const std::string& name, const FileStamp& stamp) const;
  std::size_t size() const { return records_.size(); }

  // Errors: kUnavailable (the disk is full, ...).
  Status append(const std::string& name, const FileStamp& stamp, std::vector<float> vector);

 private:
  struct Record {
    FileStamp stamp;
    std::vector<float> vector;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::map<std::string, Record> records_;
};

}  // namespace proa
