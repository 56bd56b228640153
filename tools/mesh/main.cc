// SPDX-License-Identifier: MIT
// Plays one rank of a mesh on a null GPU, and computes what its step takes at
// least; tools/rehearse --mesh starts it and prints its JSON. Exit status: 0; 2
// for wrong usage; 1 without a null GPU, or if the rehearsal fails.

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "fixtures/base/end_process.h"
#include "fixtures/base/file.h"
#include "fixtures/base/flag_parser.h"
#include "fixtures/device/device.h"
#include "fixtures/device/null_gpu.h"
#include "model/accounting/library.h"
#include "tools/mesh/flags.h"
#include "tools/mesh/print_json.h"
#include "tools/mesh/query.h"
#include "tools/mesh/rows.h"

namespace trainbench {
namespace {

constexpr absl::string_view kUsage =
    "Usage: tools/rehearse --gpu=GPU --mesh=MESH [--json] [flags]\n"
    "\n"
    "Plays one rank of a job on many GPUs, on a null GPU and without the other "
    "ranks:\n"
    "its memory, kernels and collectives are exact. The time of its step is "
    "computed.\n"
    "\n"
    "  tools/rehearse --gpu=h100 --mesh=data:4,fsdp:16,tensor:4 --model=8B\n"
    "  tools/rehearse --gpu=h100 --mesh=auto --ranks=64 --model=8B\n"
    "  tools/rehearse --gpu=h100 --mesh=auto --ranks=1,8,64,1024 --model=8B\n"
    "\n";

int Fail(int status, absl::string_view why) {
  // One line, even if a value has line breaks.
  std::cerr << "tools/rehearse: "
            << absl::StrReplaceAll(why, {{"\n", "\\n"}, {"\r", "\\r"}}) << "\n";
  return status;
}

std::string Answer(const MeshQuery& query, const Device& device) {
  const int64_t free_bytes = device.FreeBytes();
  const int64_t budget_bytes = free_bytes - kKernelBytes - query.spare_bytes;
  std::vector<MeshRow> rows = RowsOf(query, device, budget_bytes);
  if (query.rehearses) RehearseBest(device, budget_bytes, rows);
  return MeshDocument(query, device, free_bytes, rows);
}

int Main(const std::vector<std::string>& args) {
  constexpr int kUsageError = 2;
  FlagParser parser;
  MeshFlags flags;
  AddMeshFlags(flags, parser);
  const auto positional = parser.Parse(args);
  if (!positional.ok()) {
    return Fail(kUsageError, positional.status().message());
  }
  if (!positional->empty()) {
    return Fail(kUsageError,
                absl::StrCat("unexpected argument '", positional->front(),
                             "'; allowed: flags"));
  }
  if (flags.help) {
    std::cout << kUsage << parser.Help();
    return EXIT_SUCCESS;
  }
  if (!HasNullGpu()) {
    return Fail(EXIT_FAILURE, "the null GPU is not preloaded");
  }
  const auto device = OpenDevice("cuda");
  if (!device.ok()) return Fail(EXIT_FAILURE, device.status().message());
  const auto query = ReadMeshQuery(flags, *device);
  if (!query.ok()) return Fail(kUsageError, query.status().message());
  std::cout << Answer(*query, *device) << std::flush;
  if (std::cout) return EXIT_SUCCESS;
  return Fail(EXIT_FAILURE, "cannot write to standard output");
}

}  // namespace
}  // namespace trainbench

int main(int argc, char** argv) {
  trainbench::ReportFullFiles();
  try {
    trainbench::EndProcess(
        trainbench::Main(std::vector<std::string>(argv + 1, argv + argc)));
  } catch (const std::exception& error) {
    trainbench::EndProcess(trainbench::Fail(EXIT_FAILURE, error.what()));
  }
}
