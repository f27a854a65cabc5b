#include "backends/image/image_options.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proa::backends {
namespace {

using image::Fit;
using testing::ElementsAre;
using testing::HasSubstr;

using Parameters = std::map<std::string, std::string>;

Result<ImageOptions> parse(Parameters parameters) {
  config::ModelConfig config;
  config.parameters = std::move(parameters);
  return parse_image_options(config);
}

ImageOptions parsed(Parameters parameters) {
  const auto options = parse(std::move(parameters));
  EXPECT_TRUE(options) << options.error().message;
  return options.value_or(ImageOptions{});
}

std::string error_of(Parameters parameters) {
  const auto options = parse(std::move(parameters));
  return options ? "accepted" : options.error().message;
}

TEST(ImageOptionsTest, LeavesPixelsAsTheyAreByDefault) {
  const ImageOptions options = parsed({});
  EXPECT_EQ(options.transform.fit, Fit::kNone);
  EXPECT_FALSE(options.transform.crop);
  EXPECT_EQ(options.transform.tensor.type, DataType::kFp32);
  EXPECT_THAT(options.transform.tensor.mean, ElementsAre(0, 0, 0));
  EXPECT_THAT(options.transform.tensor.scale, ElementsAre(1, 1, 1));
  EXPECT_EQ(options.most_jpeg_reduction, 1);
}

TEST(ImageOptionsTest, TakesTheModeFromTheSizeUnlessItIsGiven) {
  EXPECT_EQ(parsed({{"resize", "256"}}).transform.fit, Fit::kShorterSide);
  EXPECT_EQ(parsed({{"resize", "320x240"}}).transform.fit, Fit::kExact);
  EXPECT_EQ(parsed({{"resize", "320x240"}}).transform.size, (image::Size{320, 240}));
  const auto letterbox = parsed({{"resize", "640"}, {"resize_mode", "letterbox"}}).transform;
  EXPECT_EQ(letterbox.fit, Fit::kLetterbox);
  EXPECT_EQ(letterbox.size, (image::Size{640, 640}));
}

TEST(ImageOptionsTest, MakesOneSubtractionAndOneFactorOfScaleMeanAndDeviation) {
  const auto tensor =
      parsed({{"scale", "1/255"}, {"mean", "0.485, 0.456, 0.406"}, {"std", "0.229,0.224,0.225"}})
          .transform.tensor;
  EXPECT_FLOAT_EQ(tensor.mean[0], 123.675F);
  EXPECT_FLOAT_EQ(tensor.scale[2], 1 / 255.0F / 0.225F);
  const auto lite = parsed({{"mean", "127"}, {"std", "128"}}).transform.tensor;
  EXPECT_THAT(lite.mean, ElementsAre(127, 127, 127));
  EXPECT_THAT(lite.scale, ElementsAre(1 / 128.0F, 1 / 128.0F, 1 / 128.0F));
}

TEST(ImageOptionsTest, TakesTheTypeOfTheListedOutput) {
  config::ModelConfig config;
  config.outputs = {{.name = "size", .type = DataType::kInt32},
                    {.name = "x", .type = DataType::kFp16}};
  config.parameters = {{"size_output", "size"}};
  EXPECT_EQ(parse_image_options(config)->transform.tensor.type, DataType::kFp16);
  config.parameters["data_type"] = "TYPE_UINT8";
  EXPECT_EQ(parse_image_options(config)->transform.tensor.type, DataType::kUint8);
}

TEST(ImageOptionsTest, SuggestsTheNameThatWasMeant) {
  EXPECT_THAT(error_of({{"filtre", "area"}}),
              HasSubstr("has no parameter 'filtre'; did you mean 'filter'? it has channels, crop"));
  EXPECT_THAT(error_of({{"zzz", ""}}), HasSubstr("has no parameter 'zzz'; it has channels"));
}

struct Case {
  Parameters parameters;
  std::string message;
};

TEST(ImageOptionsTest, NamesParameterValueAndRule) {
  const Case cases[] = {
      {{{"filter", "cubic"}},
       "parameter 'filter' is \"cubic\"; it must be nearest, bilinear, bicubic or area"},
      {{{"definition", "tf"}}, "'definition' is \"tf\"; it must be pillow or opencv"},
      {{{"resize", "0"}}, "'resize' is \"0\"; it must be pixels from 1 to 16384"},
      {{{"resize", "224x"}}, "one number, or WIDTHxHEIGHT"},
      {{{"resize", "-1x5"}}, "pixels from 1 to 16384"},
      {{{"resize", "99999999999"}}, "pixels from 1 to 16384"},
      {{{"resize_mode", "exact"}}, "does not say to how many pixels"},
      {{{"resize_mode", "none"}, {"resize", "5"}}, "parameter 'resize_mode' is none"},
      {{{"resize_mode", "shorter_side"}, {"resize", "5x5"}}, "one number when resize_mode"},
      {{{"resize_mode", "letterbox"}, {"resize", "5"}, {"crop", "3"}}, "shows the whole picture"},
      {{{"resize", "5x5"}, {"crop", "6x5"}}, "at most the 5x5 of parameter 'resize'"},
      {{{"resize", "5x5"}, {"pad_color", "1"}}, "only resize_mode letterbox pads"},
      {{{"resize", "5"}, {"resize_mode", "letterbox"}, {"pad_color", "1,2"}}, "1 number, or 3"},
      {{{"resize", "5"}, {"resize_mode", "letterbox"}, {"pad_color", "256"}}, "from 0 to 255"},
      {{{"channels", "rgba"}}, "it must be rgb, bgr or gray"},
      {{{"layout", "chwn"}}, "it must be nchw or nhwc"},
      {{{"data_type", "INT8"}}, "it must be FP32, FP16, UINT8"},
      {{{"mean", "a"}}, "numbers like 0.5 or 1/255"},
      {{{"mean", "1,2"}}, "1 number, or 3: one for each channel"},
      {{{"mean", "1/0"}}, "numbers like"},
      {{{"mean", "nan"}}, "numbers like"},
      {{{"mean", "1,2,3"}, {"channels", "gray"}}, "the tensor has 1 channel"},
      {{{"std", "0"}}, "other than 0: it divides"},
      {{{"scale", "0"}}, "other than 0"},
      {{{"std", "2"}, {"data_type", "UINT8"}}, "UINT8 pixels stay as they are"},
      {{{"jpeg_scaled_decode", "1/3"}}, "it must be off, 1/2, 1/4 or 1/8"},
      {{{"jpeg_scaled_decode", "1/2"}}, "no smaller picture is wanted"},
      {{{"max_pixels", "0"}}, "a whole number from 1 to"},
      {{{"size_output", ""}}, "the name of an output"},
      {{{"size_order", "wh"}}, "'size_output' names no output"},
  };
  for (const Case& one : cases) EXPECT_THAT(error_of(one.parameters), HasSubstr(one.message));
}

}  // namespace
}  // namespace proa::backends
