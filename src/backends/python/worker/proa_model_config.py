"""The configuration as auto_complete_config() changes it."""
import copy


class ModelConfig:
    """A model's configuration. What it states already cannot be contradicted."""

    def __init__(self, config):
        self._config = config

    def as_dict(self):
        return copy.deepcopy(self._config)

    def set_max_batch_size(self, max_batch_size):
        """Lets the model batch up to that size, if it does not say itself."""
        if self._config.get("max_batch_size", 0) > max_batch_size:
            raise ValueError("configuration specified max_batch_size "
                             f"{self._config['max_batch_size']}, but model.py sets "
                             f"{max_batch_size}")
        self._config["max_batch_size"] = max_batch_size

    def set_dynamic_batching(self):
        """Turns dynamic batching on, unless the configuration chooses how to schedule."""
        for name in ("sequence_batching", "ensemble_scheduling"):
            if name in self._config:
                raise ValueError(f"configuration specified {name}, but model.py sets "
                                 "dynamic_batching")
        self._config.setdefault("dynamic_batching", {})

    def set_model_transaction_policy(self, transaction_policy):
        if set(transaction_policy) != {"decoupled"}:
            raise ValueError("model transaction policy must be {'decoupled': True} or False, not "
                             f"{transaction_policy}")
        self._config["model_transaction_policy"] = dict(transaction_policy)

    def add_input(self, properties):
        self._add("input", properties, {"name", "data_type", "dims", "optional",
                                        "allow_ragged_batch", "format", "reshape"})

    def add_output(self, properties):
        self._add("output", properties, {"name", "data_type", "dims", "label_filename", "reshape"})

    def _add(self, field, properties, known):
        unknown = set(properties) - known
        if unknown:
            raise ValueError(f"{field} {properties.get('name', '?')} has unknown properties "
                             f"{', '.join(sorted(unknown))}; known are {', '.join(sorted(known))}")
        for needed in ("name", "data_type", "dims"):
            if needed not in properties:
                raise ValueError(f"{field} {properties} must have the property '{needed}'")
        tensors = self._config.setdefault(field, [])
        for tensor in tensors:
            if tensor["name"] != properties["name"]:
                continue
            for name in ("data_type", "dims"):
                given = tensor.get(name)
                if given and given != "TYPE_INVALID" and given != properties[name]:
                    raise ValueError(f"unable to load model, {field} '{properties['name']}' has "
                                     f"{name} {given} in the configuration, but model.py sets "
                                     f"{properties[name]}")
            tensor.update(properties)
            return
        tensors.append(dict(properties))
