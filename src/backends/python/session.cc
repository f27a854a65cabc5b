#include "backends/python/session.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace proa::backends::python {
namespace {

// is_ready() of an idle worker must have answered by then, as in Triton.
constexpr std::chrono::seconds kReadyTimeout{5};
constexpr std::chrono::milliseconds kEndTimeout{2000};
constexpr std::chrono::milliseconds kCheckInterval{500};

void send_credit(Lending& lending, std::uint64_t number) {
  Draft draft(Message::kCredit);
  draft.body.put(number);
  (void)lending.send(draft);
}

// One line of the log for each of the text.
void log_lines(int level, const std::string& where, std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    const std::string whole = fmt::format("{}: {}", where, log::printable(line));
    switch (level) {
      case 0:
        log::info("{}", whole);
        break;
      case 1:
        log::warn("{}", whole);
        break;
      case 2:
        log::error("{}", whole);
        break;
      default:
        log::debug("{}", whole);
    }
  }
}

// Of a limit that is multiplied: ten years.
constexpr std::int64_t kLongest = 10LL * 365 * 24 * 3600;

}  // namespace

Session::Session(const WorkerPlan& plan, Process process, std::shared_ptr<Channel> channel,
                 std::shared_ptr<StatusPage> page)
    : plan_(plan),
      process_(std::move(process)),
      channel_(std::move(channel)),
      lending_(std::make_shared<Lending>(plan.memory, channel_)),
      flights_(plan.config, std::move(page), *plan.clock,
               [weak = std::weak_ptr(lending_)](std::uint64_t number) {
                 if (const auto lending = weak.lock()) send_credit(*lending, number);
               }),
      calls_(std::make_shared<Calls>(Calls::Options{.config = &plan.config,
                                                    .models = plan.models,
                                                    .metrics = plan.metrics,
                                                    .clock = plan.clock},
                                     lending_)) {}

Result<std::shared_ptr<Session>> Session::launch(const WorkerPlan& plan) {
  PROA_ASSIGN(Channel::Pair pair, Channel::create(*plan.timer));
  PROA_ASSIGN(auto page, StatusPage::create(*plan.memory));
  PROA_ASSIGN(Process process, Process::start(plan.process, std::move(pair.theirs)));
  return std::shared_ptr<Session>(
      new Session(plan, std::move(process), std::move(pair.ours), std::move(page)));
}

Status Session::send_arguments(Message kind,
                               const std::vector<std::pair<std::string, std::string>>& more) {
  Draft draft(kind);
  PROA_TRY(lending_->lend(draft, flights_.page().buffer()));
  for (const auto* arguments : {&plan_.arguments, &more}) {
    for (const auto& [name, text] : *arguments) {
      draft.body.put_string(name);
      draft.body.put_string(text);
      ++draft.items;
    }
  }
  return lending_->send(draft);
}

Result<std::shared_ptr<Session>> Session::start(
    const WorkerPlan& plan, std::vector<std::pair<std::string, std::string>> more,
    const std::atomic<bool>& stop) {
  PROA_ASSIGN(std::shared_ptr<Session> session, launch(plan));
  PROA_TRY(session->send_arguments(Message::kStart, more));
  PROA_ASSIGN(auto ready, session->wait_for(Message::kReady, &stop));
  session->can_say_ready_ = ready->reader.get<std::uint8_t>() != 0;
  return session;
}

Result<std::string> Session::complete(const WorkerPlan& plan) {
  PROA_ASSIGN(std::shared_ptr<Session> session, launch(plan));
  PROA_TRY(session->send_arguments(Message::kComplete, {}));
  PROA_ASSIGN(auto completed, session->wait_for(Message::kCompleted, nullptr));
  return std::string(completed->reader.get_string());
}

Result<std::unique_ptr<Incoming>> Session::wait_for(Message kind, const std::atomic<bool>* stop) {
  const auto limit = plan_.settings.initialize_timeout;
  const TimePoint deadline =
      limit.count() == 0 ? kNever : deadline_after(plan_.clock->now(), limit);
  while (true) {
    Channel::Packet packet;
    const Channel::Event event = channel_->receive(packet);
    if (event == Channel::Event::kClosed) {
      return error::internal("model '{}': the worker process ended before it was ready: it {}",
                             plan_.config.name, end_of(""));
    }
    if (event == Channel::Event::kPacket) {
      PROA_ASSIGN(auto message, lending_->receive(packet));
      if (message == nullptr) continue;
      if (message->head.kind == kind) return message;
      if (message->head.kind == Message::kFailed) {
        return error::internal("model '{}': {}", plan_.config.name, message->reader.get_string());
      }
      PROA_TRY(handle(*message));
    }
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      return error::unavailable("model '{}' is being unloaded", plan_.config.name);
    }
    if (plan_.clock->now() > deadline) {
      return error::deadline_exceeded(
          "model '{}': initialize() of model.py took longer than {} s; parameter "
          "initialize_timeout_s raises the limit",
          plan_.config.name, limit.count());
    }
  }
}

bool Session::submit(std::unique_ptr<core::Batch>& batch, core::Instance::Done& done) {
  Draft draft(Message::kExecute);
  const bool copy = lending_->lent_bytes() > plan_.settings.kept_bytes;
  const auto first = flights_.add(batch, done, draft, *lending_, copy);
  Status sent = first ? lending_->send(draft) : Status(first.error());
  if (sent) return true;
  lending_->abandon(draft);
  if (first && !flights_.take_back(*first, batch, done)) return true;
  if (sent.error().code == ErrorCode::kUnavailable) return false;
  batch->fail(with_context(fmt::format("model '{}'", plan_.config.name), sent.error()));
  done(std::move(batch));
  return true;
}

void Session::ask_to_stop() {
  if (asked_to_stop_.exchange(true)) return;
  Draft draft(Message::kStop);
  (void)lending_->send(draft);
}

std::string Session::serve(const std::atomic<bool>& stop, WorkerState& state) {
  TimePoint stopped = kNever;
  TimePoint checked = plan_.clock->now();
  while (true) {
    const TimePoint now = plan_.clock->now();
    if (stopped == kNever && stop.load(std::memory_order_relaxed)) {
      stopped = now;
      ask_to_stop();
    }
    Channel::Packet packet;
    const Channel::Event event = channel_->receive(packet);
    if (event == Channel::Event::kClosed) return end_of("");
    if (event == Channel::Event::kPacket) {
      auto message = lending_->receive(packet);
      Status status = message ? Status() : Status(message.error());
      if (message && *message != nullptr) status = handle(**message);
      if (!status) return end_of(status.error().message);
      if (now < checked + kCheckInterval) continue;
    }
    checked = now;
    if (auto late = overdue(stopped)) return end_of(*std::move(late));
    check_ready(state);
  }
}

Status Session::handle(Incoming& message) {
  switch (message.head.kind) {
    case Message::kResponses:
      return take_responses(message);
    case Message::kLog:
      log(message);
      return {};
    case Message::kCall:
      return calls_->take(message, flights_.depth() + 1);
    case Message::kMetric:
      return calls_->take_metric(message);
    case Message::kChecked:
      said_ready_ = message.reader.get<std::uint8_t>() != 0;
      asked_ready_ = kNever;
      return {};
    default:
      return error::internal("the worker process sent a message of kind {}",
                             static_cast<int>(message.head.kind));
  }
}

Status Session::take_responses(Incoming& message) {
  for (std::uint32_t i = 0; i < message.head.items; ++i) {
    PROA_ASSIGN(WorkerResponse response, read_response(plan_.config, message));
    PROA_TRY(flights_.answer(std::move(response)));
  }
  return {};
}

void Session::log(Incoming& message) {
  WireReader& reader = message.reader;
  const auto level = reader.get<std::uint8_t>();
  const std::string_view file = reader.get_string();
  const auto line = reader.get<std::uint32_t>();
  const std::string where =
      line == 0 ? plan_.config.name
                : fmt::format("{} ({}:{})", plan_.config.name, log::printable(file), line);
  log_lines(level, where, reader.get_string());
}

Duration Session::patience() const {
  constexpr int kTimesTheLimit = 10;
  return kTimesTheLimit * std::min(plan_.settings.execute_timeout, std::chrono::seconds(kLongest));
}

std::optional<std::string> Session::overdue(TimePoint stopped) {
  const TimePoint now = plan_.clock->now();
  const auto late = [now](TimePoint since, std::chrono::seconds limit) {
    return since != kNever && limit.count() > 0 && now > deadline_after(since, limit);
  };
  const Settings& settings = plan_.settings;
  if (late(stopped, settings.finalize_timeout)) {
    return fmt::format("did not finalize within {} s", settings.finalize_timeout.count());
  }
  if (settings.execute_timeout.count() > 0) flights_.cancel_stalled(patience());
  if (late(flights_.oldest(), settings.execute_timeout)) {
    return fmt::format("did not answer within {} s (parameter execute_timeout_s raises the limit)",
                       settings.execute_timeout.count());
  }
  return std::nullopt;
}

// Asks an idle worker. One that computes cannot answer, and shows otherwise that it lives.
void Session::check_ready(WorkerState& state) {
  if (said_ready_) state.set_says_ready(*said_ready_);
  said_ready_.reset();
  if (!can_say_ready_ || flights_.oldest() != kNever) return;
  const TimePoint now = plan_.clock->now();
  if (asked_ready_ == kNever) {
    asked_ready_ = now;
    Draft draft(Message::kCheck);
    (void)lending_->send(draft);
  } else if (now > asked_ready_ + kReadyTimeout) {
    state.set_says_ready(false);
  }
}

// Ends the process, if it has not ended by itself, and says how: `why`, or what it shows.
std::string Session::end_of(std::string why) {
  std::string how;
  if (why.empty() && process_.wait(kEndTimeout, how)) return how;
  process_.kill();
  process_.wait(kEndTimeout, how);
  return why.empty() ? "closed its connection" : why;
}

Session::Unfinished Session::unfinished() {
  calls_->cancel_all();
  Unfinished all;
  const std::uint64_t begun = flights_.page().begun();
  for (Flight& flight : flights_.take_all()) {
    (flight.first <= begun ? all.begun : all.waiting).push_back(std::move(flight));
  }
  return all;
}

}  // namespace proa::backends::python
