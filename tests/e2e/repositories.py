"""Model repositories for tests."""

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
