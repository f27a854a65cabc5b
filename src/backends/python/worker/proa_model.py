"""The model: its module, its object, and what the server says about it."""
import importlib.util
import inspect
import os
import sys
import traceback
import types

from proa_request import DecoupledRequest, InferenceRequest


class Model:
    """TritonPythonModel of model.py, in this process. arguments: of the server's kStart."""

    def __init__(self, arguments, log):
        self.arguments = arguments
        self.log = log
        self.name = arguments["model_name"]
        self.instance_name = arguments.get("model_instance_name", self.name)
        self.decoupled = bool(arguments["decoupled"])
        self.input_names = names_of(arguments["inputs"])
        self.output_names = names_of(arguments["outputs"])
        self.output_index = {name: i for i, name in enumerate(self.output_names)}
        self._warned = set()
        self.instance = None
        self.execute = None
        self.serving = False   # between initialize() and finalize()
        self.open = {}         # decoupled: the numbers of requests that have not ended
        self.request_class = DecoupledRequest if self.decoupled else InferenceRequest

    def load(self):
        """Imports model.py. Errors: whatever it raises; ImportError without the class."""
        return load_class(self.arguments["model_file"], self.arguments["model_version"])

    def initialize(self):
        self.instance = self.load()()
        if not hasattr(self.instance, "execute"):
            raise AttributeError("TritonPythonModel has no method execute()")
        if hasattr(self.instance, "initialize"):
            keys = ("model_config", "model_instance_kind", "model_instance_name",
                    "model_instance_device_id", "model_repository", "model_version", "model_name")
            self.instance.initialize({key: self.arguments[key] for key in keys})
        self.execute = self.instance.execute
        self.serving = True

    def warn_once(self, name):
        if name not in self._warned:
            self._warned.add(name)
            self.log(1, f"output '{name}' of model.py is not in the configuration, which lists "
                        f"{', '.join(self.output_names)}: it is dropped")


def names_of(text):
    """["INPUT0", ...] of lines like "FP32 INPUT0"."""
    return [line.split(" ", 1)[1] for line in text.splitlines()]


def load_class(file, version):
    """TritonPythonModel of that file: imported as part of the package VERSION, as Triton does, so
    that it may import what lies beside it, both ways."""
    folder = os.path.dirname(file)
    sys.path += [folder, os.path.dirname(folder)]
    package = types.ModuleType(version)
    package.__path__ = [folder]
    sys.modules[version] = package
    stem = os.path.splitext(os.path.basename(file))[0]
    specification = importlib.util.spec_from_file_location(f"{version}.{stem}", file)
    if specification is None:
        raise ImportError(f"'{file}' is no Python file")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    if not hasattr(module, "TritonPythonModel"):
        raise ImportError(f"'{file}' has no class TritonPythonModel")
    return module.TritonPythonModel


def describe(error):
    """"ValueError: text", and where, as Triton words it."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{text}\n\nAt:\n  {error.filename}({error.lineno})"
    places = [f"  {frame.filename}({frame.lineno}): {frame.name}"
              for frame in reversed(traceback.extract_tb(error.__traceback__))
              if os.path.dirname(frame.filename) != os.path.dirname(__file__)
              and not frame.filename.startswith("<frozen")]
    return f"{text}\n\nAt:\n" + "\n".join(places) if places else text


def full_traceback(error):
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))


def caller(depth=2):
    """(file, line) of who called a function of ours."""
    frame = inspect.currentframe()
    for _ in range(depth):
        frame = frame.f_back if frame.f_back is not None else frame
    return os.path.basename(frame.f_code.co_filename), frame.f_lineno
