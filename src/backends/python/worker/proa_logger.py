"""Lines of the model for the server's log."""
import proa_runtime
from proa_model import caller

INFO, WARNING, ERROR, VERBOSE = range(4)


class LogLevel:
    INFO, WARNING, ERROR, VERBOSE = INFO, WARNING, ERROR, VERBOSE


class Logger:
    """Writes into the server's log, where its flags let the level through."""
    INFO, WARNING, ERROR, VERBOSE = INFO, WARNING, ERROR, VERBOSE

    @staticmethod
    def log(message, level=INFO):
        proa_runtime.log(int(level), str(message), *caller())

    @staticmethod
    def log_info(message):
        proa_runtime.log(INFO, str(message), *caller())

    @staticmethod
    def log_warn(message):
        proa_runtime.log(WARNING, str(message), *caller())

    @staticmethod
    def log_error(message):
        proa_runtime.log(ERROR, str(message), *caller())

    @staticmethod
    def log_verbose(message):
        proa_runtime.log(VERBOSE, str(message), *caller())
