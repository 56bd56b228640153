// SPDX-License-Identifier: MIT
// Tensors of more than 2^32 elements. A block reads only a few of them, and
// memory that is only reserved costs nothing.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <random>
#include <string>

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

template <class T>
class Reserved {
 public:
  explicit Reserved(int64_t count)
      : bytes_(count * sizeof(T)),
        memory_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Reserved() {
    if (valid()) munmap(memory_, bytes_);
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;

  bool valid() const { return memory_ != MAP_FAILED; }
  T* data() const { return static_cast<T*>(memory_); }

 private:
  int64_t bytes_;
  void* memory_;
};

class FarTest : public testing::Test {
 protected:
  // Fills rows of the last head, from row `first` on.
  void Fill(int64_t first) {
    for (const Reserved<Bf16>* x : {&q_, &k_, &v_, &grad_o_}) {
      if (!x->valid()) GTEST_SKIP() << "no address space for 8 GiB";
      memory_.Allow(x->data(), kCount * 2, 2, false);
    }
    for (const Reserved<Bf16>* x : {&o_, &grad_k_, &grad_v_}) {
      if (!x->valid()) GTEST_SKIP() << "no address space for 8 GiB";
      memory_.Allow(x->data(), kCount * 2, 2, true);
    }
    if (!sum_.valid()) GTEST_SKIP() << "no address space for 16 GiB";
    memory_.Allow(sum_.data(), kCount * 4, 4, true);
    for (const Reserved<float>* x : {&log_sum_, &delta_}) {
      memory_.Allow(x->data(), kSeq * kHeads * 4, 4, true);
    }
    row_ = (kHeads - 1) * kSeq + first;
    std::mt19937 random(1);
    std::normal_distribution<double> normal;
    for (const Reserved<Bf16>* x : {&q_, &k_, &v_, &grad_o_}) {
      for (int64_t i = 0; i < kRows * kHead; ++i) {
        Set(x->data()[row_ * kHead + i], normal(random));
      }
    }
  }

  // Attends to the filled rows only.
  Reference Expected() const {
    const auto filled = [&](const Reserved<Bf16>& x) {
      return Doubles(x.data() + row_ * kHead, kRows * kHead);
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
  Reserved<Bf16> q_{kCount}, k_{kCount}, v_{kCount}, o_{kCount};
  Reserved<Bf16> grad_o_{kCount}, grad_k_{kCount}, grad_v_{kCount};
  Reserved<float> sum_{kCount};
  Reserved<float> log_sum_{kSeq * kHeads}, delta_{kSeq * kHeads};
  emulator::GlobalMemory memory_;
  int64_t row_ = 0;
};

TEST_F(FarTest, ForwardFindsTheFirstRowsOfTheLastHead) {
  Fill(0);
  if (IsSkipped()) return;
  using Kernel = FlashBf16Forward<kHead>;
  // The last tile contains the first queries.
  const int64_t blocks = kHeads * (kSeq / Kernel::kRows);
  ASSERT_EQ(Run<Kernel>({shape_,
                         {q_.data(), kStrides},
                         {k_.data(), kStrides},
                         {v_.data(), kStrides},
                         {o_.data(), kStrides},
                         log_sum_.data()},
                        blocks - 1),
            "");
  EXPECT_LT(RelativeError(o_.data() + row_ * kHead, Expected().o),
            kTolerance<Bf16>);
}

TEST_F(FarTest, BackwardFindsTheLastRowsOfTheLastHead) {
  Fill(kSeq - kRows);
  if (IsSkipped()) return;
  using Kernel = FlashBf16Backward<kHead>;
  static_assert(Kernel::kKeys == kRows);
  Reference expected = Expected();
  for (int64_t i = 0; i < kRows; ++i) {
    Set(log_sum_.data()[row_ + i], expected.log_sum[i]);
    Set(delta_.data()[row_ + i], expected.delta[i]);
  }
  FlashBackwardArgs a{};
  a.shape = shape_;
  a.q = {q_.data(), kStrides};
  a.k = {k_.data(), kStrides};
  a.v = {v_.data(), kStrides};
  a.grad_o = {grad_o_.data(), kStrides};
  a.grad_k = {grad_k_.data(), kStrides};
  a.grad_v = {grad_v_.data(), kStrides};
  a.log_sum = log_sum_.data();
  a.delta = delta_.data();
  a.grad_q_sum = sum_.data();
  ASSERT_EQ(Run<Kernel>(a, kHeads * (kSeq / kRows) - 1), "");
  for (double& x : expected.grad_q) x /= kScale;
  EXPECT_LT(RelativeError(grad_k_.data() + row_ * kHead, expected.grad_k),
            8e-3);
  EXPECT_LT(RelativeError(grad_v_.data() + row_ * kHead, expected.grad_v),
            8e-3);
  EXPECT_LT(RelativeError(sum_.data() + row_ * kHead, expected.grad_q), 8e-3);
}

}  // namespace
}  // namespace trainbench::kernels
