"""Tensors, requests, responses and errors, as triton_python_backend_utils shows them."""
import json

import numpy

from proa_types import BF16, BYTES, DTYPES, deserialize_bytes, type_of


class TritonModelException(Exception):
    """An error of the server's side, raised in a model."""


class TritonError:
    """An error to answer a request with."""
    UNKNOWN, INTERNAL, NOT_FOUND, INVALID_ARG, UNAVAILABLE, UNSUPPORTED, ALREADY_EXISTS, CANCELLED \
        = range(8)
    __slots__ = ("_message", "_code")

    def __init__(self, message, code=INTERNAL):
        self._message = str(message)
        self._code = int(code)

    def message(self):
        return self._message

    def code(self):
        return self._code

    def __str__(self):
        return self._message


class Tensor:
    """A name and an array. Inputs are over the request's own memory and may be written."""
    __slots__ = ("_name", "_array", "_type", "_raw", "_shape")

    def __init__(self, name, numpy_array):
        if not isinstance(numpy_array, numpy.ndarray):
            if not isinstance(numpy_array, numpy.generic):
                raise TypeError(f"tensor '{name}' must be a numpy array, not "
                                f"{type(numpy_array).__name__}")
            numpy_array = numpy.asarray(numpy_array)
        kind = type_of(numpy_array)
        if kind == 0:
            raise TritonModelException(
                f"tensor '{name}': numpy's {numpy_array.dtype} is no data type of Triton's; "
                "convert it with astype()")
        if not numpy_array.dtype.isnative:
            numpy_array = numpy_array.astype(numpy_array.dtype.newbyteorder("="))
        self._name = name
        self._array = numpy_array
        self._type = kind
        self._raw = None
        self._shape = None

    def name(self):
        return self._name

    def triton_dtype(self):
        return self._type

    def shape(self):
        return list(self._array.shape if self._shape is None else self._shape)

    def is_cpu(self):
        return True

    def as_numpy(self):
        """The array: no copy, but of BYTES."""
        array = self._array
        if array is None:
            if self._type == BF16:
                raise TritonModelException(
                    f"tensor '{self._name}' is BF16, which numpy does not have: use to_dlpack()")
            array = self._array = deserialize_bytes(self._raw).reshape(self._shape)
            self._raw = None
        return array


    def to_dlpack(self):
        """A DLPack capsule over the same memory."""
        return self.__dlpack__()

    def __dlpack__(self, *, stream=None, **_):
        if self._type == BYTES:
            raise TritonModelException(f"tensor '{self._name}' is BYTES, which DLPack does not have")
        if self._array is None:
            content = numpy.frombuffer(self._raw, numpy.uint8)
        else:
            content = numpy.ascontiguousarray(self._array).reshape(-1).view(numpy.uint8)
        return proa_dlpack().to_capsule(content, self._type, self.shape())

    def __dlpack_device__(self):
        return (1, 0)

    @staticmethod
    def from_dlpack(name, dlpack):
        """A tensor of what another library has: a capsule, or an object with __dlpack__. A copy."""
        if hasattr(dlpack, "__dlpack__"):
            dlpack = dlpack.__dlpack__()
        kind, shape, content = proa_dlpack().from_capsule(dlpack)
        tensor = Tensor.__new__(Tensor)
        tensor._name, tensor._type = name, kind
        dtype = DTYPES.get(kind)
        if dtype is None:
            tensor._array, tensor._raw, tensor._shape = None, memoryview(content), shape
        else:
            tensor._array = content.view(dtype).reshape(shape)
            tensor._raw = tensor._shape = None
        return tensor


def proa_dlpack():
    """ctypes takes a while to import, and few models need it."""
    import proa_dlpack as module
    return module


def input_tensor(name, kind, shape, data, offset, size):
    """The tensor over `size` bytes of `data`, a buffer, at `offset`."""
    tensor = Tensor.__new__(Tensor)
    tensor._name = name
    tensor._type = kind
    dtype = DTYPES.get(kind)
    if kind == BYTES or dtype is None:
        tensor._array = None
        tensor._raw = memoryview(data)[offset:offset + size]
        tensor._shape = shape
    else:
        tensor._array = numpy.ndarray(shape, dtype, data, offset)
        tensor._raw = tensor._shape = None
    return tensor


class InferenceResponse:
    """Outputs, or an error."""
    __slots__ = ("_outputs", "_error", "_parameters")

    def __init__(self, output_tensors=None, error=None, parameters=None):
        if isinstance(output_tensors, Tensor):
            raise TypeError("output_tensors must be a list of Tensor")
        self._outputs = list(output_tensors or [])
        for tensor in self._outputs:
            if not isinstance(tensor, Tensor):
                raise TypeError("output_tensors must be a list of Tensor, not of "
                                f"{type(tensor).__name__}")
        if error is not None and not isinstance(error, TritonError):
            raise TypeError(f"error must be a TritonError, not {type(error).__name__}")
        self._error = error
        self._parameters = parameters or {}

    def output_tensors(self):
        return self._outputs

    def has_error(self):
        return self._error is not None

    def error(self):
        return self._error

    def parameters(self):
        return json.dumps(self._parameters)


