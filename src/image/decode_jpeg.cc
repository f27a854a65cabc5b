#include "image/decode_jpeg.h"

#include <cstring>
#include <memory>
#include <string_view>

#include "image/orientation.h"
#include "image/pixel_limit.h"
#include "turbojpeg.h"

namespace proa::image {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Decompressor = std::unique_ptr<void, Destroy>;

bool ends_with_end_marker(std::span<const std::byte> file) {
  while (!file.empty() && file.back() == std::byte{0}) file = file.first(file.size() - 1);
  return file.size() >= 2 && file[file.size() - 2] == std::byte{0xff} &&
         file.back() == std::byte{0xd9};
}

// libjpeg warns about much that looks fine. A warning is taken seriously when the file's end is
// missing: later warnings hide the one that says so.
bool is_fatal(tjhandle handle, std::span<const std::byte> file) {
  return tjGetErrorCode(handle) == TJERR_FATAL || !ends_with_end_marker(file) ||
         std::string_view(tjGetErrorStr2(handle)).find("remature end") != std::string_view::npos;
}

Error damaged(tjhandle handle) {
  return error::invalid_argument("the JPEG picture is damaged: {}", tjGetErrorStr2(handle));
}

// a * b / 255, rounded.
std::uint8_t scale_byte(int a, int b) {
  const int product = a * b + 128;
  return static_cast<std::uint8_t>(((product >> 8) + product) >> 8);
}

// Inverted CMYK (255 = no ink) to RGB: what a colour lets through, times what black lets through.
void cmyk_to_rgb(const std::uint8_t* from, Image& to) {
  std::uint8_t* out = to.row(0);
  const std::size_t pixels =
      static_cast<std::size_t>(to.width) * static_cast<std::size_t>(to.height);
  for (std::size_t i = 0; i < pixels; ++i, from += 4, out += Image::kChannels) {
    const int light = from[3];
    for (int c = 0; c < Image::kChannels; ++c) {
      out[c] = static_cast<std::uint8_t>(light - scale_byte(255 - from[c], light));
    }
  }
}

// Decompresses into `pixels` in `format`. The slow transform is the one that other programs use.
Status decompress(tjhandle handle, std::span<const std::byte> file, const Image& size, int format,
                  std::uint8_t* pixels) {
  const int failed = tjDecompress2(
      handle, reinterpret_cast<const unsigned char*>(file.data()), file.size(), pixels, size.width,
      /*pitch=*/0, size.height, format, TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS);
  if (failed != 0 && is_fatal(handle, file)) return damaged(handle);
  return {};
}

// Every scan of a progressive picture goes through all of its pixels, however few bytes it has.
Status check_scans(std::span<const std::byte> file) {
  constexpr int kMostScans = 100;
  const auto* at = reinterpret_cast<const unsigned char*>(file.data());
  const auto* const end = at + file.size();
  int scans = 0;
  while (end - at >= 2) {
    at = static_cast<const unsigned char*>(std::memchr(at, 0xff, end - at - 1));
    if (at == nullptr) break;
    scans += at[1] == 0xda ? 1 : 0;
    ++at;
  }
  if (scans <= kMostScans) return {};
  return error::invalid_argument("the JPEG picture has {} scans; at most {} are read", scans,
                                 kMostScans);
}

Size turned(Size size, Orientation orientation) {
  return swaps_sides(orientation) ? Size{size.height, size.width} : size;
}

struct Header {
  Size size;
  int colours = 0;  // TJCS_...
};

Result<Header> read_header(tjhandle handle, std::span<const std::byte> file) {
  Header header;
  int subsampling = 0;
  if (tjDecompressHeader3(handle, reinterpret_cast<const unsigned char*>(file.data()), file.size(),
                          &header.size.width, &header.size.height, &subsampling,
                          &header.colours) != 0) {
    return damaged(handle);
  }
  return header;
}

}  // namespace

Result<Decoded> decode_jpeg(std::span<const std::byte> file, const DecodeOptions& options) {
  const Decompressor handle(tjInitDecompress());
  if (handle == nullptr) return error::resource_exhausted("no memory for a JPEG decoder");
  PROA_ASSIGN(const Header header, read_header(handle.get(), file));
  PROA_TRY(check_pixel_count("JPEG", header.size.width, header.size.height, file.size(),
                             options.limits));
  PROA_TRY(check_scans(file));
  const Orientation orientation = jpeg_orientation(file);
  Decoded decoded{{}, turned(header.size, orientation)};
  const int reduction = options.jpeg_reduction ? options.jpeg_reduction(decoded.original) : 1;
  Image image = make_image((header.size.width + reduction - 1) / reduction,
                           (header.size.height + reduction - 1) / reduction);
  if (header.colours == TJCS_CMYK || header.colours == TJCS_YCCK) {
    const Buffer inks = Buffer::allocate(image.pixels.size() / Image::kChannels * 4);
    auto* ink = reinterpret_cast<std::uint8_t*>(inks.data());
    PROA_TRY(decompress(handle.get(), file, image, TJPF_CMYK, ink));
    cmyk_to_rgb(ink, image);
  } else {
    PROA_TRY(decompress(handle.get(), file, image, TJPF_RGB, image.row(0)));
  }
  decoded.image = turn_upright(std::move(image), orientation);
  return decoded;
}

}  // namespace proa::image
