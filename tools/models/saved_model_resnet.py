#!/usr/bin/env python3
"""Writes a ResNet as a TensorFlow SavedModel (pixels last, weights as constants) with seeded random weights; no
TensorFlow needed. The messages are encoded by hand: a SavedModel of one graph uses few of their fields.

  saved_model_resnet.py OUT_FOLDER [--depths 3,4,6,3] [--width 64] [--size 224] [--classes 1000]

Input input FP32 [N, size, size, 3], output logits FP32 [N, classes]. Needs numpy."""
import argparse
import pathlib

import numpy as np

FLOAT, INT32 = 1, 3  # DataType


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(field, number):
    return varint(field << 3) + varint(number)


def message(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def entry(field, key, value):
    """One entry of a map."""
    return message(field, message(1, key) + message(2, value))


def shape_of(dims):
    return b"".join(message(2, integer(1, dim)) for dim in dims)


def tensor_of(array):
    kind = {"float32": FLOAT, "int32": INT32}[array.dtype.name]
    return integer(1, kind) + message(2, shape_of(array.shape)) + message(4, array.tobytes())


# AttrValue
def text(value):
    return message(2, value)


def real(value):
    return varint(4 << 3 | 5) + np.float32(value).tobytes()


def flag(value):
    return integer(5, value)


def kind(value):
    return integer(6, value)


def integers(*values):
    return message(1, message(3, b"".join(varint(value) for value in values)))


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes = []

    def node(self, op, *inputs, name=None, **attributes):
        name = name or f"{op.lower()}_{len(self.nodes)}"
        data = message(1, name) + message(2, op) + b"".join(message(3, each) for each in inputs)
        data += b"".join(entry(5, key, value) for key, value in attributes.items())
        self.nodes.append(message(1, data))
        return name

    def constant(self, array):
        array = np.ascontiguousarray(array)
        return self.node("Const", dtype=kind(FLOAT if array.dtype == np.float32 else INT32),
                         value=message(8, tensor_of(array)))

    def floats(self, array):
        return self.constant(np.asarray(array, np.float32))

    def conv_norm(self, x, inputs, outputs, kernel, stride, relu, gain=1.0):
        fan = inputs * kernel * kernel
        weight = self.random.standard_normal((kernel, kernel, inputs, outputs)) * (2 / fan) ** 0.5
        pad = kernel // 2
        x = self.node("Conv2D", x, self.floats(weight), T=kind(FLOAT), data_format=text("NHWC"),
                      strides=integers(1, stride, stride, 1), padding=text("EXPLICIT"),
                      explicit_paddings=integers(0, 0, pad, pad, pad, pad, 0, 0))
        draw = self.random.uniform
        vectors = [gain * draw(0.8, 1.2, outputs), draw(-0.1, 0.1, outputs),
                   draw(-0.1, 0.1, outputs), draw(0.8, 1.2, outputs)]
        x = self.node("FusedBatchNormV3", x, *[self.floats(vector) for vector in vectors],
                      T=kind(FLOAT), U=kind(FLOAT), data_format=text("NHWC"), epsilon=real(1e-5),
                      is_training=flag(False))
        return self.node("Relu", x, T=kind(FLOAT)) if relu else x


def resnet(depths, width, size, classes, seed):
    """The bytes of a GraphDef."""
    b = Builder(seed)
    x = b.node("Placeholder", name="input", dtype=kind(FLOAT),
               shape=message(7, shape_of([-1, size, size, 3])))
    x = b.conv_norm(x, 3, width, 7, 2, True)
    x = b.node("Pad", x, b.constant(np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)),
               T=kind(FLOAT), Tpaddings=kind(INT32))
    x = b.node("MaxPool", x, T=kind(FLOAT), data_format=text("NHWC"), ksize=integers(1, 3, 3, 1),
               strides=integers(1, 2, 2, 1), padding=text("VALID"))
    channels = width
    for stage, depth in enumerate(depths):
        middle = width << stage
        for block in range(depth):
            stride = 2 if stage and block == 0 else 1
            shortcut = x
            if block == 0:
                shortcut = b.conv_norm(x, channels, 4 * middle, 1, stride, False)
            y = b.conv_norm(x, channels, middle, 1, 1, True)
            y = b.conv_norm(y, middle, middle, 3, stride, True)
            y = b.conv_norm(y, middle, 4 * middle, 1, 1, False, gain=0.5)
            x = b.node("Relu", b.node("AddV2", y, shortcut, T=kind(FLOAT)), T=kind(FLOAT))
            channels = 4 * middle
    x = b.node("Mean", x, b.constant(np.array([1, 2], np.int32)), T=kind(FLOAT), Tidx=kind(INT32),
               keep_dims=flag(False))
    weight = b.random.standard_normal((channels, classes)) * channels ** -0.5
    x = b.node("MatMul", x, b.floats(weight), T=kind(FLOAT), transpose_a=flag(False),
               transpose_b=flag(False))
    b.node("BiasAdd", x, b.floats(b.random.uniform(-0.1, 0.1, classes)), name="logits",
           T=kind(FLOAT), data_format=text("NHWC"))
    return b"".join(b.nodes) + message(4, integer(1, 1482))  # versions { producer }


def saved_model(graph, size, classes):
    def tensor_info(name, dims):
        return message(1, name) + integer(2, FLOAT) + message(3, shape_of(dims))

    signature = (entry(1, "input", tensor_info("input:0", [-1, size, size, 3]))
                 + entry(2, "logits", tensor_info("logits:0", [-1, classes]))
                 + message(3, "tensorflow/serving/predict"))
    meta = (message(1, message(4, "serve")) + message(2, graph)
            + entry(5, "serving_default", signature))
    return integer(1, 1) + message(2, meta)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--depths", default="3,4,6,3")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=50)
    options = parser.parse_args()
    depths = [int(depth) for depth in options.depths.split(",")]
    graph = resnet(depths, options.width, options.size, options.classes, options.seed)
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "saved_model.pb").write_bytes(
        saved_model(graph, options.size, options.classes))


if __name__ == "__main__":
    main()
