"""Lines of text in a picture: from heat to boxes, from a box to a line, from probabilities to text.

A picture is UINT8 [H, W, 3], blue first; so is a line, cut out and laid level. A box is FP32 [4, 2]: x and y
of its corners in pixels of the picture, clockwise from the one above the first letter.
Source: of the detection's rules, Liao et al., Real-time Scene Text Detection with Differentiable
Binarization (AAAI 2020); of the numbers, the settings that PP-OCRv4 is run with.
"""
import math

import cv2
import numpy as np

LONGEST_SIDE = 16384  # of a picture: OpenCV cuts out of and into less than 32767
SHORT_SIDE = 736      # the detection sees at least so many pixels of the shorter side,
LONG_SIDE = 2000      # but not more of the longer one
STRIDE = 32           # and multiples of these

TEXT_HEAT = 0.3       # from here a pixel belongs to a line
LINE_HEAT = 0.5       # what a line has on average, at least
THINNEST = 3          # pixels of the heat map
UNCLIP = 1.6          # a line is larger than its heat: on all sides by area over outline, times this
MOST_LINES = 1000

ROWS = 48             # of a line, for the other two nets
MOST_COLUMNS = 3200   # longer lines are squeezed
LEAST_COLUMNS = 320   # of a batch, as the recognition was trained
COLUMNS_STEP = 64     # batches come in these widths, so that lines of several requests can share them
BATCH = 8             # lines in a request

BLANK = 0             # what CTC says between letters


def detection_size(height, width):
    """Height and width at which the detection sees a picture."""
    scale = max(1, SHORT_SIDE / min(height, width))
    scale = min(scale, LONG_SIDE / max(height, width))
    return tuple(max(1, round(side * scale / STRIDE)) * STRIDE for side in (height, width))


def to_tensor(pixels):
    """FP32 [3, H, W] from -1 to 1."""
    return (pixels.astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)


def detection_input(picture):
    """FP32 [1, 3, h, w] with the h, w of detection_size()."""
    height, width = detection_size(*picture.shape[:2])
    return to_tensor(cv2.resize(picture, (width, height)))[np.newaxis]


def find_boxes(heat, height, width):
    """The boxes of a picture's lines, in reading order, of FP32 [h, w]: how sure each pixel is text."""
    mask = cv2.dilate((heat > TEXT_HEAT).astype(np.uint8), np.ones((2, 2), np.uint8))
    outlines, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    scale = np.float32([width / heat.shape[1], height / heat.shape[0]])
    boxes = []
    for outline in outlines[:MOST_LINES]:
        centre, length, thickness, angle = level(cv2.minAreaRect(outline))
        if min(length, thickness) < THINNEST:
            continue
        if mean_inside(heat, corners(centre, length, thickness, angle)) < LINE_HEAT:
            continue
        missing = UNCLIP * length * thickness / (length + thickness)    # of both sides together
        boxes.append(corners(centre, length + missing, thickness + missing, angle) * scale)
    return reading_order(boxes)


def level(rectangle):
    """Centre, width, height and angle of OpenCV's rectangle; the angle within 45 degrees of level."""
    centre, (width, height), angle = rectangle
    quarters = round(angle / 90)
    if quarters % 2:
        width, height = height, width
    return centre, width, height, angle - 90 * quarters


def corners(centre, width, height, angle):
    turn = math.radians(angle)
    right = np.array([math.cos(turn), math.sin(turn)]) * width / 2
    down = np.array([-math.sin(turn), math.cos(turn)]) * height / 2
    return np.float32([-right - down, right - down, right + down, down - right]) + np.float32(centre)


def mean_inside(heat, box):
    left, top, width, height = cv2.boundingRect(box)
    left, top, right, bottom = max(left, 0), max(top, 0), left + width, top + height
    window = heat[top:bottom, left:right]
    mask = np.zeros(window.shape, np.uint8)
    cv2.fillConvexPoly(mask, np.int32(np.round(box - (left, top))), 1)
    return cv2.mean(window, mask)[0]


def reading_order(boxes):
    """Rows from above, each from the left: a box is of the row whose top is within half its thickness."""
    rows = []
    for box in sorted(boxes, key=lambda box: box[0, 1]):
        thickness = min(side_lengths(box))
        if rows and box[0, 1] - rows[-1][0][0, 1] < thickness / 2:
            rows[-1].append(box)
        else:
            rows.append([box])
    return [box for row in rows for box in sorted(row, key=lambda box: box[0, 0])]


def side_lengths(box):
    return np.linalg.norm(box[1] - box[0]), np.linalg.norm(box[3] - box[0])


def cut(picture, box):
    """The line in a box. What is much higher than wide is taken as written upwards."""
    width, height = (max(1, round(side)) for side in side_lengths(box))
    matrix = cv2.getAffineTransform(box[[0, 1, 3]], np.float32([[0, 0], [width, 0], [0, height]]))
    line = cv2.warpAffine(picture, matrix, (width, height), flags=cv2.INTER_CUBIC,
                          borderMode=cv2.BORDER_REPLICATE)
    return cv2.rotate(line, cv2.ROTATE_90_COUNTERCLOCKWISE) if height >= 1.5 * width else line


def turn_round(line):
    return cv2.rotate(line, cv2.ROTATE_180)


def columns_of(line):
    """Its width at the height that the nets want."""
    height, width = line.shape[:2]
    return min(math.ceil(ROWS * width / height), MOST_COLUMNS)


def stack(lines, columns):
    """FP32 [N, 3, 48, columns]: longer lines squeezed, grey behind the end of shorter ones."""
    tensor = np.zeros((len(lines), 3, ROWS, columns), np.float32)
    for row, line in zip(tensor, lines):
        width = min(columns_of(line), columns)
        row[:, :, :width] = to_tensor(cv2.resize(line, (width, ROWS)))
    return tensor


def batches(lines):
    """[(places in lines, columns)]: at most BATCH lines of similar width each."""
    by_width = {}
    for place, line in enumerate(lines):
        columns = math.ceil(columns_of(line) / COLUMNS_STEP) * COLUMNS_STEP
        by_width.setdefault(max(columns, LEAST_COLUMNS), []).append(place)
    return [(places[start:start + BATCH], columns) for columns, places in by_width.items()
            for start in range(0, len(places), BATCH)]


def read(probabilities, characters):
    """(text, mean probability of its letters) of FP32 [steps, len(characters)], by CTC's greedy rule:
    the likeliest one of each step, said once for as long as it lasts, without the blanks."""
    best = probabilities.argmax(axis=1)
    begins = np.append(True, best[1:] != best[:-1])
    spoken = begins & (best != BLANK)
    if not spoken.any():
        return "", 0.0
    text = "".join(characters[letter] for letter in best[spoken])
    return text, float(probabilities.max(axis=1)[spoken].mean())
