// SPDX-License-Identifier: MIT
// What a program can ask the null GPU that is preloaded into it.
//
// A program never links these functions. It looks them up with
// dlsym(RTLD_DEFAULT, ...): where trainbench_null_gpu_version is missing, its
// devices are real.

#ifndef TRAINBENCH_TOOLS_NULL_GPU_NULL_GPU_H_
#define TRAINBENCH_TOOLS_NULL_GPU_NULL_GPU_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Of the functions and the structure below.
#define TRAINBENCH_NULL_GPU_VERSION 2

// Sums over all devices of the process since the last reset. Fields are only
// added, at the end.
typedef struct {
  uint64_t launches;        // kernels run, those of graphs included
  uint64_t graph_launches;  // cudaGraphLaunch
  uint64_t graph_nodes;     // nodes recorded by stream captures
  uint64_t copies_h2d, copy_bytes_h2d;
  uint64_t copies_d2h, copy_bytes_d2h;
  uint64_t copies_d2d, copy_bytes_d2d;  // also from device to device
  uint64_t copies_h2h, copy_bytes_h2h;
  uint64_t fills, fill_bytes;
  uint64_t waits;  // calls in which the host waits for a device
  uint64_t allocations, allocated_bytes;  // cudaMalloc and cuMemCreate
  uint64_t frees;
  uint64_t host_allocations, host_allocated_bytes;  // pinned memory
  uint64_t collectives, collective_bytes;           // NCCL, bytes sent
  uint64_t faults;                                  // injected
  // Memory of all devices that is taken now, and its peak since the last reset.
  // Contexts count, as they do on a real device.
  uint64_t device_bytes, peak_device_bytes;
  uint64_t accesses;  // of memory, held against each other
} trainbench_null_gpu_counters;

// TRAINBENCH_NULL_GPU_VERSION of the library.
int trainbench_null_gpu_version(void);

// The profile, "h100". The string is never freed.
const char* trainbench_null_gpu_profile(void);

// Starts the counters, the kernels and the calls again from zero.
void trainbench_null_gpu_reset(void);

// Copies at most `size` bytes, which is sizeof(trainbench_null_gpu_counters) of
// the caller.
void trainbench_null_gpu_count(trainbench_null_gpu_counters* counters,
                               size_t size);

// What happened since the last reset, as a JSON object: "profile", "device",
// "devices", "pid", "counters" (the fields above), "kernels" (an array of
// {"name", "mangled", "launches"}, most frequent first; the names that
// libraries would give to their kernels end in "_null") and "calls" (an object
// from function to calls). Writes at most `size` bytes with the closing zero
// and returns the length without it, so that a call with (nullptr, 0) asks for
// the room.
size_t trainbench_null_gpu_json(char* text, size_t size);

// Whether times of devices are predicted, from TRAINBENCH_NULL_GPU_RATES, or
// made up.
int trainbench_null_gpu_predicts(void);

// The next kernel that this thread enqueues computes attention, as its name and
// arguments do not say: so many FLOPs on sequences of so many tokens, in the
// backward pass or not. 0 FLOPs take that back.
void trainbench_null_gpu_attention(double flops, double seq, int is_backward);

// Memory of a device that is allocated. `bytes` is what was asked for.
typedef struct {
  const void* base;
  size_t bytes;
} trainbench_null_gpu_range;

// A kernel that a device runs now.
typedef struct {
  unsigned grid[3], block[3];
  size_t shared_bytes;   // dynamic
  const void* argument;  // as it was when the kernel was enqueued
  const trainbench_null_gpu_range* memory;  // all of the device
  size_t ranges;
} trainbench_null_gpu_launch;

typedef void (*trainbench_null_gpu_body)(
    const trainbench_null_gpu_launch* launch);

// From now on, calls `body` where a device runs a kernel whose demangled name
// contains `part`: in the order of its stream, by the thread that enqueues it
// or launches its graph, one at a time. It must not call CUDA. The kernel takes
// one argument, of `argument_bytes`. Ends the process unless
// TRAINBENCH_NULL_GPU_VALUES is 1.
void trainbench_null_gpu_emulate(const char* part, size_t argument_bytes,
                                 trainbench_null_gpu_body body);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TRAINBENCH_TOOLS_NULL_GPU_NULL_GPU_H_
