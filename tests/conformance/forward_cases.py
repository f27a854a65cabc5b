"""Headers and metadata that become parameters of a request; the model `echo` shows its parameters."""
from exchange import GrpcCase
from grpc_cases import request
from http_cases import infer, row

PATTERN = "fwd-|^priority$"
FLAGS = (f"--http-header-forward-pattern={PATTERN}", f"--grpc-header-forward-pattern={PATTERN}")


def over_http():
    def echo(title, headers, **parameters):
        return infer(title, {**row(shape=[4]), "parameters": parameters}, "echo", headers=headers)
    return [
        echo("prefix", {"Fwd-One": "a", "Other": "b"}),
        echo("inside", {"X-Fwd-One": "a"}),
        echo("lower-case", {"x-fwd-one": "a", "x-FWD-two": "B"}),
        echo("with-parameters", {"X-Fwd-One": "a"}, mine=7),
        echo("empty-value", {"X-Fwd-One": ""}),
        echo("same-name-as-parameter", {"x-fwd-one": "from the header"}, **{"x-fwd-one": "body"}),
        echo("reserved-name", {"priority": "1"}),
    ]


def over_grpc():
    def echo(title, *metadata, **parameters):
        return GrpcCase(title, "ModelInfer", [request("echo", shape=[4], **parameters)], metadata)
    return [
        echo("prefix", ("fwd-one", "a"), ("other", "b")),
        echo("inside", ("x-fwd-one", "a"), ("x-fwd-two", "b")),
        echo("with-parameters", ("x-fwd-one", "a"), mine=7),
        echo("repeated", ("x-fwd-one", "a"), ("x-fwd-one", "b")),
        echo("reserved-name", ("priority", "1")),
        GrpcCase("stream", "ModelStreamInfer", [request("echo", shape=[4])] * 2,
                 (("x-fwd-one", "a"),)),
    ]
