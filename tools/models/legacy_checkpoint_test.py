import io
import os
import pickle
import struct

import numpy as np
import pytest

import legacy_checkpoint
from legacy_checkpoint import MAGIC, PROTOCOL


class Evil:
    def __reduce__(self):
        return os.system, ("true",)


def header():
    return pickle.dumps(MAGIC) + pickle.dumps(PROTOCOL) + pickle.dumps({"little_endian": True})


def write(tmp_path, content):
    path = tmp_path / "model.pth"
    path.write_bytes(content)
    return path


def test_reads_a_strided_view():
    storage = legacy_checkpoint.Storage("<f4", 6)
    storage.values = np.arange(6, dtype=np.float32)
    transposed = legacy_checkpoint.TensorView(storage, 0, (3, 2), (1, 3))
    assert transposed.to_array().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_fills_storages_in_the_order_of_the_key_list():
    storages = {"a": legacy_checkpoint.Storage("<f4", 1), "b": legacy_checkpoint.Storage("<i8", 2)}
    tail = (pickle.dumps(["b", "a"]) + struct.pack("<q", 2) + np.array([7, 8], "<i8").tobytes()
            + struct.pack("<q", 1) + np.array([0.5], "<f4").tobytes())
    legacy_checkpoint.read_storages(io.BytesIO(tail), storages)
    assert storages["b"].values.tolist() == [7, 8]
    assert storages["a"].values.tolist() == [0.5]


def test_a_storage_of_another_size_is_refused():
    tail = pickle.dumps(["a"]) + struct.pack("<q", 3)
    with pytest.raises(ValueError, match="3 elements, wanted 1"):
        legacy_checkpoint.read_storages(io.BytesIO(tail), {"a": legacy_checkpoint.Storage("<f4", 1)})


def test_code_in_the_file_is_refused(tmp_path):
    with pytest.raises(pickle.UnpicklingError, match="not allowed"):
        legacy_checkpoint.read_state_dict(write(tmp_path, header() + pickle.dumps(Evil())))
    with pytest.raises(pickle.UnpicklingError, match="not allowed"):
        legacy_checkpoint.read_state_dict(write(tmp_path, pickle.dumps(Evil())))


def test_another_format_is_named(tmp_path):
    with pytest.raises(ValueError, match="no PyTorch checkpoint"):
        legacy_checkpoint.read_state_dict(write(tmp_path, pickle.dumps(1)))
