"""Model `ocr`: a picture file in, its lines of text out, by asking four other models of the server.

`decode` makes pixels of the file, `text_detection` says where lines are, `text_angle` which of them
stand on their heads, `text_recognition` what they say. What happens between those is in text_lines.py.
"""
import asyncio
import pathlib

import numpy as np
import text_lines
import triton_python_backend_utils as pb_utils

# Model, its input, its output.
DECODE = ("decode", "file", "pixels")
DETECTION = ("text_detection", "x", "sigmoid_0.tmp_0")
ANGLE = ("text_angle", "x", "save_infer_model/scale_0.tmp_1")
RECOGNITION = ("text_recognition", "x", "softmax_11.tmp_0")

ANGLE_COLUMNS = 192
SURELY_TURNED = 0.9
LEAST_SCORE = 0.5     # lines read with less are not told
MOST_BATCHES = 4      # of lines, that are under way at once: bounds the memory


class Refused(Exception):
    """Why a request gets no lines: a TritonError."""

    def __init__(self, error):
        super().__init__(error.message())
        self.error = error


async def ask(step, array):
    """The output of another model for that input. Errors: Refused."""
    model, takes, gives = step
    response = await pb_utils.InferenceRequest(
        model_name=model, requested_output_names=[gives],
        inputs=[pb_utils.Tensor(takes, array)]).async_exec()
    if response.has_error():
        raise Refused(response.error())
    return pb_utils.get_output_tensor_by_name(response, gives).as_numpy()


class TritonPythonModel:
    def initialize(self, _):
        dictionary = pathlib.Path(__file__).with_name("characters.txt").read_text(encoding="utf-8")
        self.characters = ["", *dictionary.split("\n"), " "]    # the first one is CTC's blank
        self.turns = asyncio.Semaphore(MOST_BATCHES)

    async def execute(self, requests):
        return await asyncio.gather(*(self.answer(request) for request in requests))

    async def answer(self, request):
        file = pb_utils.get_input_tensor_by_name(request, "picture").as_numpy()
        try:
            picture = await ask(DECODE, file)
            height, width = picture.shape[:2]
            if max(height, width) > text_lines.LONGEST_SIDE:
                raise Refused(pb_utils.TritonError(
                    f"the picture has {width} x {height} pixels: at most {text_lines.LONGEST_SIDE} a side",
                    pb_utils.TritonError.INVALID_ARG))
            heat = await ask(DETECTION, text_lines.detection_input(picture))
            boxes = text_lines.find_boxes(heat[0, 0], height, width)
            lines = await self.upright([text_lines.cut(picture, box) for box in boxes])
            told = [(text, score, box) for (text, score), box in zip(await self.read(lines), boxes)
                    if score >= LEAST_SCORE]
        except Refused as refused:
            return pb_utils.InferenceResponse(error=refused.error)
        texts = np.array([text.encode() for text, _, _ in told], dtype=object)
        scores = np.array([score for _, score, _ in told], np.float32)
        boxes = np.array([box for _, _, box in told], np.float32).reshape(-1, 4, 2)
        return pb_utils.InferenceResponse([
            pb_utils.Tensor("texts", texts), pb_utils.Tensor("scores", scores),
            pb_utils.Tensor("boxes", boxes.clip(0, np.float32([width, height])))])

    async def ask_lines(self, step, lines, columns):
        async with self.turns:
            return await ask(step, text_lines.stack(lines, columns))

    async def upright(self, lines):
        """The same lines, turned round where letters stand on their heads."""
        size = text_lines.BATCH
        answers = await asyncio.gather(*(
            self.ask_lines(ANGLE, lines[start:start + size], ANGLE_COLUMNS)
            for start in range(0, len(lines), size)))
        over = [row[1] > SURELY_TURNED for answer in answers for row in answer]
        return [text_lines.turn_round(line) if turn else line for line, turn in zip(lines, over)]

    async def read(self, lines):
        """[(text, score)] of the lines; they are asked for with others of similar width."""
        told = [None] * len(lines)

        async def read_batch(places, columns):
            rows = await self.ask_lines(RECOGNITION, [lines[place] for place in places], columns)
            for place, row in zip(places, rows):
                told[place] = text_lines.read(row, self.characters)

        await asyncio.gather(*(read_batch(*batch) for batch in text_lines.batches(lines)))
        return told
