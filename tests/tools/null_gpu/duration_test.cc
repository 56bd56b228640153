// SPDX-License-Identifier: MIT

#include "tools/null_gpu/streams/duration.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/files.h"
#include "tools/null_gpu/core/kernel.h"
#include "tools/null_gpu/core/rates.h"
#include "tools/null_gpu/null_gpu.h"

namespace null_gpu {
namespace {

nlohmann::json ValidRates() {
  return nlohmann::json::parse(R"({
      "fp32": 1e12, "tf32": 2e12, "bf16": 4e12, "memory": 1e12,
      "memory_share": 0.5, "attention": 1e12, "attention_half_seq": 100,
      "attention_backward": 0.5, "link": 1e9, "link_us": 10, "host_link": 1e9,
      "products": [[10, 1, 0.5], [11, 1, 0.5], [12, 1, 0.5], [9, 1, 0.5],
                   [8, 1, 0.5], [1, 10, 0.1]]})");
}

std::string Written(const nlohmann::json& rates) {
  static const trainbench::TempFolder folder;
  const std::string file = folder.path() / "rates";
  std::ofstream(file) << rates;
  return file;
}

class DurationTest : public testing::Test {
 protected:
  static int64_t Ns(const Operation& operation) {
    static const Rates rates = ReadRates(Written(ValidRates()));
    return PredictedNs(operation, rates);
  }

  static Operation KernelOf(const std::string& name) {
    Operation operation;
    operation.kind = Operation::Kind::kKernel;
    operation.kernel = NamedKernel(name);
    return operation;
  }

  static Operation Product(Arithmetic arithmetic, double flops, double bytes) {
    Operation product = KernelOf("product");
    product.work = {.flops = flops, .bytes = bytes, .arithmetic = arithmetic};
    return product;
  }

  static Operation Passing(const std::string& name, size_t bytes) {
    Operation pass = KernelOf(name);
    pass.accesses = {{nullptr, bytes, false}};
    return pass;
  }

  static Operation Moving(Operation::Kind kind, cudaMemcpyKind direction) {
    Operation operation;
    operation.kind = kind;
    operation.direction = direction;
    operation.bytes = 3'000'000;
    return operation;
  }
};

TEST_F(DurationTest, AProductReachesTheShareOfItsNearestMeasuredOnes) {
  EXPECT_EQ(Ns(Product(Arithmetic::kFp32, 1e7, 1e6)), 20'000);
  EXPECT_EQ(Ns(Product(Arithmetic::kTf32, 2e7, 1e6)), 20'000);
  EXPECT_EQ(Ns(Product(Arithmetic::kFp16, 4e7, 1e6)), 20'000);
  // Reading its operands takes longer than its FLOPs.
  EXPECT_EQ(Ns(Product(Arithmetic::kBf16, 4e7, 1e8)), 100'000);
}

TEST_F(DurationTest, AttentionReachesMoreOnLongSequences) {
  Operation attention = KernelOf("flash");
  attention.work = {.flops = 1e9, .seq = 100};
  EXPECT_EQ(Ns(attention), 2'000'000);
  attention.work.seq = 300;
  EXPECT_EQ(Ns(attention), 1'333'333);
  attention.work.is_backward = true;
  EXPECT_EQ(Ns(attention), 2'666'666);
  // It is never faster than products of its arithmetic.
  attention.work = {.flops = 3e9, .arithmetic = Arithmetic::kFp32, .seq = 1e9};
  EXPECT_GE(Ns(attention), 3'000'000);
}

TEST_F(DurationTest, AnyOtherKernelPassesOverItsMemory) {
  EXPECT_EQ(Ns(Passing("add", 1'000'000)), 2'000);
  EXPECT_EQ(Ns(Passing("add", 1)), 1'000) << "the least that a kernel takes";
}

TEST_F(DurationTest, SlicesOfABlockCountTwiceAtMost) {
  Operation slices = KernelOf("add");
  for (const size_t bytes : {3'000'000, 2'000'000, 2'000'000}) {
    slices.accesses.push_back({nullptr, bytes, false, /*block=*/7});
  }
  EXPECT_EQ(Ns(slices), 12'000);
  slices.accesses.push_back({nullptr, 1'000'000, false, /*block=*/8});
  EXPECT_EQ(Ns(slices), 14'000);
}

// The lists of a launch hold whole tensors; each block updates one piece.
TEST_F(DurationTest, AKernelOnListsPassesOverThePiecesOfItsBlocks) {
  const std::string name = "multi_tensor_apply_kernel_TensorListMetadataILi4EE";
  // It reads four tensors and writes three.
  EXPECT_EQ(Ns(Passing(name, 1'000'000)), 3'500);
  EXPECT_EQ(Ns(Passing(name, 1'000'000'000)), 3'670);
  EXPECT_EQ(Ns(Passing(name + "N3c108BFloat16E", 1'000'000'000)), 1'835);
}

TEST_F(DurationTest, ACopyIsAsFastAsItsSlowestSide) {
  constexpr auto kCopy = Operation::Kind::kCopy;
  EXPECT_EQ(Ns(Moving(kCopy, cudaMemcpyHostToDevice)), 3'000'000);
  EXPECT_EQ(Ns(Moving(kCopy, cudaMemcpyDeviceToDevice)), 6'000);
  EXPECT_EQ(Ns(Moving(Operation::Kind::kFill, {})), 3'000);
}

TEST_F(DurationTest, ACollectiveTakesItsLink) {
  Operation collective = KernelOf("all_reduce");
  collective.is_collective = true;
  collective.work.bytes = 1e6;
  EXPECT_EQ(Ns(collective), 1'010'000);
}

TEST_F(DurationTest, TheProgramStatesTheAttentionOfItsNextKernel) {
  trainbench_null_gpu_attention(1e9, 128, 1, 1);
  const Work work = TakeStatedWork();
  EXPECT_EQ(work.flops, 1e9);
  EXPECT_EQ(work.seq, 128);
  EXPECT_TRUE(work.is_backward);
  EXPECT_EQ(work.arithmetic, Arithmetic::kFp32);
  EXPECT_EQ(TakeStatedWork().flops, 0);
}

TEST(RatesDeathTest, NamesWhatIsWrong) {
  const auto expect = [](const char* place, const nlohmann::json& value,
                         const std::string& why) {
    nlohmann::json rates = ValidRates();
    rates[nlohmann::json::json_pointer(place)] = value;
    EXPECT_DEATH(ReadRates(Written(rates)), why);
  };
  expect("/fp32", 0, "/fp32 is not above 0");
  expect("/fp32", "much", "must be number");
  expect("/products", nlohmann::json::array(), "/products is not above 0");
  expect("/products/3/2", -1, "/products/3/2 is not above 0");
  expect("/products/3", {9, 1}, "index 2 is out of range");
  EXPECT_DEATH(ReadRates(Written({{"fp32", 1}})), "key 'tf32' not found");
  EXPECT_DEATH(ReadRates("nowhere"), "nowhere: .*parse error");
}

}  // namespace
}  // namespace null_gpu
