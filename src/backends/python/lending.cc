#include "backends/python/lending.h"

#include <algorithm>
#include <utility>

namespace proa::backends::python {
namespace {

constexpr std::size_t kMostLoans = 65'536;  // of one message

std::span<const std::byte> table_padding(std::size_t entries) {
  static constexpr std::byte kZeros[sizeof(std::uint64_t)] = {};
  return std::span(kZeros).first(entries % 2 * sizeof(std::uint64_t));
}

}  // namespace

Status Lending::put_tensor(Draft& draft, std::uint16_t index, std::string_view name,
                           const Tensor& tensor) {
  const std::size_t size = tensor.data.size;
  const bool as_bytes = size <= kMostInlineBytes && draft.inline_bytes + size <= kMostInlineTotal;
  std::uint32_t place = kInline;
  std::uint64_t offset = 0;
  if (!as_bytes) {
    auto block = memory_->find(tensor.data.data());
    if (block != nullptr && tensor.data.buffer.data() == block->data()) {
      offset = static_cast<std::uint64_t>(tensor.data.data() - block->data());
      PROA_ASSIGN(place, lend(draft, tensor.data.buffer, std::move(block)));
    } else {
      PROA_ASSIGN(Buffer copy, memory_->allocate_shared(size));
      std::memcpy(copy.data(), tensor.data.data(), size);
      block = memory_->find(copy.data());
      PROA_ASSIGN(place, lend(draft, copy, std::move(block)));
    }
  }
  WireWriter& body = draft.body;
  body.put(index);
  body.put(static_cast<std::uint8_t>(tensor.type));
  body.put(static_cast<std::uint8_t>(tensor.shape.rank()));
  body.put(place);
  const std::size_t offset_at = body.size();
  body.put(offset);
  body.put(std::uint64_t{size});
  for (const std::int64_t dim : tensor.shape) body.put(dim);
  if (index == kByName) body.put_string(name);
  if (as_bytes) {
    body.align(kInlineAlignment);
    body.replace(offset_at, std::uint64_t{body.size()});
    body.put_bytes(tensor.data.bytes());
    draft.inline_bytes += size;
  }
  body.align(sizeof(std::uint64_t));
  return {};
}

Result<std::uint32_t> Lending::lend(Draft& draft, const Buffer& buffer,
                                    std::shared_ptr<const SharedBlock> block) {
  for (std::size_t i = 0; i < draft.loans.size(); ++i) {
    if (draft.loans[i].block == block) return static_cast<std::uint32_t>(i);
  }
  if (draft.loans.size() == kMostLoans) {
    return error::resource_exhausted("a batch has more than {} large tensors", kMostLoans);
  }
  MutexLock lock(mutex_);
  const std::uint64_t loan = ++last_loan_;
  lent_.emplace(loan, Lent{buffer, buffer.size()});
  lent_bytes_ += buffer.size();
  draft.loans.push_back({loan, std::move(block)});
  return static_cast<std::uint32_t>(draft.loans.size() - 1);
}

Status Lending::lend(Draft& draft, const Buffer& buffer) {
  PROA_TRY(lend(draft, buffer, memory_->find(buffer.data())));
  return {};
}

Status Lending::send(Draft& draft) {
  WireWriter head;
  std::vector<std::uint64_t> returns;
  {
    MutexLock lock(returns_->mutex);
    std::swap(returns, returns_->loans);
  }
  put_head(head, {draft.kind, draft.items, static_cast<std::uint32_t>(returns.size()),
                  static_cast<std::uint32_t>(draft.loans.size())});
  for (const std::uint64_t loan : returns) head.put(loan);
  for (const Draft::Loan& loan : draft.loans) {
    head.put(loan.id);
    head.put(loan.block->id());
  }
  head.put_bytes(table_padding(returns.size() + 2 * draft.loans.size()));
  std::vector<std::span<const std::byte>> parts{head.bytes(), draft.body.bytes()};
  if (head.size() + draft.body.size() > kMostPacketBytes) {
    auto spilled = spill(draft, head);
    if (!spilled) {
      abandon(draft);
      return spilled.error();
    }
    parts = *std::move(spilled);
  }
  if (!draft.loans.empty()) introduce(draft);
  channel_->send(parts);
  return {};
}

// Puts the whole message into a block and a kSpilled message into its place.
Result<std::vector<std::span<const std::byte>>> Lending::spill(Draft& draft, WireWriter& head) {
  const std::size_t bytes = head.size() + draft.body.size();
  PROA_ASSIGN(Buffer copy, memory_->allocate_shared(bytes));
  std::memcpy(copy.data(), head.bytes().data(), head.size());
  std::memcpy(copy.data() + head.size(), draft.body.bytes().data(), draft.body.size());
  auto block = memory_->find(copy.data());
  PROA_ASSIGN(const std::uint32_t index, lend(draft, copy, std::move(block)));
  head = WireWriter();
  put_head(head, {Message::kSpilled, 0, 0, 1});
  head.put(draft.loans[index].id);
  head.put(draft.loans[index].block->id());
  head.put(std::uint64_t{bytes});
  return std::vector<std::span<const std::byte>>{head.bytes()};
}

// Tells the worker of blocks it does not know, and of those that are gone. Under the lock, so that
// nobody else uses a block before its descriptor is on its way; sending does not wait.
void Lending::introduce(const Draft& draft) {
  MutexLock lock(mutex_);
  Channel::Blocks fresh;
  const auto tell = [&](std::span<const std::uint64_t> gone) {
    WireWriter packet;
    put_head(packet, {Message::kBlocks, static_cast<std::uint32_t>(fresh.size()), 0, 0});
    for (const auto& block : fresh) {
      packet.put(block->id());
      packet.put(std::uint64_t{block->size()});
    }
    packet.put(static_cast<std::uint32_t>(gone.size()));
    for (const std::uint64_t id : gone) packet.put(id);
    const std::span<const std::byte> part = packet.bytes();
    channel_->send({&part, 1}, std::move(fresh));
    fresh.clear();
  };
  for (const Draft::Loan& loan : draft.loans) {
    if (!introduced_.emplace(loan.block->id(), loan.block).second) continue;
    fresh.push_back(loan.block);
    if (fresh.size() == kMostBlocksPerPacket) tell({});
  }
  std::vector<std::uint64_t> gone;
  if (const std::uint64_t now = memory_->generation(); now != swept_) {
    swept_ = now;
    std::erase_if(introduced_, [&](const auto& known) {
      if (!known.second.expired()) return false;
      gone.push_back(known.first);
      return true;
    });
  }
  if (!fresh.empty() || !gone.empty()) tell(gone);
}

void Lending::abandon(const Draft& draft) {
  std::vector<Lent> ended;
  MutexLock lock(mutex_);
  for (const Draft::Loan& loan : draft.loans) {
    const auto found = lent_.find(loan.id);
    lent_bytes_ -= found->second.bytes;
    ended.push_back(std::move(found->second));
    lent_.erase(found);
  }
}

std::size_t Lending::lent_bytes() const {
  MutexLock lock(mutex_);
  return lent_bytes_;
}

}  // namespace proa::backends::python
