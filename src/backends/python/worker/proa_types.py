"""Data types: numbers as in inference.DataType, names on the wire, numpy's types."""
import struct

import numpy

BYTES, BF16 = 13, 14
TYPE_NAMES = ("INVALID", "BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32",
              "INT64", "FP16", "FP32", "FP64", "BYTES", "BF16")
TYPE_TO_NUMPY = {1: numpy.bool_, 2: numpy.uint8, 3: numpy.uint16, 4: numpy.uint32, 5: numpy.uint64,
                 6: numpy.int8, 7: numpy.int16, 8: numpy.int32, 9: numpy.int64, 10: numpy.float16,
                 11: numpy.float32, 12: numpy.float64, BYTES: numpy.object_}
DTYPES = {number: numpy.dtype(kind) for number, kind in TYPE_TO_NUMPY.items()}
NUMPY_TO_TYPE = {numpy.dtype(kind): number for number, kind in TYPE_TO_NUMPY.items()}
TRITON_TO_NUMPY = {f"TYPE_{TYPE_NAMES[number]}": kind for number, kind in TYPE_TO_NUMPY.items()}
TRITON_TO_NUMPY["TYPE_STRING"] = numpy.object_
LENGTH = struct.Struct("<I")


def type_of(array):
    """The number of an array's data type; 0 when there is none."""
    number = NUMPY_TO_TYPE.get(array.dtype)
    if number is not None:
        return number
    if array.dtype.kind in "SU":
        return BYTES
    if array.dtype.name == "bfloat16":
        return BF16
    # Of another byte order.
    return NUMPY_TO_TYPE.get(array.dtype.newbyteorder("="), 0)


def serialize_bytes(array):
    """The elements of an array, each behind its length, in row-major order."""
    parts = []
    for element in array.reshape(-1).tolist():
        if isinstance(element, str):
            element = element.encode()
        elif not isinstance(element, (bytes, bytearray)):
            element = str(element).encode()
        parts.append(LENGTH.pack(len(element)))
        parts.append(element)
    return b"".join(parts)


def deserialize_bytes(data, count=None):
    """The flat array of the elements; count: how many, None = as many as there are."""
    data = bytes(data)
    elements = []
    at = 0
    while at < len(data):
        size, = LENGTH.unpack_from(data, at)
        at += 4
        elements.append(data[at:at + size])
        at += size
    result = numpy.empty(len(elements) if count is None else count, dtype=numpy.object_)
    result[:] = elements
    return result
