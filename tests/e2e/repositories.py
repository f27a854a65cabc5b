"""Model repositories for tests."""
import onnx

PARAMETER = 'parameters { key: "%s" value: { string_value: "%s" } }\n'


def write_identity(repository, name="identity", data_type="FP32", dims=(16,), max_batch_size=8,
                   extra="", **parameters):
    """A model whose OUTPUT0 is its INPUT0. extra: further text of its config.pbtxt; parameters: of
    the identity backend (execute_delay_ms, blocking, zero_copy, fail, fail_every). Its folder."""
    folder = repository / name
    (folder / "1").mkdir(parents=True)
    tensor = f"data_type: TYPE_{data_type} dims: [ {', '.join(map(str, dims))} ]"
    text = (f'name: "{name}"\nbackend: "identity"\nmax_batch_size: {max_batch_size}\n'
            f'input [ {{ name: "INPUT0" {tensor} }} ]\noutput [ {{ name: "OUTPUT0" {tensor} }} ]\n')
    text += "".join(PARAMETER % (key, str(value).lower() if isinstance(value, bool) else value)
                    for key, value in parameters.items())
    (folder / "config.pbtxt").write_text(text + extra)
    return folder


def write_ensemble(repository, name, steps, data_type="FP32", dims=(16,), max_batch_size=8, extra=""):
    """An ensemble of models with INPUT0 and OUTPUT0, one behind the other. Its folder."""
    folder = repository / name
    (folder / "1").mkdir(parents=True)
    tensor = f"data_type: TYPE_{data_type} dims: [ {', '.join(map(str, dims))} ]"
    tensors = ["INPUT0", *(f"between{i}" for i in range(1, len(steps))), "OUTPUT0"]
    listed = ",\n".join(
        f'  {{ model_name: "{step}" model_version: -1 '
        f'input_map {{ key: "INPUT0" value: "{tensors[i]}" }} '
        f'output_map {{ key: "OUTPUT0" value: "{tensors[i + 1]}" }} }}' for i, step in enumerate(steps))
    (folder / "config.pbtxt").write_text(
        f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: {max_batch_size}\n'
        f'input [ {{ name: "INPUT0" {tensor} }} ]\noutput [ {{ name: "OUTPUT0" {tensor} }} ]\n'
        f"ensemble_scheduling {{ step [\n{listed}\n] }}\n{extra}")
    return folder


def onnx_add(constant, size=4, note=""):
    """Bytes of an ONNX model whose OUTPUT0 is INPUT0 plus the constant: FP32 [N, size]. note: makes
    the file longer."""
    x = onnx.helper.make_tensor_value_info("INPUT0", onnx.TensorProto.FLOAT, ["N", size])
    y = onnx.helper.make_tensor_value_info("OUTPUT0", onnx.TensorProto.FLOAT, ["N", size])
    c = onnx.helper.make_tensor("c", onnx.TensorProto.FLOAT, [1], [float(constant)])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["INPUT0", "c"], ["OUTPUT0"])],
                                   "add", [x], [y], [c], doc_string=note)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)],
                                   ir_version=8)
    return model.SerializeToString()


def write_add(repository, name, constant, version=1, config=None):
    """A version that adds the constant, put into its place whole. The model's folder."""
    folder = repository / name
    (folder / str(version)).mkdir(parents=True, exist_ok=True)
    replace(folder / str(version) / "model.onnx", onnx_add(constant))
    if config is not None:
        replace(folder / "config.pbtxt", config.encode())
    return folder


def replace(path, content):
    """Writes a file beside and renames it, so that nobody sees half of it."""
    beside = path.with_name("." + path.name)
    beside.write_bytes(content)
    beside.rename(path)
