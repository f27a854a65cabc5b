#include "net/exchange.h"

#include <atomic>

namespace proa::net {

// What the handles of one exchange share. `exchange` is the loop thread's; null when it is over.
struct ExchangeRef::Link {
  std::atomic<std::uint32_t> references = 1;
  EventLoop* loop = nullptr;
  Exchange* exchange = nullptr;

  void release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

ExchangeRef::ExchangeRef(const ExchangeRef& other) : link_(other.link_) {
  if (link_ != nullptr) link_->references.fetch_add(1, std::memory_order_relaxed);
}

ExchangeRef::~ExchangeRef() {
  if (link_ != nullptr) link_->release();
}

EventLoop& ExchangeRef::loop() const { return *link_->loop; }

Exchange* ExchangeRef::get() const { return link_ == nullptr ? nullptr : link_->exchange; }

ExchangeRef Exchange::ref() {
  if (link_ == nullptr) link_ = new ExchangeRef::Link{.loop = &loop_, .exchange = this};
  link_->references.fetch_add(1, std::memory_order_relaxed);
  return ExchangeRef(link_);
}

ExchangeRef Exchange::detach() {
  if (link_ == nullptr) return {};
  link_->exchange = nullptr;
  return ExchangeRef(std::exchange(link_, nullptr));
}

bool ExchangeRef::unique() const {
  return link_ != nullptr && link_->references.load(std::memory_order_acquire) == 1;
}

std::string_view RequestHead::header(std::string_view name) const {
  for (const Header& header : headers) {
    if (header.name == name) return header.value;
  }
  return {};
}

}  // namespace proa::net
