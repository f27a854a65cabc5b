"""The pictures of Debian's Noto emoji font as PNG files: small, colourful, and named."""
import pathlib
import unicodedata

FONT = pathlib.Path("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")
PACKAGE = "fonts-noto-color-emoji"
FIRST = 0x2190  # below are digits and letters


def write_emoji(folder, most=None):
    """Writes up to `most` pictures, 136 x 128, called like `1f408_cat.png`; how many there are."""
    from fontTools.ttLib import TTFont
    if not FONT.is_file():
        raise FileNotFoundError(f"{FONT} is not there: apt install {PACKAGE}")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    font = TTFont(FONT)
    code_points = {glyph: code for code, glyph in font.getBestCmap().items()}
    written = 0
    for strike in font["CBDT"].strikeData:
        for glyph, bitmap in sorted(strike.items()):
            code = code_points.get(glyph, 0)
            name = unicodedata.name(chr(code), "")
            data = getattr(bitmap, "imageData", None)
            if code < FIRST or not name or data is None or written == most:
                continue
            slug = name.lower().replace(" ", "_").replace("/", "_")
            (folder / f"{code:05x}_{slug}.png").write_bytes(data)
            written += 1
    return written
