"""Reads PyTorch checkpoints of the format before 1.6 (a row of pickles, then raw storages) with numpy
alone. Only the globals that a plain state dict needs are allowed, so a hostile file cannot run code.
"""
import collections
import pickle
import struct

import numpy as np

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
STORAGE_TYPES = {"FloatStorage": "<f4", "HalfStorage": "<f2", "LongStorage": "<i8",
                 "IntStorage": "<i4"}


class Storage:
    """The flat array behind one or more tensors; filled after the pickles are read."""

    def __init__(self, dtype, size):
        self.dtype = np.dtype(dtype)
        self.size = size
        self.values = None


class TensorView:
    """A strided window on a storage."""

    def __init__(self, storage, offset, shape, strides, *_):
        self.storage, self.offset, self.shape, self.strides = storage, offset, shape, strides

    def to_array(self):
        values = self.storage.values[self.offset:]
        strides = [stride * values.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(values, self.shape, strides).copy()


class PlainUnpickler(pickle.Unpickler):
    """Unpickles numbers, strings and containers only."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"checkpoint asks for {module}.{name}, which is not allowed")


class StateDictUnpickler(PlainUnpickler):
    def __init__(self, file):
        super().__init__(file)
        self.storages = {}

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return TensorView
        if module == "torch" and name in STORAGE_TYPES:
            return STORAGE_TYPES[name]
        return super().find_class(module, name)

    def persistent_load(self, reference):
        kind, dtype, key, _location, size = reference[:5]
        if kind != "storage":
            raise pickle.UnpicklingError(f"checkpoint refers to a '{kind}', wanted a storage")
        return self.storages.setdefault(key, Storage(dtype, size))


def read_storages(file, storages):
    """Fills the storages from the raw bytes at the end of the file, in the order its key list gives."""
    for key in PlainUnpickler(file).load():
        storage = storages[key]
        (size,) = struct.unpack("<q", file.read(8))
        if size != storage.size:
            raise ValueError(f"storage {key} has {size} elements, wanted {storage.size}")
        storage.values = np.frombuffer(file.read(size * storage.dtype.itemsize), storage.dtype)


def read_state_dict(path):
    """{parameter name: array} of the checkpoint at path."""
    with open(path, "rb") as file:
        if PlainUnpickler(file).load() != MAGIC or PlainUnpickler(file).load() != PROTOCOL:
            raise ValueError(f"{path} is no PyTorch checkpoint of the old format")
        PlainUnpickler(file).load()  # byte order and type sizes of the writer
        unpickler = StateDictUnpickler(file)
        state = unpickler.load()
        read_storages(file, unpickler.storages)
    return {name: view.to_array() for name, view in state.items()}
