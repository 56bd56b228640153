// SPDX-License-Identifier: MIT

#include "tests/support/safetensors.h"

#include <ATen/ops/tensor.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainbench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Two tensors and their data: floats 1 to 6, then the integers -1 and 7.
constexpr char kHeader[] =
    R"({"__metadata__":{"seed":"20"},)"
    R"("x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("n":{"dtype":"I64","shape":[2],"data_offsets":[24,40]}})";

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

std::string File(const std::string& header, const std::string& data) {
  return Bytes<uint64_t>({header.size()}) + header + data;
}

std::string Data() {
  return Bytes<float>({1, 2, 3, 4, 5, 6}) + Bytes<int64_t>({-1, 7});
}

class SafetensorsTest : public testing::Test {
 protected:
  ~SafetensorsTest() override { std::filesystem::remove(path_); }

  void Write(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
  }

  // Returns the message of the error that loading the file throws.
  std::string Error() {
    try {
      LoadSafetensors(path_, nullptr);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no error";
  }

  const std::string path_ = testing::TempDir() + "safetensors_test." +
                            std::to_string(getpid()) + ".safetensors";
};

TEST_F(SafetensorsTest, ReadsTensorsAndMetadata) {
  Write(File(kHeader, Data()));
  std::map<std::string, std::string> metadata;
  const auto tensors = LoadSafetensors(path_, &metadata);
  EXPECT_THAT(metadata, UnorderedElementsAre(Pair("seed", "20")));
  ASSERT_THAT(tensors, UnorderedElementsAre(Key("x"), Key("n")));
  EXPECT_TRUE(tensors.at("x").equal(
      at::tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}).view({2, 3})));
  EXPECT_TRUE(tensors.at("n").equal(at::tensor({int64_t{-1}, int64_t{7}})));
}

TEST_F(SafetensorsTest, ReadsScalarsAndEmptyTensors) {
  Write(File(R"({"loss":{"dtype":"F64","shape":[],"data_offsets":[0,8]},)"
             R"("none":{"dtype":"F32","shape":[3,0],"data_offsets":[8,8]}})",
             Bytes<double>({0.25})));
  const auto tensors = LoadSafetensors(path_, nullptr);
  EXPECT_EQ(tensors.at("loss").dim(), 0);
  EXPECT_EQ(tensors.at("loss").item<double>(), 0.25);
  EXPECT_EQ(tensors.at("none").sizes(), at::IntArrayRef({3, 0}));
}

TEST_F(SafetensorsTest, NamesTheMissingFile) {
  EXPECT_THAT(Error(), AllOf(HasSubstr(path_), HasSubstr("opened")));
}

TEST_F(SafetensorsTest, RejectsEveryTruncation) {
  const std::string whole = File(kHeader, Data());
  for (size_t size = 0; size < whole.size(); ++size) {
    Write(whole.substr(0, size));
    EXPECT_THAT(Error(), HasSubstr(path_)) << size << " bytes";
  }
}

TEST_F(SafetensorsTest, RejectsWrongHeaders) {
  const std::vector<std::string> headers = {
      "{",
      "[1]",
      R"({"x":7})",
      R"({"x":{"shape":[6],"data_offsets":[0,24]}})",
      R"({"x":{"dtype":"F16","shape":[6],"data_offsets":[0,12]}})",
      R"({"x":{"dtype":"F32","shape":[5],"data_offsets":[0,24]}})",
      R"({"x":{"dtype":"F32","shape":[6],"data_offsets":[24,0]}})",
      R"({"x":{"dtype":"F32","shape":[6],"data_offsets":[24,48]}})",
      R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,24]}})",
      R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],)"
      R"("data_offsets":[0,24]}})",
      R"({"__metadata__":{"seed":20},)"
      R"("x":{"dtype":"F32","shape":[6],"data_offsets":[0]}})",
  };
  for (const std::string& header : headers) {
    Write(File(header, Data()));
    EXPECT_THAT(Error(), AllOf(HasSubstr(path_), HasSubstr("wrong header")))
        << header;
  }
}

TEST_F(SafetensorsTest, RejectsAHeaderLengthBeyondTheFile) {
  std::string file = Bytes<uint64_t>({~uint64_t{0}});
  file += kHeader;
  Write(file);
  EXPECT_THAT(Error(), HasSubstr("longer than the file"));
}

}  // namespace
}  // namespace trainbench
