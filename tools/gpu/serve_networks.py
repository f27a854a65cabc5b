#!/usr/bin/env python3
"""serve_networks.py FOLDER [NAME...]: on a GPU machine, serves real structures and trained networks (packed by
tools/gpu/pack_engine.py, or made here) twice by one `proa serve`: by the CUDA engine in FP32 and in FP16, and by
OpenVINO in FP32 on the CPU, and compares the answers to the same inputs. Prints a line for each network and what
does not run on the GPU; exits with 1 on an answer that is too far away."""
import dataclasses
import http.client
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from proa_client import distance, infer
from proa_server import ProaServer, ServerError

LIGHT = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
         "squeezenet", "vgg19", "zfnet512")
LIMITS = {"f32": 1e-4, "f16": 1e-2}  # relative; for probabilities near 0, absolute
ONLY_FIRST = 'parameters { key: "gpu_tuning" value { string_value: "first" } }\n'


def pictures(random, *shape, low=-1.0, high=1.0):
    """Noise over soft shades, so that rows differ after every pooling."""
    noise = random.uniform(low, high, shape)
    shade = random.uniform(low, high, (shape[0],) + (1,) * (len(shape) - 1))
    return ((noise + shade) / 2).astype(np.float32)


def planes(random):
    return [{"": pictures(random, batch, 3, 224, 224)} for batch in (1, 3)]


def pixels_last(random):
    return [{"": pictures(random, batch, 224, 224, 3)} for batch in (1, 3)]


def around_mean(random):
    return [{"": pictures(random, batch, 224, 224, 3, low=-120, high=130)} for batch in (1, 2)]


def pages(random):
    """Pictures of several sizes, as text detection gets them."""
    return [{"": pictures(random, 1, 3, *size)} for size in ((320, 640), (256, 256), (320, 640))]


def lines(random):
    return [{"": pictures(random, batch, 3, 48, 192)} for batch in (1, 4)]


def sentences(random):
    asked = []
    for batch, length in ((1, 16), (3, 40), (2, 16)):
        mask = np.ones((batch, length), np.int64)
        mask[-1, length // 2:] = 0
        asked.append({"input_ids": random.integers(0, 30522, (batch, length)),
                      "attention_mask": mask})
    return asked


@dataclasses.dataclass
class Network:
    inputs: callable  # a generator -> requests, each arrays by name
    make: list = None  # the script that makes it, with its arguments
    file: str = None  # or where it is packed
    probabilities: bool = False  # its answers lie between 0 and 1, and most of them are next to nothing
    stored_in_half: bool = False  # OpenVINO's answers are 1.2e-3 from those of the same numbers in an FP32 file


NETWORKS = {f"light_{name}": Network(planes, ["light.py", name]) for name in LIGHT} | {
    "resnet50": Network(planes, ["resnet.py"]),
    "resnet50_half": Network(planes, ["resnet.py", "--half"], stored_in_half=True),
    "resnet50_saved_model": Network(pixels_last, ["saved_model_resnet.py"]),
    "mobilenet_v2": Network(planes, ["mobilenet.py"]),
    "efficientnet_lite0": Network(planes, file="efficientnet_lite0.onnx"),
    "open_nsfw": Network(around_mean, file="open_nsfw.onnx"),
    "minilm": Network(sentences, ["bert.py"]),
    "ppocr_det": Network(pages, file="ppocr_det.onnx", probabilities=True),
    "ppocr_cls": Network(lines, file="ppocr_cls.onnx"),
}


def model_file(folder, name, network):
    """The network's file or folder, made when it is not packed."""
    if network.file:
        return folder / network.file
    saved_model = network.make[0].startswith("saved_model")
    path = folder / (name if saved_model else f"{name}.onnx")
    if not path.exists():
        script, *arguments = network.make
        subprocess.run([sys.executable, folder / script, path, *arguments], check=True)
    return path


def link(source, target):
    """The same file or folder under another name; a repository refuses symbolic links out of it."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=os.link)
    else:
        os.link(source, target)


def write_models(repository, name, source):
    """NAME_f32 and NAME_f16 on the GPU, NAME_cpu beside them."""
    for suffix in ("f32", "f16", "cpu"):
        model = repository / f"{name}_{suffix}"
        (model / "1").mkdir(parents=True)
        target = "model.savedmodel" if source.is_dir() else "model.onnx"
        link(source, model / "1" / target)
        text = f'backend: "{"openvino" if suffix == "cpu" else "cuda"}"\nmax_batch_size: 4\n'
        if suffix != "cpu":
            text += ONLY_FIRST + ('parameters { key: "inference_precision" value { string_value: '
                                  f'"{suffix}" }} }}\n')
        (model / "config.pbtxt").write_text(text)


def compare(port, name, network):
    """The largest distance for each precision, over all inputs and outputs."""
    worst = dict.fromkeys(LIMITS, 0.0)
    for inputs in network.inputs(np.random.default_rng(7)):
        wanted = infer(port, f"{name}_cpu", inputs)
        for precision in worst:
            got = infer(port, f"{name}_{precision}", inputs)
            far = max(distance(got[output], wanted[output], network.probabilities) for output in wanted)
            worst[precision] = max(worst[precision], far)
    return worst


def check(folder, name, network):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        write_models(pathlib.Path(scratch), name, model_file(folder, name, network))
        server = ProaServer(scratch, "--gpu-tuning-cache", folder / "tuning.txt",
                            command=(str(folder / "proa"),), start_limit_s=300)
        with server:
            try:
                worst = compare(server.ports["HTTP"], name, network)
            except (RuntimeError, OSError, http.client.HTTPException) as problem:
                raise server.error(f"{type(problem).__name__}: {problem}") from None
            log = server.log()
    split = [line for line in log.splitlines() if "operators on the GPU" in line]
    limits = LIMITS | ({"f32": 2e-3} if network.stored_in_half else {})
    passed = all(worst[precision] < limit for precision, limit in limits.items())
    print(f"NETWORK {name}: f32 {worst['f32']:.2g}, f16 {worst['f16']:.2g}"
          f"{'' if passed else ' TOO FAR'}; {split[0].split(': ', 1)[-1] if split else 'all on the GPU'}",
          flush=True)
    for line in log.splitlines():
        if "FP16 does not hold" in line or "on the CPU:" in line:
            print("   ", line[:300], flush=True)
    return passed


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    failed = []
    for name in sys.argv[2:] or NETWORKS:
        if NETWORKS[name].file and not (folder / NETWORKS[name].file).exists():
            print(f"NETWORK {name}: not packed", flush=True)
            continue
        try:
            good = check(folder, name, NETWORKS[name])
        except ServerError as problem:
            print(f"NETWORK {name}: {str(problem)[:1000]} ... {str(problem)[-1500:]}", flush=True)
            good = False
        if not good:
            failed.append(name)
    print(f"networks: {len(sys.argv[2:] or NETWORKS) - len(failed)} right, {len(failed)} not {failed}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
