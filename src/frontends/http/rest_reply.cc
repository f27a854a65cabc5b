#include "frontends/http/rest_reply.h"

#include <utility>

#include "boost/container/static_vector.hpp"
#include "protocol/status_map.h"

namespace proa::frontends {

RestReply error_reply(const Error& error) {
  return error_reply(protocol::http_status(error.code), error.message);
}

RestReply error_reply(int status, std::string_view message) {
  RestReply reply{status};
  reply.body = protocol::json_error_body(message);
  return reply;
}

void send_reply(net::Exchange& exchange, RestReply reply) {
  boost::container::static_vector<net::Header, 2> headers;
  headers.push_back({"content-type", reply.content_type});
  if (!reply.allow.empty()) headers.push_back({"allow", reply.allow});
  net::Segment part{std::move(reply.body), {}};
  exchange.respond(reply.status, headers, std::span(&part, 1));
}

}  // namespace proa::frontends
