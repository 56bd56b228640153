// SPDX-License-Identifier: MIT
// Makes chosen calls fail.
//
// A plan is a list of rules, separated by ";":
//   <call>[>=<bytes>]:<which>[=<effect>][,sticky]
// call    a function of the runtime or driver that needs a context
//         ("cudaEventQuery"; any other never fails), or one of the classes
//         malloc, host_malloc, launch, event_record, nccl,
//         kernel_record (of CUPTI; any error loses the record)
// bytes   counts only calls of at least this size (malloc, host_malloc, nccl)
// which   "17" is the 17th call that counts, from 1; "17+" adds all later ones;
//         "*" is all calls
// effect  an error (out_of_memory, launch_failure, illegal_address,
//         invalid_value, unknown); for nccl also remote_error, which returns
//         success and appears in ncclCommGetAsyncError; "never" (launch,
//         event_record, nccl): the enqueued work never ends
// sticky  the context is lost: the call itself succeeds, and every later one
//         fails with this error
//
//   malloc>=1073741824:1=out_of_memory;launch:120=illegal_address,sticky

#ifndef TRAINBENCH_TOOLS_NULL_GPU_CORE_FAULT_H_
#define TRAINBENCH_TOOLS_NULL_GPU_CORE_FAULT_H_

#include <driver_types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace null_gpu {

struct Fault {
  cudaError_t error = cudaSuccess;  // to return at once
  bool remote_error = false;        // of NCCL
  bool never = false;               // the enqueued work never ends
  bool sticky = false;
};

class FaultPlan {
 public:
  // Replaces the rules. Returns an error in the text, else "".
  std::string Parse(const std::string& text);

  // Counts a call for the rules of this name, and returns the fault of the
  // first rule that hits it.
  std::optional<Fault> Next(std::string_view call, size_t bytes = 0);

 private:
  struct Rule {
    std::string call;
    size_t least_bytes = 0;
    uint64_t first = 1, last = 1;
    Fault fault;
    uint64_t calls = 0;
  };
  static std::string ParseRule(const std::string& text, Rule& rule);

  std::atomic<bool> empty_{true};
  std::mutex mutex_;
  std::vector<Rule> rules_;
};

}  // namespace null_gpu

#endif  // TRAINBENCH_TOOLS_NULL_GPU_CORE_FAULT_H_
