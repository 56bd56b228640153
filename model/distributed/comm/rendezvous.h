// SPDX-License-Identifier: MIT
// The c10d stores through which the ranks of a job find each other.

#ifndef TRAINBENCH_MODEL_DISTRIBUTED_COMM_RENDEZVOUS_H_
#define TRAINBENCH_MODEL_DISTRIBUTED_COMM_RENDEZVOUS_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "absl/status/statusor.h"

namespace trainbench {

// A store in a file that all `ranks` processes can open. Creates the file if it
// does not exist. Does not throw.
c10::intrusive_ptr<c10d::Store> OpenFileStore(
    const std::string& path, int ranks, std::chrono::milliseconds timeout);

struct TcpRendezvous {
  std::string host;  // the host of the rank that serves the store
  uint16_t port = 0;
  int ranks = 1;
  bool serves = false;       // this process serves the store
  bool one_machine = false;  // all ranks run on this machine
};

// A store that one process serves to all ranks. It listens at the first address
// of `host` that belongs to its machine or, if none does (behind a proxy), at
// every address of the machine. If other machines take part, loopback addresses
// are skipped, because /etc/hosts may map the machine's own name to one.
// Unavailable, with c10d's reason, if the server cannot be reached, or started,
// in time.
absl::StatusOr<c10::intrusive_ptr<c10d::Store>> OpenTcpStore(
    const TcpRendezvous& where, std::chrono::milliseconds timeout);

// A view of `store` in which every key starts with `prefix`.
c10::intrusive_ptr<c10d::Store> SubStore(
    const std::string& prefix, const c10::intrusive_ptr<c10d::Store>& store);

}  // namespace trainbench

#endif  // TRAINBENCH_MODEL_DISTRIBUTED_COMM_RENDEZVOUS_H_
