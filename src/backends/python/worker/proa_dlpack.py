"""DLPack capsules over the bytes of tensors: for libraries that have types numpy lacks (BF16)."""
import ctypes

import numpy

from proa_types import BF16

NAME = b"dltensor"
USED_NAME = b"used_dltensor"
CPU = 1
# (code, bits) by the number of the data type.
CODES = {1: (6, 8), 2: (1, 8), 3: (1, 16), 4: (1, 32), 5: (1, 64), 6: (0, 8), 7: (0, 16),
         8: (0, 32), 9: (0, 64), 10: (2, 16), 11: (2, 32), 12: (2, 64), BF16: (4, 16)}
TYPES = {code: number for number, code in CODES.items()}


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p),
                            ("deleter", Deleter)]

_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_api.PyCapsule_IsValid.restype = ctypes.c_int
_api.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

_alive = {}   # what capsules point into, by their address, until somebody calls the deleter


@Deleter
def _delete(managed):
    _alive.pop(ctypes.addressof(managed.contents), None)


# By address: an object that is being destroyed must not be referred to.
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", _api))


# A capsule that nobody took calls the deleter itself.
@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _destroy(capsule):
    if _is_valid(capsule, NAME):
        _alive.pop(_pointer(capsule, NAME), None)


def to_capsule(tensor_bytes, kind, shape):
    """A capsule over an array of bytes that hold that type and shape, row-major."""
    if kind not in CODES:
        raise TypeError("DLPack has no BYTES tensors")
    managed = DLManagedTensor()
    dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    managed.tensor = DLTensor(tensor_bytes.ctypes.data, CPU, 0, len(shape), *CODES[kind], 1, dims,
                              None, 0)
    managed.deleter = _delete
    address = ctypes.addressof(managed)
    _alive[address] = (managed, dims, tensor_bytes)
    return _api.PyCapsule_New(address, NAME, ctypes.cast(_destroy, ctypes.c_void_p))


def strides_of(shape):
    result, step = [], 1
    for extent in reversed(shape):
        result.insert(0, step)
        step *= extent
    return result


def from_capsule(capsule):
    """(type, shape, array of bytes, row-major) of a capsule, which is used up; a copy."""
    if not _api.PyCapsule_IsValid(capsule, NAME):
        raise ValueError("wanted a DLPack capsule that was not used")
    managed = DLManagedTensor.from_address(_api.PyCapsule_GetPointer(capsule, NAME))
    tensor = managed.tensor
    if tensor.device_type not in (CPU, 3):
        raise ValueError("from_dlpack() takes tensors in the machine's memory: call .cpu() first")
    kind = TYPES.get((tensor.code, tensor.bits))
    if kind is None or tensor.lanes != 1:
        raise ValueError(f"DLPack type code {tensor.code} of {tensor.bits} bits is no data type of "
                         "Triton's")
    shape = [tensor.shape[i] for i in range(tensor.ndim)]
    width = tensor.bits // 8
    strides = ([tensor.strides[i] for i in range(tensor.ndim)] if tensor.strides
               else strides_of(shape))
    reach = sum((extent - 1) * abs(step) for extent, step in zip(shape, strides)) + 1
    content = numpy.empty(0, numpy.uint8)
    if 0 not in shape:
        source = (ctypes.c_uint8 * (reach * width)).from_address(tensor.data + tensor.byte_offset)
        elements = numpy.frombuffer(source, f"u{width}")
        view = numpy.lib.stride_tricks.as_strided(elements, shape, [s * width for s in strides])
        content = numpy.ascontiguousarray(view).reshape(-1).copy().view(numpy.uint8)
    if managed.deleter:
        managed.deleter(ctypes.pointer(managed))
    _api.PyCapsule_SetName(capsule, USED_NAME)
    return kind, shape, content

