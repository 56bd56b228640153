// SPDX-License-Identifier: MIT
// Measured rates of a GPU, from the file that TRAINBENCH_NULL_GPU_RATES names
// and tools/rehearsal/main.py writes: Rates as a JSON object.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_RATES_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_RATES_H_

#include <array>
#include <string>
#include <vector>

namespace null_gpu {

// The arithmetic of a matrix product.
enum class Arithmetic { kFp32, kTf32, kBf16, kFp16, kFp64, kOther };

struct Rates {
  double fp32 = 0, tf32 = 0, bf16 = 0;  // peaks of products, FLOP/s
  double memory = 0;                    // peak, bytes/s
  double memory_share = 0;              // share of it without products
  // Fused attention: FLOP/s for long sequences, the sequence length with half
  // of that rate, and the backward pass's rate over the forward pass's.
  double attention = 0, attention_half_seq = 0, attention_backward = 0;
  double link = 0, link_us = 0;  // between GPUs: bytes/s, time of a call
  double host_link = 0;          // to the host, bytes/s
  // Measured products: the microseconds of the FLOPs and of the bytes at the
  // peak rates, and the share of the peak FLOP/s that was reached.
  std::vector<std::array<double, 3>> products;

  // Returns the peak FLOP/s. Both 16-bit types have the same.
  double Peak(Arithmetic arithmetic) const;

  // Returns the share of the peak that a product reaches: the geometric mean
  // over the five measured products with the nearest times.
  double ProductShare(double flops_us, double bytes_us) const;
};

// Reads the file. Ends the process if it is invalid or incomplete, or has a
// value that is not above 0.
Rates ReadRates(const std::string& file);

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_RATES_H_
