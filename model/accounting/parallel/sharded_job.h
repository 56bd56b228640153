// SPDX-License-Identifier: MIT
// Memory and batch size of a model too large for one device, sharded by FSDP
// and tensor parallelism (CS336 assignment 2, 2025, communication_accounting).
//
// The model is a stack of blocks of two matrices, D x F and F x D, without
// attention and embeddings. A mesh of X times Y devices shards weights and
// tokens X ways and each matrix Y ways, over M_X and M_Y axes of links. Symbols
// follow "How to Scale Your Model" (Austin et al. 2025). As there, X and Y
// count as large: (X - 1) / X is 1. parallel_bounds.h keeps that factor.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_SHARDED_JOB_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_SHARDED_JOB_H_

#include <optional>
#include <string>
#include <vector>

namespace trainbench {

// All positive.
struct ShardedJob {
  double d_model = 1;                 // D
  double d_ff = 1;                    // F
  double blocks = 1;                  // L
  double state_bytes_per_param = 16;  // fp32 weight, gradient, two moments
  double value_bytes = 2;            // b, of an activation, or a weight as sent
  double flops_per_second = 1;       // C, of one device
  double link_bytes_per_second = 1;  // W, of one axis in both directions
  double fsdp = 1;                   // X
  double tensor = 1;                 // Y
  double fsdp_axes = 1;              // M_X
  double tensor_axes = 1;            // M_Y
};

// 2 D F L.
double ShardedJobParams(const ShardedJob& job);

// Master weights, gradients and optimizer state.
double StateBytes(const ShardedJob& job);

// A = b (D + F) L: the backward pass needs the input of each matrix.
double SavedBytesPerToken(const ShardedJob& job);

// ceil(bytes / device_bytes). Mind the unit: a "GPU of 80 GB" has 80 GiB, 7 %
// more than 80e9 bytes.
double DevicesToHold(double bytes, double device_bytes);

// Bytes of one device with n `tokens`: the state and half of the saved
// activations are sharded over N `devices`, the other half is on each device.
// (state + A n / 2) / N + A n / 2.
double FsdpDeviceBytes(const ShardedJob& job, double tokens, double devices);

// The fewest devices with FsdpDeviceBytes below `device_bytes`, the smallest
// whole N > (state + A n / 2) / (device - A n / 2). Empty if the unsharded half
// alone does not fit.
std::optional<double> FewestFsdpDevices(const ShardedJob& job, double tokens,
                                        double device_bytes);

// The bound on Y, 2 F W M_Y / (b C). At or above it, sending activations takes
// at least as long as the compute, whatever the batch.
double LargestTensorSplit(const ShardedJob& job);

// Tokens in the whole batch above which the forward pass is compute-bound. One
// block computes 4 B D F / (X Y C) seconds, gathers weights for 2 b D F / (Y W
// M_X) and gathers and scatters activations for 2 b B D / (X W M_Y). If the
// collectives run at the same time (`overlap`): B > b X C / (2 W M_X). If they
// run one after the other, this bound is divided by 1 - Y / LargestTensorSplit.
// Empty if Y is not below LargestTensorSplit.
std::optional<double> ComputeBoundTokens(const ShardedJob& job, bool overlap);

struct BatchReduction {
  std::string name;  // more_tensor, half_width, two_stages
  std::string what;
  ShardedJob job;  // with the change
};

// Changes that lower ComputeBoundTokens (with overlap) on the same devices,
// each alone:
//   - more tensor parallelism: the largest whole Y that divides X Y and is
//     below LargestTensorSplit, if it is above the present Y
//   - weights and activations sent in half the bytes, b / 2
//   - two pipeline stages of X / 2 each, which must keep gathered weights over
//     the micro-batches of a step. If each micro-batch gathers them again, each
//     must be as large as this bound, and a pipeline needs at least two
std::vector<BatchReduction> BatchReductions(const ShardedJob& job);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_SHARDED_JOB_H_
