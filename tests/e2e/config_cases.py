"""Configurations that are given to proa and to a real tritonserver: {name: text of config.pbtxt}. All are for
a folder with a version 1 and nothing in it, but for warmup/raw (64 bytes) and warmup/short (10 bytes)."""

TENSOR = 'name: "{}" data_type: TYPE_FP32 dims: [ {} ]'


def model(text="", dims="16", more=""):
    """An identity model; more: further fields of its input and output."""
    return (f'backend: "identity"\ninput {{ {TENSOR.format("INPUT0", dims)} {more} }}\n'
            f'output {{ {TENSOR.format("OUTPUT0", dims)} {more} }}\n{text}\n')


def tensors(given, taken):
    return f'backend: "identity"\nmax_batch_size: 2\ninput {{ {given} }}\noutput {{ {taken} }}\n'


def batching(text):
    return model(f"max_batch_size: 8 dynamic_batching {{ {text} }}")


def warm_up(value, key="INPUT0", more="batch_size: 1", batch=""):
    entry = f'inputs {{ key: "{key}" value {{ {value} }} }}' if value else ""
    return model(f'{batch} model_warmup {{ name: "w" {more} {entry} }}')


def sequences(text):
    return model(f"max_batch_size: 2 sequence_batching {{ {text} }}")


def control(text):
    return sequences(f'control_input {{ name: "C" control {{ {text} }} }}')


def batch_input(text):
    return model(f'max_batch_size: 2 batch_input {{ kind: BATCH_ELEMENT_COUNT target_name: "N" {text} }}')


def step(name="plain", given=("in",), taken=("out",), version=-1):
    maps = " ".join(f'input_map {{ key: "INPUT{i}" value: "{tensor}" }}' for i, tensor in enumerate(given))
    maps += " ".join(f' output_map {{ key: "OUTPUT{i}" value: "{tensor}" }}' for i, tensor in enumerate(taken))
    return f'step {{ model_name: "{name}" model_version: {version} {maps} }}'


def ensemble(*steps, text="", platform='platform: "ensemble"'):
    return (f'{platform}\ninput {{ {TENSOR.format("in", 16)} }}\noutput {{ {TENSOR.format("out", 16)} }}\n'
            f'ensemble_scheduling {{ {" ".join(steps)} }}\n{text}\n')


FP32 = "data_type: TYPE_FP32 dims: 16"

CASES = {
    "plain": model(),
    "batch_zero": model("max_batch_size: 0"),
    "batch_negative": model("max_batch_size: -1"),
    "other_name": model('name: "other"'),
    "unknown_field": model("foo: 1"),
    "not_utf8": model('parameters { key: "k" value { string_value: "a\\377" } }'),
    "unknown_number": model("optimization { priority: 77 }"),
    "json": '{"backend":"identity","input":[{"name":"INPUT0","data_type":"TYPE_FP32","dims":[1]}],'
            '"output":[{"name":"OUTPUT0","data_type":"TYPE_FP32","dims":[1]}]}',
    "annotated": model('metric_tags { key: "a" value: "b" } parameters { key: "k" value { string_value: "v" } }'),
    "optimized": model("optimization { graph { level: 1 } execution_accelerators {"
                       ' gpu_execution_accelerator { name: "tensorrt" } } }'),
    # Tensors.
    "dims_missing": tensors('name: "INPUT0" data_type: TYPE_FP32', TENSOR.format("OUTPUT0", 1)),
    "dims_zero": model(dims="0"),
    "type_missing": tensors('name: "INPUT0" dims: 1', TENSOR.format("OUTPUT0", 1)),
    "type_unknown": tensors('name: "INPUT0" data_type: 99 dims: 1', TENSOR.format("OUTPUT0", 1)),
    "input_twice": model(f'input {{ {TENSOR.format("INPUT0", 16)} }} output {{ {TENSOR.format("OUTPUT1", 16)} }}'),
    "format_of_two_dims": tensors(TENSOR.format("INPUT0", "1, 2") + " format: FORMAT_NCHW",
                                  TENSOR.format("OUTPUT0", "1, 2")),
    "reshape": model("max_batch_size: 2", "-1, 2", "reshape { shape: [ -1, 1, 2 ] }"),
    "reshape_scalar": model("max_batch_size: 2", "1", "reshape { shape: [ ] }"),
    "reshape_moved": model("max_batch_size: 2", "-1, 2", "reshape { shape: [ 2, -1 ] }"),
    "reshape_other_size": model("max_batch_size: 2", "4", "reshape { shape: [ 3 ] }"),
    "labels_missing": tensors(TENSOR.format("INPUT0", 1),
                              TENSOR.format("OUTPUT0", 1) + ' label_filename: "l.txt"'),
    "ragged": tensors(TENSOR.format("INPUT0", 1) + " allow_ragged_batch: true", TENSOR.format("OUTPUT0", 1)),
    # Dynamic batching.
    "preferred": batching("preferred_batch_size: [ 2, 4 ]"),
    "preferred_too_large": batching("preferred_batch_size: [ 16 ]"),
    "preferred_zero": batching("preferred_batch_size: [ 0 ]"),
    "batching_without_size": model("dynamic_batching { }"),
    "priority_without_default": batching("priority_levels: 2"),
    "priorities": batching("priority_levels: 2 default_priority_level: 1"
                           " priority_queue_policy { key: 2 value { timeout_action: DELAY } }"),
    "priority_beyond_levels": batching("priority_levels: 2 default_priority_level: 1"
                                       " priority_queue_policy { key: 3 value { } }"),
    "priority_without_levels": batching("priority_queue_policy { key: 3 value { } }"),
    "order_and_priorities": batching("preserve_ordering: true priority_levels: 2 default_priority_level: 1"),
    "order_and_one_level": batching("preserve_ordering: true priority_levels: 1 default_priority_level: 1"),
    "order_and_delay": batching("preserve_ordering: true default_queue_policy {"
                                " timeout_action: DELAY default_timeout_microseconds: 5 }"),
    "order_and_delay_without_timeout": batching("preserve_ordering: true default_queue_policy {"
                                                " timeout_action: DELAY }"),
    # Response cache.
    "cache": model("response_cache { enable: true }"),
    "cache_decoupled": model("response_cache { enable: true } model_transaction_policy { decoupled: true }"),
    "cache_sequences": model("response_cache { enable: true } sequence_batching { }"),
    # Paths.
    "runtime_outside": model('runtime: "../x.so"'),
    "strategy_outside": batching("") + 'parameters { key: "TRITON_BATCH_STRATEGY_PATH"'
                                       ' value { string_value: "../x.so" } }',
    "file_outside": model('default_model_filename: "../../x"'),
    "cc_file_outside": model('cc_model_filenames { key: "8.0" value: "/a" }'),
    # Warm-up.
    "warm_up": warm_up(f"{FP32} zero_data: true"),
    "warm_up_random": warm_up(f"{FP32} random_data: true"),
    "warm_up_never_sent": warm_up("", more=""),
    "warm_up_other_input": warm_up(f"{FP32} zero_data: true", key="X"),
    "warm_up_without_input": warm_up(""),
    "warm_up_other_shape": warm_up("data_type: TYPE_FP32 dims: 15 zero_data: true"),
    "warm_up_open_shape": warm_up("data_type: TYPE_FP32 dims: -1 zero_data: true"),
    "warm_up_other_type": warm_up("data_type: TYPE_INT32 dims: 16 zero_data: true"),
    "warm_up_without_data": warm_up(FP32),
    "warm_up_file": warm_up(f'{FP32} input_data_file: "raw"'),
    "warm_up_file_of_a_batch": warm_up(f'{FP32} input_data_file: "raw"', more="batch_size: 4",
                                       batch="max_batch_size: 4"),
    "warm_up_file_missing": warm_up(f'{FP32} input_data_file: "nowhere"'),
    "warm_up_file_outside": warm_up(f'{FP32} input_data_file: "../config.pbtxt"'),
    "warm_up_batch_of_two": warm_up(f"{FP32} zero_data: true", more="batch_size: 2"),
    "warm_up_batch_too_large": warm_up(f"{FP32} zero_data: true", more="batch_size: 8",
                                       batch="max_batch_size: 4"),
    # Versions.
    "latest_zero": model("version_policy { latest { num_versions: 0 } }"),
    "latest_open": model("version_policy { latest { } }"),
    "specific_missing": model("version_policy { specific { versions: 9 } }"),
    "specific_none": model("version_policy { specific { } }"),
    # Instances.
    "instances": model('instance_group [ { count: 2 kind: KIND_CPU }, { name: "b" } ]'),
    "instances_negative": model("instance_group { count: -1 }"),
    "cpu_with_gpus": model("instance_group { kind: KIND_CPU gpus: 0 }"),
    "gpu": model("instance_group { kind: KIND_GPU }"),
    "auto_with_gpus": model("instance_group { kind: KIND_AUTO gpus: 0 }"),
    "kind_model": model("instance_group { kind: KIND_MODEL }"),
    "passive": model("instance_group { passive: true }"),
    "profile": model('instance_group { profile: "1" }'),
    # Backends.
    "platform_without_files": 'platform: "onnxruntime_onnx"\n',
    "two_backends": model('platform: "onnxruntime_onnx"'),
    # Sequences and ragged batches.
    "sequences": control("kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ]"),
    "sequences_half_a_pair": control("kind: CONTROL_SEQUENCE_START int32_false_true: [ 0 ]"),
    "sequences_id_type": control("kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_FP32"),
    "sequences_utilization": sequences("direct { minimum_slot_utilization: 1.5 }"),
    "sequences_preferred": sequences("oldest { max_candidate_sequences: 4 preferred_batch_size: 3 }"),
    "batch_input": batch_input('data_type: TYPE_FP32 source_input: "INPUT0"'),
    "batch_input_type": batch_input('data_type: TYPE_INT8 source_input: "INPUT0"'),
    "batch_input_two_sources": batch_input('data_type: TYPE_FP32 source_input: [ "INPUT0", "INPUT0" ]'),
    "batch_output_unknown": model('max_batch_size: 2 batch_output { target_name: "Z" source_input: "INPUT0" }'),
    # Ensembles.
    "ensemble": ensemble(step()),
    "ensemble_without_steps": ensemble(),
    "ensemble_written_twice": ensemble(step(), step()),
    "ensemble_unused_output": ensemble(step(), step(taken=("idle",))),
    "ensemble_unwritten_input": ensemble(step(given=("nowhere",))),
    "ensemble_unused_input": ensemble(step(), text=f'input {{ {TENSOR.format("in2", 16)} }}'),
    "ensemble_unwritten_output": ensemble(step(), text=f'output {{ {TENSOR.format("out2", 16)} }}'),
    "ensemble_circle": ensemble(step(), step(given=("b",), taken=("a",)), step(given=("a",), taken=("b",))),
    "ensemble_with_instances": ensemble(step(), text="instance_group { count: 1 }"),
    "ensemble_with_optimization": ensemble(step(), text="optimization { }"),
    "ensemble_with_warm_up": ensemble(step(), text='model_warmup { name: "w" batch_size: 1 inputs {'
                                                   f' key: "in" value {{ {FP32} zero_data: true }} }} }}'),
    "ensemble_with_backend": ensemble(step(), text='backend: "identity"'),
    "ensemble_without_platform": ensemble(step(), platform=""),
    "ensemble_of_no_model": ensemble(step(name="")),
    "ensemble_without_output_map": ensemble(step(), step(taken=())),
    "ensemble_without_input_map": ensemble(step(given=())),
}

# What tritonserver takes and proa does not, or the other way round: {why: cases}.
DIFFERENCES = {
    "sequences, ragged batches and passive instances are not built yet":
        ("sequences", "batch_input", "ragged", "passive"),
    "no path of a configuration may leave the model's folder":
        ("file_outside", "cc_file_outside", "warm_up_file_outside"),
    "a tensor that is listed twice, a negative number of instances, unknown numbers of enumerations, text that"
    " is not UTF-8 and a platform that contradicts the backend are mistakes":
        ("input_twice", "instances_negative", "unknown_number", "type_unknown", "not_utf8", "two_backends"),
    "a `config.pbtxt` may hold JSON": ("json",),
    "`latest { }` means the latest version; Triton serves none": ("latest_open",),
    "`KIND_AUTO` with `gpus`, and `profile`, get a warning": ("auto_with_gpus", "profile"),
    "`identity` models of `KIND_GPU` run on the CPU": ("gpu",),
}
