#!/usr/bin/env python3
"""Writes ResNet-like networks as ONNX with seeded random weights (He initialisation, batch
normalisation with statistics of its own): the shapes and operators of the real ones, for tests and
benchmarks that need no accuracy.

  resnet.py OUT.onnx [--depths 3,4,6,3] [--width 64] [--size 224] [--classes 1000] [--batch N]
            [--input planes|pixels|pixels_half] [--half]

--input: planes, FP32 [N, 3, size, size]; pixels, UINT8 [N, size, size, 3] that the graph normalises;
pixels_half, FP16 [N, size, size, 3]. --half: stored in FP16 throughout, planes too. The defaults are ResNet-50 v1.5 with an open batch. Needs numpy and onnx.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed, half=False):
        self.random = np.random.default_rng(seed)
        self.type = np.float16 if half else np.float32
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array.astype(self.type), name))
        return name

    def node(self, kind, inputs, **attributes):
        self.count += 1
        name = f"{kind.lower()}_{self.count}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def conv_bn(self, x, inputs, outputs, kernel, stride, relu, gain=1.0):
        fan = inputs * kernel * kernel
        weight = self.random.standard_normal((outputs, inputs, kernel, kernel)) * (2 / fan) ** 0.5
        pad = kernel // 2
        x = self.node("Conv", [x, self.constant(weight)], kernel_shape=[kernel] * 2,
                      strides=[stride] * 2, pads=[pad] * 4)
        vectors = [gain * self.random.uniform(0.8, 1.2, outputs),
                   self.random.uniform(-0.1, 0.1, outputs),
                   self.random.uniform(-0.1, 0.1, outputs), self.random.uniform(0.8, 1.2, outputs)]
        x = self.node("BatchNormalization", [x] + [self.constant(v) for v in vectors], epsilon=1e-5)
        return self.node("Relu", [x]) if relu else x


def normalised(b, x):
    """UINT8 pixels as planes of (x / 255 - mean) / deviation."""
    x = b.node("Transpose", [b.node("Cast", [x], to=TensorProto.FLOAT)], perm=[0, 3, 1, 2])
    mean = 255 * np.array([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1)
    deviation = 255 * np.array([0.229, 0.224, 0.225]).reshape(1, 3, 1, 1)
    return b.node("Div", [b.node("Sub", [x, b.constant(mean)]), b.constant(deviation)])


def halves(b, x):
    """FP16 pixels as FP32 planes."""
    return b.node("Transpose", [b.node("Cast", [x], to=TensorProto.FLOAT)], perm=[0, 3, 1, 2])


# What the input is: its type, its shape's order, and how it becomes planes.
INPUTS = {"planes": (TensorProto.FLOAT, False, lambda b, x: x),
          "pixels": (TensorProto.UINT8, True, normalised),
          "pixels_half": (TensorProto.FLOAT16, True, halves)}


def resnet(depths, width, size, classes, batch, seed, kind="planes", half=False):
    """A bottleneck ResNet: stem, len(depths) stages, global pool, classifier."""
    b = Builder(seed, half)
    input_type, last, to_planes = INPUTS[kind]
    output_type = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    if half:
        input_type = TensorProto.FLOAT16
    picture = to_planes(b, "input")
    x = b.conv_bn(picture, 3, width, 7, 2, True)
    x = b.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = width
    for stage, depth in enumerate(depths):
        middle = width << stage
        for block in range(depth):
            stride = 2 if stage and block == 0 else 1
            shortcut = x
            if block == 0:
                shortcut = b.conv_bn(x, channels, 4 * middle, 1, stride, False)
            y = b.conv_bn(x, channels, middle, 1, 1, True)
            y = b.conv_bn(y, middle, middle, 3, stride, True)
            y = b.conv_bn(y, middle, 4 * middle, 1, 1, False, gain=0.5)
            x = b.node("Relu", [b.node("Add", [y, shortcut])])
            channels = 4 * middle
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])])
    weight = b.random.standard_normal((classes, channels)) * channels ** -0.5
    x = b.node("Gemm", [x, b.constant(weight), b.constant(b.random.uniform(-0.1, 0.1, classes))],
               transB=1)
    graph = helper.make_graph(
        b.nodes, "resnet",
        [helper.make_tensor_value_info("input", input_type, [batch, size, size, 3] if last else
                                       [batch, 3, size, size])],
        [helper.make_tensor_value_info(x, output_type, [batch, classes])], b.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--depths", default="3,4,6,3")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--batch", default="N", help="a number, or a name for an open batch")
    parser.add_argument("--input", default="planes", choices=INPUTS)
    parser.add_argument("--half", action="store_true", help="FP16 throughout; with --input planes only")
    parser.add_argument("--seed", type=int, default=50)
    args = parser.parse_args()
    if args.half and args.input != "planes":
        parser.error("--half wants --input planes")
    batch = int(args.batch) if args.batch.isdigit() else args.batch
    depths = [int(d) for d in args.depths.split(",")]
    onnx.save(resnet(depths, args.width, args.size, args.classes, batch, args.seed, args.input,
                     args.half), args.out)


if __name__ == "__main__":
    main()
