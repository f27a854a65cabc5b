"""What differs between two answers to the same request, by place."""
import math
import re

# What clients match on in the messages of errors. Where the peer's message holds one of these, ours
# must too; other messages are for people and may be worded as each server likes.
ERROR_KINDS = [re.compile(pattern) for pattern in (
    r"Request for unknown model: '[^']*' (version \S+ )?is not found",
    r"inference request batch-size must be <= \d+ for '[^']+'",
    r"unexpected shape for input '[^']+' for model '[^']+'\. Expected \[[-\d,]*\], got \[[-\d,]*\]",
    r"inference input '[^']+' data-type is '[^']+', but model '[^']+' expects '[^']+'",
    r"unexpected inference input '[^']+' for model '[^']+'",
    r"unexpected inference output '[^']+' for model '[^']+'",
    r"expected .*inputs but got \d+ inputs for model '[^']+'",
    r"missing required input\(s\)",
    r"input byte size mismatch for input",
    r"Request timeout expired",
    r"Exceeds maximum queue size",
    r"doesn't support models with decoupled transaction policy",
    r"explicit model load / unload is not allowed",
    r"failed to parse the request JSON buffer",
    r"failed to load '[^']+'",
    r"log file location can not be updated through network protocol",
    r"model\.py says no(\nand \u00fc)?",
)]
# Sentences for people: that there is one counts, and what clients match on.
WORDS = ("error", "reason")
# Times and dates: never equal, so only their presence and type count.
MOMENTS = ("ns", "last_inference")


def error_difference(ours, theirs):
    if (ours is None) != (theirs is None):
        return True
    for kind in ERROR_KINDS:
        found = kind.search(theirs or "")
        if found and (found.group() not in ours):
            return True
    return False


def same_scalar(ours, theirs, key):
    if key in MOMENTS:
        return type(ours) is type(theirs)
    if isinstance(ours, float) and isinstance(theirs, float) and math.isnan(ours):
        return math.isnan(theirs)
    return type(ours) is type(theirs) and ours == theirs


def walk(ours, theirs, place, found):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*theirs, *(key for key in ours if key not in theirs)]:
            inner = f"{place}.{key}" if place else key
            if key in WORDS and key in ours and key in theirs:
                if error_difference(ours[key], theirs[key]):
                    found[inner] = (ours[key], theirs[key])
            elif key not in theirs or key not in ours:
                found[inner] = (ours.get(key, "absent"), theirs.get(key, "absent"))
            else:
                walk(ours[key], theirs[key], inner, found)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for i, (mine, other) in enumerate(zip(ours, theirs)):
            walk(mine, other, f"{place}[{i}]", found)
    elif not same_scalar(ours, theirs, place.rsplit(".", 1)[-1]):
        found[place] = (ours, theirs)


def differences(ours, theirs):
    """{place: (our value, the peer's)}, places as "status" or "body.outputs[0].shape[1]"."""
    found = {}
    walk(ours, theirs, "", found)
    return found
