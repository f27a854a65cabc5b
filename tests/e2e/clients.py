"""tritonclient over both protocols, behind one small interface."""
import contextlib

import tritonclient.grpc
import tritonclient.http

PROTOCOLS = ("http", "grpc")
APIS = {"http": tritonclient.http, "grpc": tritonclient.grpc}


@contextlib.contextmanager
def connect(server, protocol, **options):
    """(the tritonclient module, a connected client) of that protocol."""
    api = APIS[protocol]
    with api.InferenceServerClient(getattr(server, protocol), **options) as client:
        yield api, client


def infer(api, client, model, values, data_type="FP32", **options):
    """Sends values as INPUT0; OUTPUT0 as an array."""
    tensor = api.InferInput("INPUT0", list(values.shape), data_type)
    tensor.set_data_from_numpy(values)
    return client.infer(model, [tensor], **options).as_numpy("OUTPUT0")
