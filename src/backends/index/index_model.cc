#include "backends/index/index_model.h"

#include <cstring>
#include <string>

#include "backends/index/index_backend.h"
#include "tensor/bytes_tensor.h"

namespace proa::backends::index {
namespace {

using core::Batch;

template <class T>
Buffer copy_of(const std::vector<T>& values) {
  Buffer buffer = Buffer::allocate(values.size() * sizeof(T));
  std::memcpy(buffer.data(), values.data(), buffer.size());
  return buffer;
}

class IndexModel final : public core::LoadedModel {
 public:
  IndexModel(Contents contents, const config::ModelConfig& config, const Clock& clock)
      : contents_(std::move(contents)), clock_(clock) {
    for (const config::Tensor& output : config.outputs) outputs_.push_back(output.type);
  }

  core::Execution execution() const override { return core::Execution::kBlocking; }
  Result<std::unique_ptr<core::Instance>> create_instance(const core::InstancePlacement&) override;

  // Sets the outputs of `batch`.
  void compute(Batch& batch) const {
    const std::vector<float> queries = gather(batch);
    batch.inputs_ready = clock_.now();
    refuse_bad_queries(queries, batch);
    const Result<Neighbours> found = contents_.index.search(
        queries, {.k = contents_.options.k, .ef_search = contents_.options.ef_search});
    if (!found) {
      batch.fail(found.error());
    } else {
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const Shape shape{batch.size(), contents_.options.k};
        batch.set_output(i, {outputs_[i], shape, BufferView(output(outputs_[i], *found))});
      }
    }
    batch.computed = clock_.now();
  }

 private:
  std::vector<float> gather(const Batch& batch) const {
    std::vector<float> queries(batch.input_bytes(0) / sizeof(float));
    batch.gather(0, std::as_writable_bytes(std::span(queries)));
    return queries;
  }

  // Requests with a query that has no answer fail by themselves.
  void refuse_bad_queries(std::span<const float> queries, Batch& batch) const {
    const auto length = static_cast<std::size_t>(contents_.index.dimension());
    std::size_t row = 0;
    for (std::size_t r = 0; r < batch.requests().size(); ++r) {
      const core::Request& request = *batch.requests()[r];
      Status fine;
      for (std::int64_t i = 0; i < request.batch_size; ++i, ++row) {
        const Status each = contents_.index.check_query(queries.subspan(row * length, length));
        if (fine && !each) fine = with_context(fmt::format("query {}", i), each.error());
      }
      if (!fine) batch.set_response(r, {.error = std::move(fine.error())});
    }
  }

  Buffer output(DataType type, const Neighbours& found) const {
    if (type == DataType::kFp32) return copy_of(found.scores);
    if (type == DataType::kInt64) {
      std::vector<std::int64_t> ids;
      for (const std::int64_t row : found.rows) {
        ids.push_back(row < 0 ? row : contents_.index.id(row));
      }
      return copy_of(ids);
    }
    std::string texts;
    for (const std::int64_t row : found.rows) {
      append_bytes_element(texts, row < 0 ? std::string_view() : (*contents_.payloads)[row]);
    }
    Buffer buffer = Buffer::allocate(texts.size());
    std::memcpy(buffer.data(), texts.data(), texts.size());
    return buffer;
  }

  const Contents contents_;
  const Clock& clock_;
  std::vector<DataType> outputs_;
};

class IndexInstance final : public core::Instance {
 public:
  explicit IndexInstance(const IndexModel& model) : model_(model) {}
  void start(std::unique_ptr<Batch> batch, Done done) override {
    model_.compute(*batch);
    done(std::move(batch));
  }

 private:
  const IndexModel& model_;
};

Result<std::unique_ptr<core::Instance>> IndexModel::create_instance(
    const core::InstancePlacement&) {
  return std::make_unique<IndexInstance>(*this);
}

}  // namespace

bool is_output_type(DataType type) {
  return type == DataType::kInt64 || type == DataType::kFp32 || type == DataType::kBytes;
}

Result<Contents> Contents::read(const std::filesystem::path& file, const IndexOptions& options) {
  PROA_ASSIGN(VectorIndex index, VectorIndex::read(file, options.metric));
  std::optional<Payloads> payloads;
  const std::filesystem::path beside = file.parent_path() / kPayloadFile;
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) {
    PROA_ASSIGN(payloads, Payloads::read(beside, index.size()));
  }
  return Contents{std::move(index), std::move(payloads), options};
}

std::unique_ptr<core::LoadedModel> make_index_model(Contents contents,
                                                    const config::ModelConfig& config,
                                                    const Clock& clock) {
  return std::make_unique<IndexModel>(std::move(contents), config, clock);
}

}  // namespace proa::backends::index
