// SPDX-License-Identifier: MIT
// Selects one backend of scaled dot-product attention, as RAII.

#ifndef TRAINBENCH_MODEL_NN_ATTENTION_SDPA_BACKEND_H_
#define TRAINBENCH_MODEL_NN_ATTENTION_SDPA_BACKEND_H_

namespace trainbench {

enum class SdpaBackend {
  kMath,       // separate operations, with the [seq, seq] scores in memory
  kFlash,      // FlashAttention-2 (Dao 2023); on a CPU LibTorch's own version
  kEfficient,  // xFormers' memory-efficient attention (Rabe and Staats 2021)
  kCudnn,      // cuDNN's fused attention
};

// Restricts scaled_dot_product_attention to one backend. A call that this
// backend does not support throws c10::Error instead of using another. The
// setting is process-wide: do not overlap two scopes in different threads. Only
// forward passes need it; a backward pass uses the backend of its forward pass.
class SdpaBackendScope {
 public:
  explicit SdpaBackendScope(SdpaBackend backend);
  ~SdpaBackendScope();
  SdpaBackendScope(const SdpaBackendScope&) = delete;
  SdpaBackendScope& operator=(const SdpaBackendScope&) = delete;

 private:
  struct Enabled {
    bool math, flash, efficient, cudnn, overrideable;
  };
  static Enabled Get();
  static void Set(const Enabled& enabled);

  Enabled saved_;
};

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_NN_ATTENTION_SDPA_BACKEND_H_
