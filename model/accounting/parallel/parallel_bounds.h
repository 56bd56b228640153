// SPDX-License-Identifier: MIT
// The most devices on which a feed-forward layer does not wait for its links
// (CS336 assignment 2, 2026: data_parallel_calcs, fsdp_calcs, tp_calcs,
// fsdp_tp_calcs; the reasoning follows Austin et al., "How to Scale Your
// Model", 2025).
//
// Compute and communication may overlap: a pass is compute-bound while its
// communication takes no longer than its compute. Collectives are rings over
// links of bandwidth W, without a cost per call. Elementwise work is not
// counted.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_PARALLEL_BOUNDS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_PARALLEL_BOUNDS_H_

namespace trainbench {

// The layer and the machine; all positive. Counts are doubles because no
// formula needs whole numbers.
struct LayerJob {
  double tokens = 1;                 // B, in the whole batch
  double d_model = 1;                // D
  double d_ff = 1;                   // F
  double matrices = 3;               // m of D x F; 3 in a SwiGLU
  double value_bytes = 2;            // b, of a weight or activation as sent
  double flops_per_second = 1;       // C, of one device
  double link_bytes_per_second = 1;  // W, that a device sends
};

enum class Split {
  kData,    // each device has B / N tokens and all weights
  kFsdp,    // each device has B / N tokens and gathers weights for each use
  kTensor,  // each device has all tokens and 1 / N of each matrix
};

enum class Pass { kForward, kBackward };

// The most devices with communication <= compute. On N devices each computes
// 2 m B D F / N FLOPs forward, twice as many backward, and sends (N - 1) / N of
//   kData    backward: 2 b m D F, an all-reduce of the weights' gradients
//   kFsdp    forward: b m D F, an all-gather of the weights; backward:
//            2 b m D F, the all-gather again and a reduce-scatter of gradients
//   kTensor  2 b B D, an all-reduce of the output or of the input's gradient
// With b = 2 and m = 3:
//   kData, kFsdp  N <= 1 + 2 B W / (b C)        = 1 + B W / C
//   kTensor       N <= 1 + m F W / (b C)        = 1 + 1.5 F W / C, forward
//                 N <= 1 + 2 m F W / (b C)      = 1 + 3 F W / C, backward
// Infinite for the forward pass of kData, which sends nothing.
double LargestSplit(Split split, Pass pass, const LayerJob& job);

// X groups of Y devices: weights are sharded over groups (kFsdp), matrices over
// the devices of a group (kTensor).
struct Mesh {
  double fsdp = 1;    // X
  double tensor = 1;  // Y

  double devices() const { return fsdp * tensor; }
};

// The largest mesh whose forward pass is compute-bound. It computes
// 2 m B D F / (X Y C) seconds, gathers weights for b m D F (X - 1) / (X Y W)
// and all-reduces outputs for 2 b B D (Y - 1) / (X Y W). The two collectives
// run at the same time on links of their own (`overlap`) or one after the
// other. With X0 = 2 B W / (b C) and Y0 = m F W / (b C):
//   overlap  X = 1 + X0, Y = 1 + Y0
//   else     (X - 1) / X0 + (Y - 1) / Y0 = 1; X Y is largest where the
//            first term is 1/2 + (1 / Y0 - 1 / X0) / 2, clamped to [0, 1]
Mesh LargestMesh(const LayerJob& job, bool overlap);

// The limit of LargestMesh's X Y for large X0 and Y0: X0 Y0, or a quarter of it
// without overlap. With b = 2 and m = 3: 1.5 B F (W / C)^2 and
// 0.375 B F (W / C)^2.
double LargestMeshLimit(const LayerJob& job, bool overlap);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_PARALLEL_BOUNDS_H_
