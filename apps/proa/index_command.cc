#include "CLI/CLI.hpp"
#include "index.h"

namespace proa {

CLI::App* add_index_command(CLI::App& app, IndexBuildOptions& options) {
  CLI::App* index = app.add_subcommand("index", "Make an index of pictures to search in");
  index->require_subcommand(1);
  CLI::App* build = index->add_subcommand(
      "build", "Vectors of all pictures of a folder, as a new version of a model that serves them");
  build->add_option("--repository", options.repository, "Model repository with the pipeline")
      ->option_text("FOLDER  (required)")
      ->required()
      ->check(CLI::ExistingDirectory);
  build->add_option("--pipeline", options.pipeline, "Model that turns a picture file into a vector")
      ->option_text("NAME  (required)")
      ->required();
  build->add_option("--pictures", options.pictures, "Folder of JPEG, PNG and WebP files")
      ->option_text("FOLDER  (required)")
      ->required()
      ->check(CLI::ExistingDirectory);
  build->add_option("--into", options.into, "Folder of the index's model, like repository/photos")
      ->option_text("FOLDER  (required)")
      ->required();
  build->add_option("--input", options.input, "The pipeline's input, when several are of BYTES")
      ->option_text("NAME");
  build->add_option("--output", options.output, "The pipeline's output, when several are of FP32")
      ->option_text("NAME");
  build->add_option("--metric", options.metric, "How near two vectors are")
      ->option_text("cosine | inner_product | l2  (default cosine)")
      ->check(CLI::IsMember({"cosine", "inner_product", "l2"}));
  build->add_option("--kind", options.kind, "Search all vectors, or a graph of neighbours")
      ->option_text("flat | hnsw  (default flat)")
      ->check(CLI::IsMember({"flat", "hnsw"}));
  build->add_option("-k", options.k, "Neighbours that a search gives")
      ->option_text("N  (default 10)")
      ->check(CLI::Range(1, 10000));
  build->footer(
      "Vectors are kept in FOLDER/.vectors: interrupted, or with new pictures, it goes on where it "
      "ended.\n\nExample:\n  proa index build --repository models --pipeline features --pictures "
      "photos --into models/photos");
  return index;
}

}  // namespace proa
