// SPDX-License-Identifier: MIT

#include "tests/emulator/access_record.h"

#include "tests/emulator/warp_operation.h"

namespace trainbench::emulator {

bool AccessRecord::Last::Races(const Moment& now) const {
  if (!any) return false;
  if (many_blocks || moment.block != now.block) return true;
  if (moment.block_barriers != now.block_barriers) return false;
  if (many_warps || moment.thread / kWarp != now.thread / kWarp) return true;
  if (moment.warp_barriers != now.warp_barriers) return false;
  return many_threads || moment.thread != now.thread;
}

// A later interval supersedes an earlier one: accesses of the earlier one are
// ordered before every new access.
void AccessRecord::Last::Add(const Moment& now) {
  const bool other_block = any && moment.block != now.block;
  const bool same_interval =
      any && !other_block && moment.block_barriers == now.block_barriers;
  const bool other_warp =
      same_interval && moment.thread / kWarp != now.thread / kWarp;
  const bool same_warp_interval =
      same_interval && !other_warp && moment.warp_barriers == now.warp_barriers;
  many_blocks |= other_block;
  many_warps = same_interval && (many_warps || other_warp);
  many_threads =
      same_warp_interval && (many_threads || moment.thread != now.thread);
  moment = now;
  any = true;
}

const char* AccessRecord::Record(Access access, const Moment& now) {
  const char* race = nullptr;
  if (access == Access::kRead) {
    if (write_.Races(now)) race = "reads what another thread writes";
    if (atomic_.Races(now)) race = "reads what another thread adds to";
    read_.Add(now);
    return race;
  }
  if (read_.Races(now)) race = "writes what another thread reads";
  if (write_.Races(now)) race = "writes what another thread writes";
  if (access == Access::kAtomic) {
    atomic_.Add(now);
    return race;
  }
  if (atomic_.Races(now)) race = "writes what another thread adds to";
  write_.Add(now);
  return race;
}

}  // namespace trainbench::emulator
