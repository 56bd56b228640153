// SPDX-License-Identifier: MIT
// The functions of the null GPU for the program into which it is preloaded.
//
// A program never links these functions. It looks them up with
// dlsym(RTLD_DEFAULT, ...): if trainbench_null_gpu_reset is missing, its
// devices are real.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_NULL_GPU_H_
#define TRAINBENCH_TOOLS_NULL_GPU_NULL_GPU_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Resets the counters and the counts of kernels and calls to zero.
void trainbench_null_gpu_reset(void);

// Returns a count since the last reset, summed over all devices of the process:
// "launches", or another name in core/counters.h.
uint64_t trainbench_null_gpu_count(const char* name);

// Writes the counts since the last reset as a JSON object: "pid", "counters"
// (an object from these names to counts), "kernels" (an array of {"name",
// "launches"}, most frequent first; the made-up names of libraries' kernels end
// in "_null") and "calls" (an object from function to calls). Writes at most
// `size` bytes with the terminating zero and returns the whole length without
// it, so a call with (nullptr, 0) returns the required size.
size_t trainbench_null_gpu_json(char* text, size_t size);

// Whether TRAINBENCH_NULL_GPU_RATES predicts the times of devices.
int trainbench_null_gpu_predicts(void);

// States that the next kernel that this thread enqueues computes attention,
// which its name and arguments do not show: the FLOPs, the sequence length in
// tokens, whether it is the backward pass, and whether it multiplies fp32. 0
// FLOPs withdraw the statement.
void trainbench_null_gpu_attention(double flops, double seq, int is_backward,
                                   int is_fp32);

// Allocated memory of a device, with the requested `bytes`.
typedef struct {
  const void* base;
  size_t bytes;
} trainbench_null_gpu_range;

// The launch of a kernel that runs now.
typedef struct {
  unsigned grid[3], block[3];
  size_t shared_bytes;   // dynamic
  const void* argument;  // as it was when the kernel was enqueued
  const trainbench_null_gpu_range* memory;  // all of the device
  size_t ranges;
} trainbench_null_gpu_launch;

typedef void (*trainbench_null_gpu_body)(
    const trainbench_null_gpu_launch* launch);

// From now on, calls `body` when a device runs a kernel with `part` in its
// demangled name: in stream order, on the thread that enqueues the kernel or
// launches its graph, one at a time. `body` must not call CUDA. The kernel
// takes one argument, of `argument_bytes`. Ends the process unless
// TRAINBENCH_NULL_GPU_VALUES is 1.
void trainbench_null_gpu_emulate(const char* part, size_t argument_bytes,
                                 trainbench_null_gpu_body body);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TRAINBENCH_TOOLS_NULL_GPU_NULL_GPU_H_
