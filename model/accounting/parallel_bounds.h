// SPDX-License-Identifier: MIT
// On how many devices a feed-forward layer can be computed before it waits for
// its links (CS336 assignment 2, 2026: data_parallel_calcs, fsdp_calcs,
// tp_calcs, fsdp_tp_calcs; the reasoning is that of Austin et al., "How to
// Scale Your Model", 2025).
//
// Compute and communication may overlap, so that a pass is compute-bound while
// communication takes no longer. Collectives are rings over links of W that
// cost nothing to start. Elementwise work is not counted.

#ifndef TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_BOUNDS_H_
#define TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_BOUNDS_H_

namespace trainbench {

// The layer and the machine; all positive. Counts are doubles because none of
// the formulas is bound to whole numbers.
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
  kFsdp,    // B / N tokens, and weights that are gathered for each use
  kTensor,  // all tokens and F / N columns or rows of each matrix
};

enum class Pass { kForward, kBackward };

struct LayerSeconds {
  double compute = 0;
  double communication = 0;
};

// One pass over the layer on `devices` >= 1. Every split computes 2 m B D F / N
// forward and twice that backward. It sends, each time (N - 1) / N of
//   kData    backward: all-reduce of the weights' gradients, 2 b m D F
//   kFsdp    forward: all-gather of the weights, b m D F; backward: that again
//            and reduce-scatter of their gradients, 2 b m D F
//   kTensor  all-reduce of the output, or backward of the input's gradient,
//            2 b B D
LayerSeconds SplitSeconds(Split split, Pass pass, const LayerJob& job,
                          double devices);

// The most devices with communication <= compute. With b = 2 and m = 3:
//   kData, kFsdp  N <= 1 + 2 B W / (b C)        = 1 + B W / C
//   kTensor       N <= 1 + m F W / (b C)        = 1 + 1.5 F W / C, forward
//                 N <= 1 + 2 m F W / (b C)      = 1 + 3 F W / C, backward
// Infinite for the forward pass of kData, which sends nothing.
double LargestSplit(Split split, Pass pass, const LayerJob& job);

// X groups, among which weights are sharded as with kFsdp, of Y devices with
// tensor parallelism.
struct Mesh {
  double fsdp = 1;    // X
  double tensor = 1;  // Y

  double devices() const { return fsdp * tensor; }
};

struct MeshSeconds {
  double compute = 0;
  double fsdp = 0;    // all-gather of a 1/Y part of the weights among X
  double tensor = 0;  // all-reduce of B/X tokens' output among Y
};

// The forward pass over the layer: 2 m B D F / (X Y C); b m D F (X - 1) / (X Y
// W); 2 b B D (Y - 1) / (X Y W).
MeshSeconds MeshForwardSeconds(const LayerJob& job, const Mesh& mesh);

// The mesh of the most devices whose forward pass is compute-bound, if the two
// collectives run at the same time on links of their own (`overlap`) or one
// after the other. With X0 = 2 B W / (b C) and Y0 = m F W / (b C):
//   overlap  X = 1 + X0, Y = 1 + Y0
//   else     (X - 1) / X0 + (Y - 1) / Y0 = 1; X Y is largest where the
//            first term is 1/2 + (1 / Y0 - 1 / X0) / 2, kept within [0, 1]
Mesh LargestMesh(const LayerJob& job, bool overlap);

// What X Y of LargestMesh tends to for large X0 and Y0: X0 Y0, or a quarter of
// that without overlap. With b = 2 and m = 3: 1.5 B F (W / C)^2 and
// 0.375 B F (W / C)^2.
double LargestMeshLimit(const LayerJob& job, bool overlap);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_ACCOUNTING_PARALLEL_BOUNDS_H_
