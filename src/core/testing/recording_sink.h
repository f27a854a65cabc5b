#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "core/request.h"

namespace proa::core {

// What the sinks of a test got, in the order in which it came.
// Threading: thread-safe.
class Answers {
 public:
  struct Answer {
    std::string id;
    Response response;
    bool final = false;
  };

  // A sink that notes what it gets under `id`. The Answers must outlive it.
  std::unique_ptr<ResponseSink> sink(std::string id) {
    return std::make_unique<Sink>(*this, std::move(id));
  }

  void add(Answer answer) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    answers_.push_back(std::move(answer));
    came_.notify_all();  // under the lock: the test may end as soon as it has its answers
  }

  std::size_t size() const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return answers_.size();
  }

  // Blocks until that many answers have come.
  void wait_for(std::size_t count) PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (answers_.size() < count) came_.wait(mutex_);
  }

  // "a b!c" : ids in order, "!" in front of errors.
  std::string ids() const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::string text;
    for (const Answer& answer : answers_) {
      if (!text.empty()) text += ' ';
      text += (answer.response.error ? "!" : "") + answer.id;
    }
    return text;
  }

  // The last answer to `id`; an error of code kUnknown when there is none.
  Response of(const std::string& id) const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (auto answer = answers_.rbegin(); answer != answers_.rend(); ++answer) {
      if (answer->id == id) return answer->response;
    }
    return Response{.error = error::unknown("no answer to {}", id)};
  }

  // How many final answers each id got.
  std::map<std::string, int> finals() const PROA_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    std::map<std::string, int> counts;
    for (const Answer& answer : answers_) counts[answer.id] += answer.final ? 1 : 0;
    return counts;
  }

 private:
  class Sink final : public ResponseSink {
   public:
    Sink(Answers& answers, std::string id) : answers_(answers), id_(std::move(id)) {}
    void send(Response response, bool final) override {
      answers_.add({id_, std::move(response), final});
    }

   private:
    Answers& answers_;
    const std::string id_;
  };

  mutable Mutex mutex_;
  CondVar came_;
  std::vector<Answer> answers_ PROA_GUARDED_BY(mutex_);
};

}  // namespace proa::core
