#include "frontends/http/repository_rest_call.h"

#include <string>
#include <utility>

#include "frontends/repository_requests.h"
#include "proto/json.h"
#include "proto/json_text.h"

namespace proa::frontends {
namespace {

// An array of the models, where gRPC has a message around it; what is empty is left out.
std::string index_json(const inference::RepositoryIndexResponse& response) {
  std::string text = "[";
  for (const auto& model : response.models()) {
    if (text.size() > 1) text += ',';
    const auto add = [&text](std::string_view key, std::string_view value) {
      if (value.empty()) return;
      if (text.back() != '{') text += ',';
      proto::append_json_string(text, key);
      text += ':';
      proto::append_json_string(text, value);
    };
    text += '{';
    add("name", model.name());
    add("version", model.version());
    add("state", model.state());
    add("reason", model.reason());
    text += '}';
  }
  text += ']';
  return text;
}

}  // namespace

Status RepositoryRestCall::on_body(Body body) {
  const std::string_view text(reinterpret_cast<const char*>(body.bytes.data()), body.bytes.size);
  return request_.endpoint == RestEndpoint::kRepositoryIndex ? index(text) : load(text);
}

std::move_only_function<void(RestReply)> RepositoryRestCall::reply_later() {
  return [this, ref = exchange().ref()](RestReply answer) {
    ref.run([this, answer = std::move(answer)](net::Exchange&) mutable {
      auto memory = reserve_answer(*context().budget, answer.body.size());
      if (!memory) return fail(memory.error());
      answer_memory_ = *std::move(memory);
      reply(std::move(answer));
    });
  };
}

Status RepositoryRestCall::index(std::string_view body) {
  inference::RepositoryIndexRequest message;
  if (!body.empty()) {
    const Status parsed = proto::from_json(body, message);
    if (!parsed) return with_context("failed to parse the request JSON buffer", parsed.error());
  }
  if (!request_.repository.empty()) message.set_repository_name(request_.repository);
  service_.repository_index(
      message, [reply = reply_later()](Result<inference::RepositoryIndexResponse> result) mutable {
        reply(result ? RestReply{.body = index_json(*result)} : error_reply(result.error()));
      });
  return {};
}

Status RepositoryRestCall::load(std::string_view body) {
  inference::RepositoryModelLoadRequest message;
  message.set_repository_name(request_.repository);
  message.set_model_name(request_.model);
  // The parsed files lie beside the body until the load has ended.
  auto memory = context().budget->try_reserve(body.size());
  if (!memory) return over_budget(*context().budget, body.size());
  PROA_TRY(read_repository_body(body, message));
  service_.repository_model_load(
      std::move(message),
      [reply = reply_later(), memory = *std::move(memory)](
          const Result<inference::RepositoryModelLoadResponse>& result) mutable {
        reply(result ? RestReply{} : error_reply(result.error()));
      });
  return {};
}

}  // namespace proa::frontends
