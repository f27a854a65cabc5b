#pragma once

#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "proto/grpc_service.pb.h"

namespace proa::frontends {

// Triton's logging extension: what is logged, as clients see and change it. Names are log_file
// (read only: no path comes from the network), log_info, log_warning, log_error, log_verbose_level
// and log_format. Threading: any; all but the change of log::change() is pure.

// `now` with the settings of `request` in place. Errors: kInvalidArgument for a name or value that
// is not known, kUnimplemented for log_file.
Result<log::Options> with_settings(log::Options now, const inference::LogSettingsRequest& request);

inference::LogSettingsResponse log_settings_message(const log::Options& options);

// The JSON of the REST endpoint, one flat object, into a request and out of a response.
// Errors: kInvalidArgument for text that is not a JSON object of booleans, numbers and strings.
Result<inference::LogSettingsRequest> parse_log_settings(std::string_view json);
std::string log_settings_json(const log::Options& options);

}  // namespace proa::frontends
