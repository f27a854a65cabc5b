#include "index_publish.h"

#include <fstream>
#include <system_error>

#include "backends/index/index_backend.h"
#include "fmt/format.h"
#include "storage/version_folders.h"

namespace proa {
namespace {

namespace fs = std::filesystem;

Status write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) return error::unavailable("{} cannot be written", file.string());
  return {};
}

std::string config_text(const backends::index::VectorIndex& index, std::int64_t k) {
  return fmt::format(
      "# Written by `proa index build`; edit it as you like.\n"
      "backend: \"index\"\n"
      "max_batch_size: 64\n"
      "dynamic_batching {{ }}\n"
      "parameters {{ key: \"metric\" value {{ string_value: \"{}\" }} }}\n"
      "parameters {{ key: \"k\" value {{ string_value: \"{}\" }} }}\n",
      backends::index::metric_name(index.metric()), k);
}

}  // namespace

Result<std::int64_t> publish_index(const fs::path& folder,
                                   const backends::index::VectorIndex& index, std::int64_t k,
                                   const std::vector<std::string>& payloads) {
  PROA_ASSIGN(const storage::VersionFolders versions, storage::list_versions(folder));
  const std::int64_t version = versions.versions.empty() ? 1 : versions.versions.back() + 1;
  // Names that begin with a dot are no versions.
  const fs::path unfinished = folder / fmt::format(".{}.unfinished", version);
  std::error_code failed;
  fs::remove_all(unfinished, failed);
  fs::create_directories(unfinished, failed);
  if (failed) return error::unavailable("{}: {}", unfinished.string(), failed.message());
  PROA_TRY(index.write(unfinished / "index.faiss"));
  std::string lines;
  for (const std::string& payload : payloads) lines += payload + '\n';
  PROA_TRY(write_text(unfinished / backends::index::kPayloadFile, lines));
  const fs::path config = folder / "config.pbtxt";
  if (!fs::exists(config, failed)) PROA_TRY(write_text(config, config_text(index, k)));
  fs::rename(unfinished, folder / std::to_string(version), failed);
  if (failed) return error::unavailable("{}: {}", unfinished.string(), failed.message());
  return version;
}

}  // namespace proa
