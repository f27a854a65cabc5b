#include "infer.h"

#include "CLI/CLI.hpp"
#include "picture_flags.h"

namespace proa {
namespace {

constexpr const char* kExamples =
    "MODEL is the name of a model on the server at --url (default http://127.0.0.1:8000). With a "
    "/\n"
    "in it, or the ending of a model file, it is the path of a model file or model folder, which "
    "is\n"
    "then run in this process; --in-process says so of any MODEL.\n"
    "\n"
    "Pictures (JPEG, PNG) are prepared as EfficientNet-Lite wants them unless said otherwise: "
    "RGB,\n"
    "short side to 256/224 of the input's, bicubic, centre crop, (x - 127) * 1/128. Layout and "
    "size\n"
    "follow from the input's shape.\n"
    "\n"
    "Examples:\n"
    "  proa infer lite0 photo.jpg\n"
    "  proa infer ./models/lite0 photo.jpg\n"
    "  proa infer model.onnx photo.jpg --labels imagenet.txt --softmax\n"
    "  proa infer resnet50 photo.jpg --mean 123.675,116.28,103.53 --scale 1/58.4,1/57.1,1/57.4\n"
    "  proa infer tokens --input ids=@ids.npy --input mask=[1,16]:1 --save out\n"
    "  proa infer greeter --input text=hello --url http://server:8000";

void add_model_options(CLI::App& command, InferOptions& options) {
  const std::string group = "Where the model is";
  command.add_option("--url", options.url, "Server, like http://127.0.0.1:8000")
      ->option_text("URL")
      ->group(group);
  command.add_flag("--in-process", options.in_process, "MODEL is a path; no server")->group(group);
  command.add_option("--version", options.version, "Version on the server")
      ->option_text("N  (default: the latest)")
      ->group(group);
  command
      .add_option("--timeout", options.timeout_s,
                  "How long to wait for an answer, and for a model that is being loaded")
      ->option_text("SECONDS  (default 60)")
      ->check(CLI::Range(0.001, 86400.0))
      ->group(group);
}

void add_data_options(CLI::App& command, InferOptions& options) {
  const std::string group = "What goes in and comes out";
  command
      .add_option("--input", options.inputs,
                  "NAME=@file.npy, NAME=1,2,3 or NAME=[2,3]:0 (a shape, then values or one value "
                  "that fills it); repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE")
      ->group(group);
  command.add_option("--output", options.outputs, "Output to ask for; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME  (default: all)")
      ->group(group);
  command.add_option("--top", options.top, "How many classes to print; 0 = print the numbers")
      ->option_text("N  (0 to 1000000; default 5)")
      ->check(CLI::Range(0, 1000000))
      ->group(group);
  command.add_option("--labels", options.labels, "File with one class name a line")
      ->option_text("FILE")
      ->check(CLI::ExistingFile)
      ->group(group);
  command.add_flag("--softmax", options.softmax, "Turn scores into probabilities")->group(group);
  command.add_option("--save", options.save, "Folder for the outputs as .npy files")
      ->option_text("FOLDER")
      ->group(group);
}

}  // namespace

CLI::App* add_infer_command(CLI::App& app, InferOptions& options) {
  CLI::App* command = app.add_subcommand("infer", "Get a prediction for pictures or arrays");
  command->footer(kExamples);
  command->add_option("MODEL", options.model, "Name on the server, or path of a model")
      ->option_text("(required)")
      ->required();
  command->add_option("PICTURE", options.pictures, "JPEG, PNG or WebP files, one request each")
      ->option_text("...");
  add_model_options(*command, options);
  add_data_options(*command, options);
  add_picture_flags(*command, options.picture, options.picture_input);
  return command;
}

}  // namespace proa
