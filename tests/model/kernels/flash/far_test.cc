// SPDX-License-Identifier: MIT
// Tensors of more than 2^32 elements. A block reads only a few of them, and
// memory that is only reserved costs nothing.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "model/kernels/flash/attention.cuh"
#include "tests/model/kernels/flash/problem.h"
#include "tests/model/kernels/tensors.h"

namespace trainbench::kernels {
namespace {

constexpr int64_t kSeq = 65536;
constexpr int64_t kHeads = 1024;
constexpr int64_t kHead = 64;
constexpr int64_t kCount = kSeq * kHeads * kHead;
constexpr int64_t kRows = 128;  // filled rows of the last head
constexpr float kScale = 0.125f;

// Runs a single block of a large launch.
class LastBlock : public emulator::Device {
 public:
  struct Options {
    int64_t block = 0;
  };
  LastBlock(emulator::Block* block, int64_t, Options options)
      : Device(block, 1, {}), index_(options.block) {}
  int64_t Block() const { return index_; }

 private:
  int64_t index_;
};

class FarTest : public testing::Test {
 protected:
  void SetUp() override {
    for (Bf16** x : {&q_, &k_, &v_, &grad_o_}) Reserve(kCount, false, x);
    for (Bf16** x : {&o_, &grad_k_, &grad_v_}) Reserve(kCount, true, x);
    Reserve(kCount, true, &sum_);
    for (float** x : {&log_sum_, &delta_}) Reserve(kSeq * kHeads, true, x);
  }
  void TearDown() override {
    for (const auto& [memory, bytes] : reserved_) munmap(memory, bytes);
  }

  template <class T>
  void Reserve(int64_t count, bool writable, T** tensor) {
    if (IsSkipped()) return;
    const int64_t bytes = count * sizeof(T);
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) GTEST_SKIP() << "no address space for " << bytes;
    reserved_.emplace_back(memory, bytes);
    memory_.Allow(memory, bytes, sizeof(T), writable);
    *tensor = static_cast<T*>(memory);
  }

  // Fills rows of the last head, from row `first` on.
  void Fill(int64_t first) {
    row_ = (kHeads - 1) * kSeq + first;
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (Bf16* const x : {q_, k_, v_, grad_o_}) {
      for (int64_t i = 0; i < kRows * kHead; ++i) {
        Set(x[row_ * kHead + i], normal(random));
      }
    }
  }

  // Attends to the filled rows only.
  Reference Expected() const {
    const auto filled = [&](const Bf16* x) {
      return Doubles(x + row_ * kHead, kRows * kHead);
    };
    FlashShape shape = shape_;
    shape.heads = 1;
    shape.seq = kRows;
    return Attend(shape, filled(q_), filled(k_), filled(v_), filled(grad_o_));
  }

  template <class Kernel>
  std::string Run(const typename Kernel::Args& args, int64_t block) {
    emulator::BasicLauncher<LastBlock> launcher(&memory_, 1, {block});
    return launcher.Launch<Kernel>(
        {1, Kernel::kMaxThreads, Kernel::kSharedBytes}, args);
  }

  static constexpr HeadStrides kStrides{kCount, kSeq* kHead, kHead};
  const FlashShape shape_{
      Dtype::kBfloat16, 1, kHeads, kSeq, kHead, true, kScale};
  Bf16 *q_, *k_, *v_, *o_, *grad_o_, *grad_k_, *grad_v_;
  float *sum_, *log_sum_, *delta_;
  std::vector<std::pair<void*, int64_t>> reserved_;
  emulator::GlobalMemory memory_;
  int64_t row_ = 0;
};

TEST_F(FarTest, ForwardFindsTheFirstRowsOfTheLastHead) {
  Fill(0);
  using Kernel = FlashBf16Forward<kHead>;
  // The last tile contains the first queries.
  const int64_t blocks = kHeads * (kSeq / Kernel::kRows);
  ASSERT_EQ(Run<Kernel>({shape_,
                         {q_, kStrides},
                         {k_, kStrides},
                         {v_, kStrides},
                         {o_, kStrides},
                         log_sum_},
                        blocks - 1),
            "");
  EXPECT_LT(RelativeError(o_ + row_ * kHead, Expected().o), kTolerance<Bf16>);
}

TEST_F(FarTest, BackwardFindsTheLastRowsOfTheLastHead) {
  Fill(kSeq - kRows);
  using Kernel = FlashBf16Backward<kHead>;
  static_assert(Kernel::kKeys == kRows);
  Reference expected = Expected();
  for (int64_t i = 0; i < kRows; ++i) {
    Set(log_sum_[row_ + i], expected.log_sum[i]);
    Set(delta_[row_ + i], expected.delta[i]);
  }
  FlashBackwardArgs a{};
  a.shape = shape_;
  a.q = {q_, kStrides};
  a.k = {k_, kStrides};
  a.v = {v_, kStrides};
  a.grad_o = {grad_o_, kStrides};
  a.grad_k = {grad_k_, kStrides};
  a.grad_v = {grad_v_, kStrides};
  a.log_sum = log_sum_;
  a.delta = delta_;
  a.grad_q_sum = sum_;
  ASSERT_EQ(Run<Kernel>(a, kHeads * (kSeq / kRows) - 1), "");
  for (double& x : expected.grad_q) x /= kScale;
  EXPECT_LT(RelativeError(grad_k_ + row_ * kHead, expected.grad_k), 8e-3);
  EXPECT_LT(RelativeError(grad_v_ + row_ * kHead, expected.grad_v), 8e-3);
  EXPECT_LT(RelativeError(sum_ + row_ * kHead, expected.grad_q), 8e-3);
}

}  // namespace
}  // namespace trainbench::kernels
