"""ONNX files of a few bytes, for tests that need a real engine and no real model."""
import onnx
from onnx import TensorProto, helper


def write_scaler(folder, factor):
    """A model without config.pbtxt whose OUTPUT0 is its INPUT0 [N, 4] times `factor`."""
    tensors = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 4])
               for name in ("INPUT0", "OUTPUT0")]
    node = helper.make_node("Mul", ["INPUT0", "factor"], ["OUTPUT0"])
    weight = helper.make_tensor("factor", TensorProto.FLOAT, [], [factor])
    graph = helper.make_graph([node], "scaler", tensors[:1], tensors[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    version = folder / "1"
    version.mkdir(parents=True)
    onnx.save(model, version / "model.onnx")
