#pragma once

#include <functional>

#include "frontends/http/rest_call.h"

namespace proa::frontends {

// The repository's index, and loading a model: calls that are answered when the disk or the model
// is done, while the loop goes on. A client that leaves does not end a load.
class RepositoryRestCall final : public RestCall {
 public:
  RepositoryRestCall(const FrontendContext& context, const ControlService& service,
                     RestRequest request)
      : RestCall(context), service_(service), request_(std::move(request)) {}

 protected:
  Status read_head(const net::RequestHead&) override { return {}; }
  Status on_body(Body body) override;

 private:
  Status index(std::string_view body);
  Status load(std::string_view body);
  // For any thread: answers on the loop, if the exchange is still there.
  std::move_only_function<void(RestReply)> reply_later();

  const ControlService& service_;
  RestRequest request_;
  core::MemoryBudget::Reservation answer_memory_;
};

}  // namespace proa::frontends
