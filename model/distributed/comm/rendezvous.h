// SPDX-License-Identifier: MIT
// The c10d stores through which the ranks of a job meet.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_RENDEZVOUS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_RENDEZVOUS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "absl/status/statusor.h"

namespace trainbench {

// A store in a file that all `ranks` processes can open. Creates the file if it
// is missing. Throws nothing.
c10::intrusive_ptr<c10d::Store> OpenFileStore(
    const std::string& path, int ranks, std::chrono::milliseconds timeout);

struct TcpRendezvous {
  std::string host;  // of the rank that serves the store
  uint16_t port = 0;
  int ranks = 1;
  bool serves = false;       // this process serves the store
  bool one_machine = false;  // all ranks are on this one
};

// A store that one process serves to all. It listens at the first address of
// `host` that its machine has, and at each address of the machine only if it
// has none of them (behind a proxy). If other machines take part, a loopback
// address does not count: /etc/hosts may give one to the machine's own name.
// Unavailable, with c10d's reason, if the server cannot be reached, or started,
// in time.
absl::StatusOr<c10::intrusive_ptr<c10d::Store>> OpenTcpStore(
    const TcpRendezvous& where, std::chrono::milliseconds timeout);

// A view of `store` in which every key starts with `prefix`.
c10::intrusive_ptr<c10d::Store> SubStore(
    const std::string& prefix, const c10::intrusive_ptr<c10d::Store>& store);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_RENDEZVOUS_H_
