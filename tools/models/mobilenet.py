#!/usr/bin/env python3
"""Writes MobileNetV2-like networks as ONNX with seeded random weights: inverted residual blocks of 1x1,
depthwise and 1x1 convolutions with ReLU6, for tests and benchmarks that need no accuracy.

  mobilenet.py OUT.onnx [--blocks T,C,N,S/...] [--stem 32] [--head 1280] [--kernel 3] [--size 224]
               [--classes 1000] [--batch N]

--blocks: expansion, channels, repeats and stride of each stage. The defaults are MobileNetV2 with an
open batch. Needs numpy and onnx.
"""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper

from resnet import Builder

MOBILENET_V2 = "1,16,1,1/6,24,2,2/6,32,3,2/6,64,4,2/6,96,3,1/6,160,3,2/6,320,1,1"


class MobileBuilder(Builder):
    def __init__(self, seed):
        super().__init__(seed)
        self.zero, self.six = self.constant(np.float32(0)), self.constant(np.float32(6))

    def conv(self, x, inputs, outputs, kernel=1, stride=1, groups=1, clip=True, gain=1.0):
        """Convolution, batch normalisation and perhaps ReLU6."""
        fan = inputs // groups * kernel * kernel
        weight = self.random.standard_normal((outputs, inputs // groups, kernel, kernel))
        x = self.node("Conv", [x, self.constant(weight * (2 / fan) ** 0.5)], group=groups,
                      kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4)
        vectors = [gain * self.random.uniform(0.8, 1.2, outputs),
                   self.random.uniform(-0.1, 0.1, outputs),
                   self.random.uniform(-0.1, 0.1, outputs), self.random.uniform(0.8, 1.2, outputs)]
        x = self.node("BatchNormalization", [x] + [self.constant(v) for v in vectors], epsilon=1e-5)
        return self.node("Clip", [x, self.zero, self.six]) if clip else x


def mobilenet(stages, stem, head, kernel, size, classes, batch, seed):
    b = MobileBuilder(seed)
    x = b.conv("input", 3, stem, kernel=3, stride=2)
    channels = stem
    for expansion, outputs, repeats, first_stride in stages:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            shortcut, wide = x, channels * expansion
            if expansion != 1:
                x = b.conv(x, channels, wide)
            x = b.conv(x, wide, wide, kernel=kernel, stride=stride, groups=wide)
            x = b.conv(x, wide, outputs, clip=False, gain=0.7)
            if stride == 1 and channels == outputs:
                x = b.node("Add", [x, shortcut])
            channels = outputs
    x = b.conv(x, channels, head)
    x = b.node("Flatten", [b.node("GlobalAveragePool", [x])])
    weight = b.random.standard_normal((classes, head)) * head ** -0.5
    x = b.node("Gemm", [x, b.constant(weight), b.constant(b.random.uniform(-0.1, 0.1, classes))],
               transB=1)
    graph = helper.make_graph(
        b.nodes, "mobilenet",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, [batch, classes])], b.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--blocks", default=MOBILENET_V2)
    parser.add_argument("--stem", type=int, default=32)
    parser.add_argument("--head", type=int, default=1280)
    parser.add_argument("--kernel", type=int, default=3)
    parser.add_argument("--size", type=int, default=224)
    parser.add_argument("--classes", type=int, default=1000)
    parser.add_argument("--batch", default="N", help="a number, or a name for an open batch")
    parser.add_argument("--seed", type=int, default=51)
    args = parser.parse_args()
    batch = int(args.batch) if args.batch.isdigit() else args.batch
    stages = [tuple(map(int, stage.split(","))) for stage in args.blocks.split("/")]
    onnx.save(mobilenet(stages, args.stem, args.head, args.kernel, args.size, args.classes, batch,
                        args.seed), args.out)


if __name__ == "__main__":
    main()
