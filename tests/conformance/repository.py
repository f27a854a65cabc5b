"""The models that both servers serve: identity models, OUTPUTn = INPUTn, no code in the repository."""

TYPES = {  # datatype of the protocol: data_type of config.pbtxt
    "BOOL": "TYPE_BOOL", "UINT8": "TYPE_UINT8", "UINT16": "TYPE_UINT16", "UINT32": "TYPE_UINT32",
    "UINT64": "TYPE_UINT64", "INT8": "TYPE_INT8", "INT16": "TYPE_INT16", "INT32": "TYPE_INT32",
    "INT64": "TYPE_INT64", "FP16": "TYPE_FP16", "BF16": "TYPE_BF16", "FP32": "TYPE_FP32",
    "FP64": "TYPE_FP64", "BYTES": "TYPE_STRING"}


def tensors(kind, specs, more=""):
    """specs: (data_type, dims), one a tensor."""
    prefix = kind.upper()
    entries = [f'  {{ name: "{prefix}{i}" data_type: {data_type} dims: [ {dims} ] {more} }}'
               for i, (data_type, dims) in enumerate(specs)]
    return f"{kind} [\n" + ",\n".join(entries) + "\n]\n"


def write_model(folder, name, specs, batch=0, versions=(1,), extra="", input_more="", output_more="",
                parameters=None):
    model = folder / name
    for version in versions:
        (model / str(version)).mkdir(parents=True)
    text = f'name: "{name}"\nbackend: "identity"\nmax_batch_size: {batch}\n'
    text += tensors("input", specs, input_more) + tensors("output", specs, output_more) + extra
    for key, value in (parameters or {}).items():
        text += f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
    (model / "config.pbtxt").write_text(text)
    return model


def write_repository(folder):
    fp32 = [("TYPE_FP32", "4")]
    for datatype, data_type in TYPES.items():
        write_model(folder, f"t_{datatype.lower()}", [(data_type, "-1")])
    write_model(folder, "row", fp32, batch=4)
    write_model(folder, "text", [("TYPE_STRING", "2")], batch=4)
    write_model(folder, "two", [("TYPE_FP32", "2"), ("TYPE_INT32", "2")], batch=4)
    write_model(folder, "matrix", [("TYPE_INT32", "2, -1")])
    write_model(folder, "optional", [("TYPE_FP32", "2"), ("TYPE_FP32", "2")], batch=4,
                input_more="optional: true")
    write_model(folder, "versions", fp32, versions=(1, 2, 3),
                extra="version_policy { specific { versions: [ 1, 3 ] } }\n")
    write_model(folder, "latest", fp32, versions=(1, 2, 7))
    labels = write_model(folder, "labels", fp32, batch=4, output_more='label_filename: "labels.txt"')
    (labels / "labels.txt").write_text("zero\none\ntwo\nthree\n")
    write_model(folder, "dynamic", fp32, batch=8, extra=(
        "dynamic_batching { preferred_batch_size: [ 4 ] priority_levels: 2 "
        "default_priority_level: 1 }\n"))
    write_model(folder, "echo", fp32, parameters={"echo_parameters": "true"})
    write_model(folder, "counted", fp32, batch=4)
    write_model(folder, "decoupled", fp32,
                extra="model_transaction_policy { decoupled: true }\n")
    one_instance = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
    for name, timeout in (("slow", ""), ("patient", "default_timeout_microseconds: 9000000")):
        write_model(folder, name, fp32, batch=1, parameters={"execute_delay_ms": "300"}, extra=(
            f"{one_instance}dynamic_batching {{ default_queue_policy {{ "
            f"allow_timeout_override: true {timeout} }} }}\n"))
    broken = write_model(folder, "broken", fp32)
    (broken / "config.pbtxt").write_text('backend: "no_such_backend"\nmax_batch_size: 0\n'
                                         + tensors("input", fp32) + tensors("output", fp32))
