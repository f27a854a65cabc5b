#include "local_model.h"

#include "backends/openvino/testing/models.h"
#include "base/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "infer_values.h"
#include "predictor.h"

namespace proa {
namespace {

using ::testing::HasSubstr;
namespace models = backends::openvino::testing;

// A folder with REPOSITORY/dense/1/model.onnx.
class LocalModelTest : public ::testing::Test {
 protected:
  LocalModelTest() { models::write_file(file(), models::onnx_dense_layer()); }

  std::filesystem::path file() const { return model_folder() / "1" / "model.onnx"; }
  std::filesystem::path model_folder() const { return folder_.path() / "dense"; }

  TempFolder folder_;
};

TEST_F(LocalModelTest, TellsWhatAPathIs) {
  EXPECT_EQ(*classify_model_path(file()), ModelPathKind::kFile);
  EXPECT_EQ(*classify_model_path(model_folder()), ModelPathKind::kModelFolder);
  EXPECT_EQ(*classify_model_path(folder_.path()), ModelPathKind::kRepository);
  models::write_file(folder_.path() / "tf" / "saved_model.pb", "");
  EXPECT_EQ(*classify_model_path(folder_.path() / "tf"), ModelPathKind::kFile);
  EXPECT_EQ(classify_model_path("/no/such/path").error().code, ErrorCode::kNotFound);
}

TEST_F(LocalModelTest, NamesModels) {
  EXPECT_EQ(model_name_of("/a/resnet.onnx"), "resnet");
  EXPECT_EQ(model_name_of("/a/resnet/1/model.onnx"), "resnet");
  EXPECT_EQ(model_name_of("/a/model.onnx"), "a");
  EXPECT_EQ(model_name_of("/a/net/"), "net");
}

TEST_F(LocalModelTest, PredictsFromAFileAndFromAFolder) {
  for (const auto& path : {file(), model_folder()}) {
    const auto predictor = load_in_process(path);
    ASSERT_TRUE(predictor) << predictor.error().message;
    const ModelSignature& signature = (*predictor)->signature();
    EXPECT_EQ(signature.model, "dense");
    ASSERT_EQ(signature.inputs.size(), 1U);
    EXPECT_EQ(signature.inputs[0].shape, (Shape{-1, 4}));
    const auto x = make_input(signature.inputs[0], signature.batches, "1,2,3,4");
    ASSERT_TRUE(x);
    auto outputs = (*predictor)->predict({{"x", *x}}, {{"y", 0}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    EXPECT_EQ((*outputs)[0].tensor.shape, (Shape{1, 3}));
    const auto* y = reinterpret_cast<const float*>((*outputs)[0].tensor.data.data());
    EXPECT_FLOAT_EQ(y[0], 1 + 4 + 0.5F);
    outputs = (*predictor)->predict({{"x", *x}}, {{"y", 2}});
    ASSERT_TRUE(outputs);
    EXPECT_EQ((*outputs)[0].tensor.type, DataType::kBytes);
    EXPECT_FALSE((*predictor)->predict({}, {{"y", 0}}));
  }
}

TEST_F(LocalModelTest, ReshapesBetweenClientAndModel) {
  const std::filesystem::path model = folder_.path() / "affine";
  std::filesystem::create_directories(model / "1");
  models::write_ir(models::affine_model({-1, 2, 3}), model / "1" / "model.xml");
  models::write_file(model / "config.pbtxt", R"(
    backend: "openvino"
    max_batch_size: 4
    input { name: "x" data_type: TYPE_FP32 dims: [ 6 ] reshape { shape: [ 2, 3 ] } }
    output { name: "y" data_type: TYPE_FP32 dims: [ 3, 2 ] reshape { shape: [ 2, 3 ] } }
  )");
  const auto predictor = load_in_process(model);
  ASSERT_TRUE(predictor) << predictor.error().message;
  const auto x = make_input((*predictor)->signature().inputs[0], true, "0,1,2,3,4,5");
  ASSERT_TRUE(x);
  const auto outputs = (*predictor)->predict({{"x", *x}}, {{"y", 0}});
  ASSERT_TRUE(outputs) << outputs.error().message;
  const Tensor& y = (*outputs)[0].tensor;
  EXPECT_EQ(y.shape, (Shape{1, 3, 2}));
  EXPECT_FLOAT_EQ(reinterpret_cast<const float*>(y.data.data())[5], 11);
}

TEST_F(LocalModelTest, RefusesARepository) {
  const auto predictor = load_in_process(folder_.path());
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("name one of the models"));
}

}  // namespace
}  // namespace proa
