"""What Triton's models import as triton_python_backend_utils: tensors, requests, responses, errors.

This is proa's own; docs/backend-python.md lists what it offers and where it differs.
"""
import json

import numpy

from proa_calls import ResponseIterator, is_model_ready, load_model, unload_model
from proa_logger import Logger, LogLevel
from proa_metrics import MetricFamily
from proa_model_config import ModelConfig
from proa_objects import InferenceResponse, Tensor, TritonError, TritonModelException
from proa_request import (TRITONSERVER_MEMORY_CPU, TRITONSERVER_MEMORY_CPU_PINNED,
                          TRITONSERVER_MEMORY_GPU, InferenceRequest, InferenceTrace, MemoryType,
                          PreferredMemory)
from proa_sender import InferenceResponseSender
from proa_types import (NUMPY_TO_TYPE, TRITON_TO_NUMPY, TYPE_TO_NUMPY, deserialize_bytes,
                        serialize_bytes)

TRITONSERVER_REQUEST_FLAG_SEQUENCE_START = 1
TRITONSERVER_REQUEST_FLAG_SEQUENCE_END = 2
TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1
TRITONSERVER_REQUEST_RELEASE_ALL = 1
TRITONSERVER_REQUEST_RELEASE_RESCHEDULE = 2


def get_input_tensor_by_name(inference_request, name):
    """The input of that name, or None."""
    for tensor in inference_request.inputs():
        if tensor.name() == name:
            return tensor
    return None


def get_output_tensor_by_name(inference_response, name):
    """The output of that name, or None."""
    for tensor in inference_response.output_tensors():
        if tensor.name() == name:
            return tensor
    return None


def _config_of(model_config, field, name):
    if isinstance(model_config, str):
        model_config = json.loads(model_config)
    for properties in model_config.get(field, []):
        if properties["name"] == name:
            return properties
    return None


def get_input_config_by_name(model_config, name):
    """The properties of that input in the model's configuration, or None."""
    return _config_of(model_config, "input", name)


def get_output_config_by_name(model_config, name):
    """The properties of that output in the model's configuration, or None."""
    return _config_of(model_config, "output", name)


def using_decoupled_model_transaction_policy(model_config):
    """Whether the model gives any number of responses to a request."""
    if isinstance(model_config, str):
        model_config = json.loads(model_config)
    return bool(model_config.get("model_transaction_policy", {}).get("decoupled", False))


def triton_to_numpy_type(data_type):
    """The numpy type of TRITONSERVER_DataType's number or name."""
    if isinstance(data_type, str):
        return triton_string_to_numpy(data_type)
    return TYPE_TO_NUMPY[int(data_type)]


def numpy_to_triton_type(data_type):
    """TRITONSERVER_DataType's number of a numpy type."""
    if isinstance(data_type, type) and data_type in (bytes, str, numpy.bytes_, numpy.object_):
        return NUMPY_TO_TYPE[numpy.dtype(object)]
    return NUMPY_TO_TYPE[numpy.dtype(data_type)]


def triton_string_to_numpy(triton_type_string):
    """The numpy type of "TYPE_FP32" and its siblings."""
    return TRITON_TO_NUMPY[triton_type_string]


def serialize_byte_tensor(input_tensor):
    """The elements of an array as one array of bytes, each behind its length; None if that is no
    array of strings or bytes."""
    if input_tensor.size == 0:
        return numpy.empty([0], dtype=numpy.object_)
    if input_tensor.dtype.kind not in "OSU":
        return None
    return numpy.asarray(serialize_bytes(input_tensor), dtype=numpy.object_)


def deserialize_bytes_tensor(encoded_tensor):
    """The array of bytes objects that such bytes stand for."""
    return deserialize_bytes(encoded_tensor)
