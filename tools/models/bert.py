#!/usr/bin/env python3
"""Writes a sentence encoder as ONNX with seeded random weights: the operators and shapes of
all-MiniLM-L6-v2 (BERT with GELU by Erf, mean pooling, unit length), for tests that need no meaning.

  bert.py OUT.onnx [--layers 6] [--width 384] [--heads 12] [--words 30522] [--positions 512]

Inputs input_ids and attention_mask INT64 [N, S], output embedding FP32 [N, width]. Needs numpy and onnx."""
import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, array):
        return self.constant(np.asarray(array, np.float32))

    def numbers(self, *values):
        return self.constant(np.array(values, np.int64))

    def drawn(self, *shape, spread=0.05):
        return self.floats(self.random.standard_normal(shape) * spread)

    def node(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def linear(self, x, inputs, outputs):
        product = self.node("MatMul", x, self.drawn(inputs, outputs))
        return self.node("Add", product, self.drawn(outputs))

    def normalise(self, x, width):
        scale = self.floats(1 + 0.1 * self.random.standard_normal(width))
        return self.node("LayerNormalization", x, scale, self.drawn(width), axis=-1, epsilon=1e-12)

    def heads_of(self, x, heads, size, order):
        split = self.node("Reshape", x, self.numbers(0, 0, heads, size))
        return self.node("Transpose", split, perm=order)

    def attention(self, x, bias, width, heads):
        size = width // heads
        query, key, value = (self.linear(x, width, width) for _ in range(3))
        query = self.heads_of(query, heads, size, [0, 2, 1, 3])
        key = self.heads_of(key, heads, size, [0, 2, 3, 1])
        value = self.heads_of(value, heads, size, [0, 2, 1, 3])
        scores = self.node("Mul", self.node("MatMul", query, key), self.floats(size ** -0.5))
        weights = self.node("Softmax", self.node("Add", scores, bias), axis=-1)
        joined = self.node("Transpose", self.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        return self.linear(self.node("Reshape", joined, self.numbers(0, 0, width)), width, width)

    def gelu(self, x):
        curve = self.node("Erf", self.node("Mul", x, self.floats(2 ** -0.5)))
        return self.node("Mul", self.node("Mul", x, self.floats(0.5)),
                         self.node("Add", curve, self.floats(1)))

    def embed(self, words, positions, width):
        length = self.node("Slice", self.node("Shape", "input_ids"), self.numbers(1),
                           self.numbers(2))
        place = self.node("Slice", self.drawn(positions, width), self.numbers(0), length,
                          self.numbers(0))
        word = self.node("Gather", self.drawn(words, width), "input_ids")
        return self.normalise(self.node("Add", word, place), width)

    def pool(self, x, mask):
        mask = self.node("Unsqueeze", mask, self.numbers(2))
        total = self.node("ReduceSum", self.node("Mul", x, mask), self.numbers(1), keepdims=0)
        mean = self.node("Div", total, self.node("ReduceSum", mask, self.numbers(1), keepdims=0))
        length = self.node("ReduceL2", mean, axes=[1], keepdims=1)
        return self.node("Div", mean, length)


def bert(layers, width, heads, words, positions, seed):
    b = Builder(seed)
    x = b.embed(words, positions, width)
    mask = b.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    away = b.node("Sub", b.floats(1), b.node("Unsqueeze", mask, b.numbers(1, 2)))
    bias = b.node("Mul", away, b.floats(-1e9))
    for _ in range(layers):
        x = b.normalise(b.node("Add", b.attention(x, bias, width, heads), x), width)
        inner = b.gelu(b.linear(x, width, 4 * width))
        x = b.normalise(b.node("Add", b.linear(inner, 4 * width, width), x), width)
    answer = b.pool(x, mask)
    b.nodes.append(helper.make_node("Identity", [answer], ["embedding"]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["N", "S"])
              for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["N", width])
    graph = helper.make_graph(b.nodes, "bert", inputs, [output], b.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--words", type=int, default=30522)
    parser.add_argument("--positions", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    onnx.save(bert(options.layers, options.width, options.heads, options.words, options.positions,
                   options.seed), options.out)


if __name__ == "__main__":
    main()
