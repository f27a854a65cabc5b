"""One life of a repository in explicit mode, step by step: loads, unloads and what follows from them."""
import base64
import json

from tritonclient.grpc import service_pb2

from exchange import GrpcCase, HttpCase
from grpc_cases import request
from http_cases import infer, post, row

FLAGS = ("--model-control-mode=explicit",)
SMALLER = {"backend": "identity", "max_batch_size": 2,
           "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
           "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}]}


def get(name, path):
    return HttpCase(name, "GET", path)


def load(name, model, **parameters):
    return post(name, f"/v2/repository/models/{model}/load",
                {"parameters": parameters} if parameters else "")


def unload(name, model, body=""):
    return post(name, f"/v2/repository/models/{model}/unload", body)


def over_http():
    batch_of_3 = row(shape=[3, 4], data=[0] * 12)
    file = base64.b64encode(b"anything").decode()
    return [
        post("index-before", "/v2/repository/index", ""),
        post("index-ready-before", "/v2/repository/index", '{"ready":true}'),
        get("ready-before", "/v2/models/row/ready"),
        get("server-ready-before", "/v2/health/ready"),
        infer("infer-before", row()),
        load("load", "row"),
        infer("infer-loaded", batch_of_3),
        get("ready-loaded", "/v2/models/row/ready"),
        post("index-ready-loaded", "/v2/repository/index", '{"ready":true}'),
        load("load-again", "row"),
        load("load-unknown", "nobody"),
        load("load-broken", "broken"),
        post("load-malformed", "/v2/repository/models/row/load", "{"),
        load("load-config", "row", config=json.dumps(SMALLER)),
        get("config-of-override", "/v2/models/row/config"),
        infer("infer-override", batch_of_3),
        load("load-config-malformed", "row", config='{"max_batch_size":'),
        load("load-config-unknown-field", "row", config=json.dumps({**SMALLER, "more": 1})),
        load("load-config-wrong-type", "row", config=json.dumps({**SMALLER, "max_batch_size": "x"})),
        load("load-config-not-text", "row", config=SMALLER),
        load("load-parameter-unknown", "row", more="x"),
        get("ready-after-failures", "/v2/models/row/ready"),
        load("load-file-without-config", "row", **{"file:1/model.txt": file}),
        load("load-file", "text", config=json.dumps(SMALLER), **{"file:1/model.txt": file}),
        get("metadata-of-file", "/v2/models/text"),
        load("load-file-not-base64", "text", config=json.dumps(SMALLER), **{"file:1/a": "%%%"}),
        load("load-file-outside", "text", config=json.dumps(SMALLER), **{"file:../../a": file}),
        unload("unload", "row"),
        get("ready-unloaded", "/v2/models/row/ready"),
        get("metadata-unloaded", "/v2/models/row"),
        infer("infer-unloaded", row()),
        post("index-ready-unloaded", "/v2/repository/index", '{"ready":true}'),
        unload("unload-again", "row"),
        unload("unload-unknown", "nobody"),
        unload("unload-dependents", "text", '{"parameters":{"unload_dependents":true}}'),
        unload("unload-dependents-text", "row", '{"parameters":{"unload_dependents":"yes"}}'),
        unload("unload-malformed", "row", "{"),
        load("load-from-disk-again", "row"),
        infer("infer-from-disk-again", batch_of_3),
    ]


def over_grpc():
    def call(title, method, /, **fields):
        return GrpcCase(title, method, [getattr(service_pb2, method + "Request")(**fields)])

    def loaded(title, model, **parameters):
        case = call(title, "RepositoryModelLoad", model_name=model)
        for key, (kind, value) in parameters.items():
            setattr(case.messages[0].parameters[key], kind, value)
        return case
    config = ("string_param", json.dumps(SMALLER))
    return [
        loaded("load", "matrix"),
        GrpcCase("infer", "ModelInfer", [request("matrix", "INT32", [2, 2])]),
        loaded("load-unknown", "nobody"),
        loaded("load-broken", "broken"),
        loaded("load-config", "matrix", config=config),
        call("metadata-of-override", "ModelMetadata", name="matrix"),
        loaded("load-config-not-text", "matrix", config=("bool_param", True)),
        loaded("load-file", "two", config=config, **{"file:1/a": ("bytes_param", b"anything")}),
        call("ready-of-file", "ModelReady", name="two"),
        loaded("load-file-not-bytes", "two", config=config, **{"file:1/a": ("string_param", "x")}),
        loaded("load-parameter-unknown", "matrix", more=("bool_param", True)),
        call("unload", "RepositoryModelUnload", model_name="matrix"),
        call("ready-unloaded", "ModelReady", name="matrix"),
        call("unload-unknown", "RepositoryModelUnload", model_name="nobody"),
        call("load-without-name", "RepositoryModelLoad"),
    ]
