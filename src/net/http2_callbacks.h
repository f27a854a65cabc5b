#pragma once

#include <nghttp2/nghttp2.h>

namespace proa::net {

// The callbacks and options of all HTTP/2 server sessions; their user data is an Http2Session.
// Made on first use, live as long as the process. Threading: immutable.
const nghttp2_session_callbacks* http2_callbacks();
const nghttp2_option* http2_options();

}  // namespace proa::net
