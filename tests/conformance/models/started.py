"""What initialize() was told, as JSON; paths left out."""
import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        told = {key: value for key, value in args.items()
                if key not in ("model_config", "model_repository")}
        config = json.loads(args["model_config"])
        self.told = json.dumps({"args": told, "fields": {
            key: config[key] for key in ("name", "backend", "max_batch_size", "input", "output",
                                         "parameters", "default_model_filename")},
            "decoupled": pb_utils.using_decoupled_model_transaction_policy(config)},
            sort_keys=True)

    def execute(self, requests):
        text = np.array([self.told.encode()], np.object_)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("TOLD", text)]) for _ in requests]
