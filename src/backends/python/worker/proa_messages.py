"""The bodies of the messages about requests; src/backends/python/messages.h describes them."""
import struct
import sys

import numpy

from proa_link import BY_NAME, INLINE, TENSOR, U32
from proa_objects import input_tensor
from proa_types import BYTES, DTYPES, serialize_bytes

REQUEST = struct.Struct("<QQQIIIIHHI")
RESPONSE = struct.Struct("<QIIII")
BATCH = struct.Struct("<QII")
# Of requests.
CORRELATION_TEXT, HAS_PARAMETERS = 4, 8
SEQUENCE_FLAGS = 3
# Of responses.
FINAL, HAS_ERROR, NO_CONTENT = 1, 2, 4
COPY_INPUTS = 1
VALUES = {1: struct.Struct("<q"), 2: struct.Struct("<Q"), 3: struct.Struct("<d")}


def get_string(data, at):
    size, = U32.unpack_from(data, at)
    at += 4
    return str(data[at:at + size], "utf-8", "surrogateescape"), at + size


def get_parameters(data, at):
    count, = U32.unpack_from(data, at)
    at += 4
    parameters = {}
    for _ in range(count):
        name, at = get_string(data, at)
        kind = data[at]
        at += 1
        if kind == 4:
            parameters[name], at = get_string(data, at)
        elif kind == 0:
            parameters[name] = data[at] != 0
            at += 1
        else:
            parameters[name], = VALUES[kind].unpack_from(data, at)
            at += 8
    return parameters, at


def put_parameters(draft, parameters):
    body = draft.body
    body += U32.pack(len(parameters))
    for name, value in parameters.items():
        draft.put_string(name)
        if isinstance(value, bool):
            body += bytes((0, value))
        elif isinstance(value, int):
            signed = value < 1 << 63
            body.append(1 if signed else 2)
            body += VALUES[1 if signed else 2].pack(value)
        elif isinstance(value, float):
            body.append(3)
            body += VALUES[3].pack(value)
        elif isinstance(value, str):
            body.append(4)
            draft.put_string(value)
        else:
            raise TypeError(f"parameter '{name}' is a {type(value).__name__}; wanted str, int, "
                            "bool or float")


def get_tensor(message, at, names, copy):
    """(tensor, where the next begins). names: of the model's inputs by index; None: it follows."""
    data = message.data
    layout = TENSOR[data[at + 3]]
    index, kind, _, place, offset, size, *shape = layout.unpack_from(data, at)
    at += layout.size
    if index == BY_NAME:
        name, at = get_string(data, at)
    else:
        name = names[index]
    if place == INLINE:
        offset += message.body
        at = offset + size
    else:
        data = message.roots[place]
        if copy:
            data = bytearray(memoryview(data)[offset:offset + size])
            offset = 0
    return (input_tensor(name, kind, shape, data, offset, size),
            message.body + ((at - message.body + 7) & ~7))


def get_requests(message, model):
    """(number of the batch, its requests)."""
    data = message.data
    at = message.at
    batch, flags, _ = BATCH.unpack_from(data, at)
    copy = flags & COPY_INPUTS
    at += BATCH.size
    requests = []
    kind = model.request_class
    for _ in range(message.items):
        request = kind.__new__(kind)
        (request._number, correlation, request._timeout, flags, request._slot, id_bytes,
         text_bytes, inputs, outputs, request._priority) = REQUEST.unpack_from(data, at)
        at += REQUEST.size
        request._id = str(data[at:at + id_bytes], "utf-8", "replace") if id_bytes else ""
        at += id_bytes
        if flags & CORRELATION_TEXT:
            correlation = str(data[at:at + text_bytes], "utf-8", "replace")
            at += text_bytes
        request._correlation = correlation
        request._flags = flags & SEQUENCE_FLAGS
        if flags & HAS_PARAMETERS:
            request._parameters, at = get_parameters(data, at)
        else:
            request._parameters = None
        if outputs:
            request._outputs = [model.output_names[i]
                                for i in struct.unpack_from(f"<{outputs}H", data, at)]
            at += 2 * outputs
        else:
            request._outputs = model.output_names
        at = message.body + ((at - message.body + 7) & ~7)
        tensors = []
        for _ in range(inputs):
            tensor, at = get_tensor(message, at, model.input_names, copy)
            tensors.append(tensor)
        request._inputs = tensors
        request._model = model
        request._sender = None
        requests.append(request)
    return batch, requests


class Outputs:
    """One response, taken out of the model's objects: nothing else of ours holds its arrays."""
    __slots__ = ("number", "flags", "error", "parameters", "tensors")

    def __init__(self, number, response, wanted, model, final=True):
        self.number = number
        self.flags = FINAL if final else 0
        self.tensors = []
        self.parameters = self.error = None
        if response is None:
            self.flags |= NO_CONTENT
            return
        self.parameters = response._parameters
        self.error = response._error
        if self.error is not None:
            return
        for tensor in response._outputs:
            index = model.output_index.get(tensor._name)
            if index is None:
                model.warn_once(tensor._name)
            elif wanted is model.output_names or tensor._name in wanted:
                raw, array = tensor._raw, tensor._array
                self.tensors.append((index, tensor._type, array, array.shape) if raw is None else
                                    (index, tensor._type, raw, tensor._shape))


def failure(number, error):
    """The Outputs that end a request with a TritonError."""
    outputs = Outputs(number, None, None, None)
    outputs.flags = FINAL
    outputs.error = error
    return outputs


def put_response(draft, outputs, owned):
    """owned: {id of an array: (loan, offset)}, see own_arrays()."""
    flags = outputs.flags
    error, parameters = outputs.error, outputs.parameters
    if error is not None:
        flags |= HAS_ERROR
    if parameters:
        flags |= HAS_PARAMETERS
    draft.items += 1
    draft.body += RESPONSE.pack(outputs.number, flags, 0 if error is None else error._code,
                                len(outputs.tensors), 0)
    if error is not None:
        draft.put_string(error._message)
    if parameters:
        put_parameters(draft, parameters)
    draft.align(8)
    for index, kind, content, shape in outputs.tensors:
        if owned and id(content) in owned:
            loan, offset = owned[id(content)]
            draft.put_tensor(index, kind, content, shape, loan=loan, offset=offset)
        elif content.__class__ is memoryview:
            draft.put_tensor(index, kind, bytes(content), shape)
        elif kind == BYTES:
            draft.put_tensor(index, kind, serialize_bytes(content), shape)
        else:
            draft.put_tensor(index, kind, content, shape)


def count_references(array):
    """As own_arrays() sees them, of an array that one list holds."""
    return sys.getrefcount(array)


def own_arrays(link, roots, responses):
    """Outputs that lie in a request's own memory, which nobody else holds any more: they go back in
    place. {id of the array: (loan, offset)}; these loans have ended on our side.

    roots: the arrays over the lent blocks, whose only holder that list is, the outputs apart."""
    owned = {}
    for position in range(len(roots)):
        arrays = [tensor[2] for outputs in responses for tensor in outputs.tensors
                  if getattr(tensor[2], "base", None) is roots[position]]
        if not arrays:
            continue
        # What a list, the tuple in the response and, for the root, its arrays' `base` hold.
        distinct = len({id(content) for content in arrays})
        alone = (count_references(roots[position]) == REFERENCES + distinct
                 and distinct == len(arrays)
                 and all(content.flags.c_contiguous and content.dtype in NUMBERS
                         for content in arrays)
                 and all(count_references(arrays[i]) == REFERENCES + 1
                         for i in range(len(arrays))))
        if not alone:
            continue
        loan = link.take_loan(roots[position])
        start = roots[position].__array_interface__["data"][0]
        for content in arrays:
            owned[id(content)] = (loan, content.__array_interface__["data"][0] - start)
    return owned


NUMBERS = frozenset(dtype for number, dtype in DTYPES.items() if number != BYTES)
_only = [numpy.zeros(1)]
REFERENCES = count_references(_only[0])
