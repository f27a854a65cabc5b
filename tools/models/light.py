#!/usr/bin/env python3
"""light.py OUT.onnx NAME: one of the "light" networks of the onnx package (bvlc_alexnet, densenet121,
inception_v1, inception_v2, resnet50, shufflenet, squeezenet, vgg19, zfnet512) with seeded random weights in
the place of its constant ones and an open batch: real structures for tests and benchmarks that need no accuracy.
Needs numpy and onnx."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

FOLDER = pathlib.Path(onnx.__file__).parent / "backend/test/data/light"
# Inputs of BatchNormalization: (low, high) of what is drawn.
NORM_RANGES = {1: (0.8, 1.2), 2: (-0.1, 0.1), 3: (-0.1, 0.1), 4: (0.8, 1.2)}


def random_weight(random, shape, reader, index):
    if reader.op_type == "BatchNormalization":
        return random.uniform(*NORM_RANGES[index], shape)
    if reader.op_type in ("Conv", "Gemm") and index == 1:
        fan = np.prod(shape[1:])
        return random.standard_normal(shape) * (1.4 / fan) ** 0.5  # more grows too large on the way through residuals
    if reader.op_type == "Unsqueeze":  # a scale or shift of each channel
        return random.uniform(0.8, 1.2, shape)
    return random.uniform(-0.02, 0.02, shape)


def fill_weights(graph, random):
    """Initializers for the ConstantOfShape nodes, which go."""
    shapes = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    readers = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            readers.setdefault(name, (node, index))
    made = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    for node in made:
        weight = random_weight(random, tuple(shapes[node.input[0]]), *readers[node.output[0]])
        graph.initializer.append(
            numpy_helper.from_array(weight.astype(np.float32), node.output[0]))
        graph.node.remove(node)
    for each in [each for each in graph.initializer if each.name in {node.input[0] for node in made}]:
        graph.initializer.remove(each)


def answer_with_logits(graph):
    """A softmax at the end goes: with random weights it says nothing but "one" and "zero"."""
    last = graph.node[-1]
    if last.op_type == "Softmax":
        last.op_type = "Identity"
        del last.attribute[:]


def open_batch(graph):
    """Initializers are no inputs; the first extent of the picture and of each reshape is free."""
    constants = {each.name for each in graph.initializer}
    for each in [each for each in graph.input if each.name in constants]:
        graph.input.remove(each)
    for each in (graph.input[0], graph.output[0]):
        each.type.tensor_type.shape.dim[0].dim_param = "N"
    targets = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for each in graph.initializer:
        if each.name in targets:
            dims = numpy_helper.to_array(each).copy()
            dims[0] = -1
            each.CopyFrom(numpy_helper.from_array(dims, each.name))


def light(name, seed=1):
    model = onnx.load(FOLDER / f"light_{name}.onnx")
    model.ir_version = 8  # before 4, initializers had to be inputs
    answer_with_logits(model.graph)
    open_batch(model.graph)
    fill_weights(model.graph, np.random.default_rng(seed))
    return model


def main():
    names = sorted(path.stem.removeprefix("light_") for path in FOLDER.glob("light_*.onnx"))
    if len(sys.argv) != 3 or sys.argv[2] not in names:
        sys.exit(f"{__doc__}\nNetworks here: {', '.join(names)}")
    onnx.save(light(sys.argv[2]), sys.argv[1])


if __name__ == "__main__":
    main()
