// SPDX-License-Identifier: MIT
// How fast a GPU works, as others have measured it: TRAINBENCH_NULL_GPU_RATES
// names a file of them. Each line has a name and a value, but for those of
// measured products (Rates::Product). tools/rehearsal/rates.py writes it.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_RATES_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_RATES_H_

#include <string>
#include <vector>

namespace null_gpu {

// The arithmetic of a matrix product.
enum class Arithmetic { kFp32, kTf32, kBf16, kFp16, kFp64, kOther };

struct Rates {
  // "product <us> <us> <share>": a measured product, by the least time that its
  // FLOPs and its bytes take at the peak rates, and the share of the peak that
  // it reached.
  struct Product {
    double flops_us, bytes_us, share;
  };

  double fp32 = 0, tf32 = 0, bf16 = 0;  // peaks of products, FLOP/s
  double memory = 0;                    // peak, bytes/s
  double memory_share = 0;              // of it, in kernels without products
  // Fused attention: FLOP/s of a long sequence, the length that reaches half of
  // it, and the share of it that the backward pass reaches.
  double attention = 0, attention_half_seq = 0, attention_backward = 0;
  double link = 0, link_us = 0;  // between GPUs: bytes/s, time of a call
  double host_link = 0;          // to the host, bytes/s
  std::vector<Product> products;

  // FLOP/s of the peak. Halves of 16 bits are equally fast.
  double Peak(Arithmetic arithmetic) const;

  // The share of the peak that a product reaches: the geometric mean of the
  // measured products that are nearest to it in both least times.
  double ProductShare(double flops_us, double bytes_us) const;
};

// Ends the process if the file is not complete.
Rates ReadRates(const std::string& file);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_RATES_H_
