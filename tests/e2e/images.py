"""Image models and pictures for tests, and what Pillow, torchvision's definitions and OpenCV make of them."""
import io

import cv2
import numpy as np
from PIL import Image, ImageOps
from repositories import PARAMETER

# Intel's library, which the wheel for x86 uses for bicubic, computes without fixed point.
cv2.ipp.setUseIPP(False)
PILLOW_FILTERS = {"nearest": Image.Resampling.NEAREST, "bilinear": Image.Resampling.BILINEAR,
                  "bicubic": Image.Resampling.BICUBIC, "area": Image.Resampling.BOX}
OPENCV_FILTERS = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR,
                  "bicubic": cv2.INTER_CUBIC, "area": cv2.INTER_AREA}
IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


def write_image_model(repository, name="prepare", max_batch_size=8, extra="", **parameters):
    """A model of backend image with these parameters; extra: further text of its config.pbtxt."""
    folder = repository / name
    (folder / "1").mkdir(parents=True)
    text = f'name: "{name}"\nbackend: "image"\nmax_batch_size: {max_batch_size}\n'
    text += "".join(PARAMETER % (key, value) for key, value in parameters.items())
    (folder / "config.pbtxt").write_text(text + extra)
    return folder


def encode(image, kind="JPEG", **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def open_picture(data, mode="RGB"):
    return ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert(mode)


def resize_shorter_side(image, side, resample):
    """torchvision.transforms.Resize(side) of a PIL image."""
    shorter = min(image.size)
    return image.resize(tuple(int(side * length / shorter) for length in image.size), resample)


def crop_centre(image, side):
    """torchvision.transforms.CenterCrop(side)."""
    left, top = (int(round((length - side) / 2)) for length in image.size)
    return image.crop((left, top, left + side, top + side))


def to_tensor(image):
    """torchvision.transforms.ToTensor()."""
    return np.asarray(image, np.float32).transpose(2, 0, 1) / np.float32(255)


def letterbox(pixels, side, colour):
    """What YOLO's data loaders do: the scaled picture in the middle of a square."""
    height, width = pixels.shape[:2]
    ratio = min(side / height, side / width)
    new_width, new_height = round(width * ratio), round(height * ratio)
    across, down = (side - new_width) / 2, (side - new_height) / 2
    pixels = cv2.resize(pixels, (new_width, new_height), interpolation=cv2.INTER_LINEAR)
    top, bottom = round(down - 0.1), round(down + 0.1)
    left, right = round(across - 0.1), round(across + 0.1)
    boxed = cv2.copyMakeBorder(pixels, top, bottom, left, right, cv2.BORDER_CONSTANT, value=colour)
    return boxed, (ratio, left, top)


def infer_pictures(api, client, model, pictures, outputs=("image",), input_name="encoded_image"):
    """Sends the files in one request; the outputs as arrays."""
    tensor = api.InferInput(input_name, [len(pictures), 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[picture] for picture in pictures], dtype=object))
    wanted = [api.InferRequestedOutput(name) for name in outputs]
    answer = client.infer(model, [tensor], outputs=wanted)
    return [answer.as_numpy(name) for name in outputs]
