#include "picture_flags.h"

#include "CLI/CLI.hpp"

namespace proa {

void add_picture_flags(CLI::App& command, image::PictureOptions& picture,
                       std::string& picture_input) {
  const std::string group = "How pictures are prepared";
  command.add_option("--picture-input", picture_input, "Input that takes the picture")
      ->option_text("NAME")
      ->group(group);
  command.add_option("--mean", picture.mean, "Subtracted from 0..255: one number, or R,G,B")
      ->option_text("N  (default 127)")
      ->group(group);
  command.add_option("--scale", picture.scale, "Then multiplied: number or fraction, one or three")
      ->option_text("N  (default 1/128)")
      ->group(group);
  command.add_option("--resize", picture.resize, "Short side (256), both sides (320x240), or none")
      ->option_text("SIZE  (default: from the input's)")
      ->group(group);
  command.add_option("--crop", picture.crop, "Centre crop (224, 320x240), or none")
      ->option_text("SIZE  (default: the input's)")
      ->group(group);
  command.add_option("--layout", picture.layout, "Where the channels are")
      ->check(CLI::IsMember({"auto", "nchw", "nhwc"}))
      ->option_text("auto|nchw|nhwc  (default auto)")
      ->group(group);
  command
      .add_option("--channels", picture.channels,
                  "Their order; auto = RGB, or grey for one channel")
      ->check(CLI::IsMember({"auto", "rgb", "bgr", "grey"}))
      ->option_text("auto|rgb|bgr|grey  (default auto)")
      ->group(group);
  command.add_option("--filter", picture.filter, "How to resize")
      ->check(CLI::IsMember({"bicubic", "bilinear"}))
      ->option_text("bicubic|bilinear  (default bicubic)")
      ->group(group);
}

}  // namespace proa
