// The half of Lending that reads what workers send.
#include <utility>

#include "backends/python/lending.h"
#include "tensor/bytes_tensor.h"

namespace proa::backends::python {
namespace {

constexpr std::size_t kMostRank = 64;

template <class... Args>
Error broken(fmt::format_string<Args...> format, Args&&... args) {
  return error::internal("the worker process sent a message that is wrong: {}",
                         fmt::format(format, std::forward<Args>(args)...));
}

Result<BufferView> bytes_of(Incoming& message, std::uint32_t place, std::uint64_t offset,
                            std::uint64_t size) {
  if (place == kInline) {
    if (offset > message.reader.body().size() || size > message.reader.body().size() - offset) {
      return broken("a tensor of {} bytes at {} reaches beyond its end", size, offset);
    }
    Buffer copy = Buffer::allocate(size);
    if (size > 0) std::memcpy(copy.data(), message.reader.body().data() + offset, size);
    return BufferView(std::move(copy));
  }
  if ((place & kReceivers) != 0) {
    const std::size_t index = place & ~kReceivers;
    if (index >= message.returned.size()) return broken("it refers to loan {} of none", index);
    const BufferView& view = message.returned[index];
    // The offset counts from the block, of which the buffer is the beginning.
    if (offset > view.size || size > view.size - offset) {
      return broken("a tensor of {} bytes at {} reaches beyond its request's body", size, offset);
    }
    return view.sub(offset, size);
  }
  if (place >= message.loans.size()) return broken("it refers to loan {} of none", place);
  const Buffer& loan = message.loans[place];
  if (offset > loan.size() || size > loan.size() - offset) {
    return broken("a tensor of {} bytes at {} reaches beyond its block", size, offset);
  }
  return BufferView(loan, offset, size);
}

Status check_size(Tensor& tensor) {
  if (tensor.type != DataType::kBytes) {
    PROA_ASSIGN(const std::size_t wanted, dense_byte_size(tensor.type, tensor.shape));
    if (wanted == tensor.data.size) return {};
    return broken("{} of {} has {} bytes", data_type_name(tensor.type), tensor.shape.to_string(),
                  tensor.data.size);
  }
  // Lengths inside are relied on later: they must not change.
  Buffer copy = Buffer::allocate(tensor.data.size);
  if (tensor.data.size > 0) std::memcpy(copy.data(), tensor.data.data(), tensor.data.size);
  tensor.data = BufferView(std::move(copy));
  const auto count = tensor.shape.element_count();
  if (!count) return broken("shape {}", tensor.shape.to_string());
  return check_bytes_elements(tensor.data.bytes(), *count);
}

}  // namespace

Result<Lending::Named> Lending::read_tensor(Incoming& message) {
  WireReader& reader = message.reader;
  Named named;
  named.index = reader.get<std::uint16_t>();
  const auto type = reader.get<std::uint8_t>();
  const auto rank = reader.get<std::uint8_t>();
  const auto place = reader.get<std::uint32_t>();
  const auto offset = reader.get<std::uint64_t>();
  const auto size = reader.get<std::uint64_t>();
  if (rank > kMostRank) return broken("a tensor has {} dimensions", rank);
  for (std::size_t i = 0; i < rank; ++i) named.tensor.shape.push_back(reader.get<std::int64_t>());
  if (named.index == kByName) named.name = reader.get_string();
  if (!reader.ok()) return broken("it is cut short");
  if (type == 0 || type > static_cast<std::uint8_t>(DataType::kBf16)) {
    return broken("a tensor has data type {}", type);
  }
  named.tensor.type = static_cast<DataType>(type);
  PROA_ASSIGN(named.tensor.data, bytes_of(message, place, offset, size));
  PROA_TRY(check_size(named.tensor));
  if (place == kInline) reader.skip_to(offset + size);
  reader.align(sizeof(std::uint64_t));
  if (!reader.ok()) return broken("it is cut short");
  return named;
}

Result<std::unique_ptr<Incoming>> Lending::receive(Channel::Packet& packet) {
  if (packet.cut) return broken("it is longer than {} bytes", kMostPacketBytes);
  auto incoming = std::make_unique<Incoming>(packet.bytes);
  incoming->head = get_head(incoming->reader);
  if (!incoming->reader.ok()) return broken("it has no head");
  if (incoming->head.kind == Message::kBlocks) {
    PROA_TRY(take_blocks(incoming->head, incoming->reader, packet));
    return std::unique_ptr<Incoming>();
  }
  PROA_TRY(take_tables(*incoming));
  if (incoming->head.kind != Message::kSpilled) return incoming;

  const auto bytes = incoming->reader.get<std::uint64_t>();
  if (incoming->loans.size() != 1 || bytes > incoming->loans[0].size()) {
    return broken("a message of {} bytes does not lie in its block", bytes);
  }
  // Copied, so that it cannot change while it is read.
  spilled_.assign(reinterpret_cast<const char*>(incoming->loans[0].data()), bytes);
  incoming = std::make_unique<Incoming>(std::as_bytes(std::span(spilled_)));
  incoming->head = get_head(incoming->reader);
  if (!incoming->reader.ok() || incoming->head.kind == Message::kSpilled) {
    return broken("what it spilled has no head");
  }
  PROA_TRY(take_tables(*incoming));
  return incoming;
}

Status Lending::take_blocks(const MessageHead& head, WireReader& reader, Channel::Packet& packet) {
  if (head.items != packet.descriptors.size()) {
    return broken("{} blocks came with {} descriptors", head.items, packet.descriptors.size());
  }
  MutexLock lock(mutex_);
  for (OwnedFd& descriptor : packet.descriptors) {
    const auto id = reader.get<std::uint64_t>();
    const auto bytes = reader.get<std::uint64_t>();
    if (blocks_.size() == kMostWorkerBlocks) return broken("more than {} blocks", blocks_.size());
    PROA_ASSIGN(auto block, SharedBlock::adopt(descriptor.release(), bytes));
    if (!blocks_.emplace(id, std::move(block)).second) return broken("block {} came twice", id);
  }
  const auto gone = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < gone && reader.ok(); ++i)
    blocks_.erase(reader.get<std::uint64_t>());
  if (!reader.ok()) return broken("it is cut short");
  return {};
}

Status Lending::take_tables(Incoming& incoming) {
  WireReader& reader = incoming.reader;
  MutexLock lock(mutex_);
  for (std::uint32_t i = 0; i < incoming.head.returns; ++i) {
    const auto found = lent_.find(reader.get<std::uint64_t>());
    if (found == lent_.end()) return broken("it gives back what was not lent");
    lent_bytes_ -= found->second.bytes;
    incoming.returned.emplace_back(std::move(found->second.buffer));
    lent_.erase(found);
  }
  for (std::uint32_t i = 0; i < incoming.head.loans; ++i) {
    const auto loan = reader.get<std::uint64_t>();
    const auto found = blocks_.find(reader.get<std::uint64_t>());
    if (found == blocks_.end()) return broken("it lends a block that was not introduced");
    incoming.loans.push_back(
        Buffer::wrap(found->second->data(), found->second->size(),
                     [block = found->second, returns = std::weak_ptr(returns_), loan] {
                       const auto open = returns.lock();
                       if (open == nullptr) return;
                       MutexLock returning(open->mutex);
                       open->loans.push_back(loan);
                     }));
  }
  reader.align(16);
  reader.start_body();
  return {};
}

}  // namespace proa::backends::python
