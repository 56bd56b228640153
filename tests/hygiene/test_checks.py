# SPDX-License-Identifier: MIT
"""Every check finds what it is there to find."""

import pytest

import checks

EXPERIMENT = """// SPDX-License-Identifier: MIT
// Question: How long?
//   Really?
// Expect: Not long.

#include <vector>

#include "fixtures/experiment/experiment.h"

TRAINBENCH_DEFINE_F(Base, F)(State& state) {
  for (auto _ : state) Step();
}

TRAINBENCH_REGISTER_F(Base, F, "a/b")
    ->Expect("equal", {}, AtMost(1));
"""

HEADER = """// SPDX-License-Identifier: MIT
// What it is.

#ifndef TRAINBENCH_MODEL_A_B_H_
#define TRAINBENCH_MODEL_A_B_H_
#endif  // TRAINBENCH_MODEL_A_B_H_
"""


def test_includes_are_found_and_comments_are_not() -> None:
    text = (
        '#include <vector>\n#  include "a/b.h"\n// #include "c.h"\n/* #include <d> */'
    )
    assert checks.includes(text) == ["vector", "a/b.h"]


@pytest.mark.parametrize(
    ("path", "included"),
    [
        ("model/nn/a.cc", "fixtures/device/device.h"),
        ("model/nn/a.cc", "model/training/adamw.h"),
        ("model/accounting/a.h", "model/nn/linear.h"),
        ("model/accounting/a.h", "ATen/core/Tensor.h"),
        ("model/nn/a.cc", "benchmark/benchmark.h"),
        ("model/accounting/a.h", "absl/flags/flag.h"),
        ("model/nn/a.cc", "chrono"),
        ("model/nn/a.cc", "nlohmann/json.hpp"),
        ("model/distributed/comm/a.h", "model/distributed/ddp/bucket_plan.h"),
        ("fixtures/runner/a.cc", "fixtures/reporters/progress.h"),
        ("fixtures/timing/a.h", "fixtures/runner/counters.h"),
        ("fixtures/timing/a.h", "c10/core/Device.h"),
        ("fixtures/app/main.cc", "benchmarks/a/c.h"),
        ("benchmarks/a.cc", "fixtures/runner/counters.h"),
        ("benchmarks/a.cc", "benchmark/benchmark.h"),
        ("benchmarks/a.cc", "cuda_runtime_api.h"),
        ("benchmarks/a.cc", "benchmarks/a.h"),
        ("benchmarks/a.cc", "benchmarks/b/c.h"),
        ("benchmarks/a.cc", "benchmarks/ab/c.h"),
        ("benchmarks/a/c.cc", "benchmarks/b/c.h"),
        ("benchmarks/a/c.cc", "fixtures/device/device.h"),
        ("benchmarks/a/c.cc", "c10/cuda/CUDAStream.h"),
        ("benchmarks/a.cc", "c10/cuda/CUDAStream.h"),
        ("benchmarks/a.cc", "torch/csrc/autograd/profiler.h"),
        ("benchmarks/a.cc", "torch/cuda.h"),
        ("benchmarks/a.cc", "c10/util/ApproximateClock.h"),
        ("benchmarks/a.cc", "absl/log/log.h"),
        ("fixtures/reporters/a.cc", "model/spec/config.h"),
        ("fixtures/reporters/a.cc", "fixtures/device/device.h"),
        ("fixtures/reporters/a.cc", "torch/types.h"),
        ("tests/a_test.cc", "benchmarks/a.cc"),
        ("model/ops/a.cc", "benchmarks/a/c.h"),
        ("tools/planner/main.cc", "model/distributed/ddp/ddp.h"),
    ],
)
def test_an_arrow_in_the_wrong_direction(path: str, included: str) -> None:
    (error,) = checks.arrow_errors(path, f"#include <{included}>\n")
    assert error.startswith(f"{path} includes {included}")


def test_who_waits_for_ranks_reads_no_clock_either() -> None:
    text = "#include <chrono>\nauto now = std::chrono::steady_clock::now();\n"
    (error,) = checks.arrow_errors("model/distributed/ddp/a.cc", text)
    assert "includes chrono" in error


@pytest.mark.parametrize(
    ("path", "included"),
    [
        ("model/nn/a.cc", "torch/types.h"),
        ("model/nn/a.cc", "model/nn/linear.h"),
        ("model/distributed/ddp/a.cc", "chrono"),
        ("fixtures/device/a.cc", "model/spec/precision.h"),
        ("fixtures/app/program.cc", "fixtures/reporters/progress.h"),
        ("benchmarks/a.cc", "model/spec/config.h"),
        ("benchmarks/a.cc", "vector"),
        ("benchmarks/a.cc", "torch/types.h"),
        ("benchmarks/a.cc", "ATen/ops/gelu.h"),
        ("benchmarks/a.cc", "torch/autograd.h"),
        ("benchmarks/a.cc", "benchmarks/a/c.h"),
        ("benchmarks/a/b.cc", "benchmarks/a/c.h"),
        ("benchmarks/a/b.cc", "model/verification/inputs.h"),
        ("tests/benchmarks/a/b_test.cc", "benchmarks/a/b.h"),
        ("fixtures/reporters/a.cc", "benchmark/benchmark.h"),
        ("tests/a_test.cc", "fixtures/reporters/progress.h"),
    ],
)
def test_an_arrow_in_the_right_direction(path: str, included: str) -> None:
    assert checks.arrow_errors(path, f"#include <{included}>\n") == []


def test_a_kernel_reaches_torch_through_a_header() -> None:
    sources = {
        "model/k.cu": '#include "model/k.h"\n',
        "model/k.h": '#include "model/other.h"\n#include "model/k.h"\n',
        "model/other.h": "#include <ATen/core/Tensor.h>\n",
    }
    assert checks.kernel_errors("model/k.cu", sources.__getitem__) == [
        "model/k.cu reaches ATen/core/Tensor.h through model/other.h"
    ]
    sources["model/other.h"] = "#include <cstdint>\n"
    assert checks.kernel_errors("model/k.cu", sources.__getitem__) == []


def test_a_good_experiment() -> None:
    assert checks.experiment_errors("benchmarks/a.cc", EXPERIMENT) == []
    whole = EXPERIMENT.replace("REGISTER_F(Base, F,", "REGISTER(F,")
    whole = whole.replace("->Expect(", "->ExpectOnGpu(")
    assert checks.experiment_errors("benchmarks/a.cc", whole) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("// Question:", "// Why:", "// Question: "),
        ("// Expect:", "// Hope:", "// Expect: "),
        ("// Expect:", "\n// Expect:", "// Expect: "),
        ("<vector>", "<chrono>", "includes chrono"),
        ("<vector>", "<iostream>", "includes iostream"),
        ("  for", "  std::cout << 1;\n  for", "uses std::cout"),
        ("  for", "  cudaEventRecord(e);\n  for", "uses cudaEventRecord"),
        ("  for", "  printf(text);\n  for", "uses printf"),
        ("  for", "  c10::getTime();\n  for", "uses c10::getTime"),
        ("  for", "  at::cuda::warp_size();\n  for", "uses at::cuda::warp_size"),
        ("  for", "  std::ofstream f;\n  for", "uses std::ofstream"),
        ("  for", "  torch::save(x, name);\n  for", "uses torch::save"),
        ("  for", "  TORCH_WARN(x);\n  for", "uses TORCH_WARN"),
        ("  for", "  benchmark::State& s;\n  for", "uses benchmark::State"),
        ("TRAINBENCH_REGISTER_F(", "Register(", "registers nothing"),
        ("->Expect(", "->Hope(", "states no Expect()"),
        ("for (auto _ : state)", "while (true)", "has no 'for (auto _ : state)'"),
    ],
)
def test_a_bad_experiment(old: str, new: str, message: str) -> None:
    text = EXPERIMENT.replace(old, new, 1)
    (error,) = checks.experiment_errors("benchmarks/a.cc", text)
    assert message in error


def test_an_experiment_is_no_header() -> None:
    assert checks.experiment_errors("benchmarks/a.h", EXPERIMENT) != []


def test_an_operation_beside_an_experiment_does_not_measure_either() -> None:
    path = "benchmarks/a/b.h"
    assert checks.measuring_errors(path, "#include <vector>\nint count;\n") == []
    (error,) = checks.measuring_errors(path, "#include <fstream>\n// std::cout\n")
    assert error.startswith(f"{path} includes fstream")


def test_guards() -> None:
    assert checks.guard_errors("model/a_b.h", HEADER) == []
    assert checks.guard_errors("model/a/b.h", HEADER) == []
    assert checks.guard_errors("model/other.h", HEADER) != []
    assert (
        checks.guard_errors("model/a_b.h", HEADER.replace("#endif  //", "#endif")) != []
    )
    assert checks.guard_errors("model/a_b.h", "#pragma once\n") != []


def test_first_includes() -> None:
    own = '#include "model/a.h"\n'
    assert checks.first_include_errors("model/a.cc", own + "#include <map>\n") == []
    assert checks.first_include_errors("model/a.cc", "#include <map>\n" + own) != []
    assert checks.first_include_errors("model/b.cc", own) != []


def test_licenses() -> None:
    assert checks.license_errors("a.h", HEADER) == []
    assert checks.license_errors("a.h", "\n" + HEADER) != []
    assert checks.license_errors("a.h", HEADER.replace("MIT", "BSD")) != []
    assert checks.license_errors("a.py", HEADER) != []
    assert checks.license_errors("a.sh", f"#!/bin/sh\n# {checks.SPDX}\n") == []
    assert checks.license_errors("a.sh", "#!/bin/sh\n") != []
    assert checks.license_errors("a.sh", "") != []


def test_paths_in_documents() -> None:
    text = """See [how](CONTRIBUTING.md#here), [site](https://example.com/tools/x),
`model/spec/config.h`, `tools/bench --flag`, `results/<name>.json`, `accounting/`,
`timer.h` and `benchmarks`.
```
tools/setup   # a comment
LD_LIBRARY_PATH=x build/benchmarks/y
```
"""
    ours = ["model/spec/config.h", "tools/bench"]
    assert checks.paths_in(text) == ["CONTRIBUTING.md", *ours, "timer.h", "tools/setup"]
    beside = ["reports/CONTRIBUTING.md", *ours, "reports/timer.h", "tools/setup"]
    assert checks.paths_in(text, "reports") == beside
    assert checks.missing_paths(text, lambda path: path != "tools/setup") == [
        "tools/setup"
    ]


def test_libraries() -> None:
    needed = checks.needed_libraries(
        " 0x01 (NEEDED)   Shared library: [libtorch_cuda.so]\n"
        " 0x01 (NEEDED)   Shared library: [libcuda.so.1]\n"
        " 0x1d (RUNPATH)  Library runpath: [/usr/lib]\n"
    )
    assert needed == ["libtorch_cuda.so", "libcuda.so.1"]
    assert checks.driver_libraries(needed) == ["libcuda.so.1"]
    assert checks.driver_libraries(["libcudart.so.13", "libtorch_cuda.so"]) == []


def test_a_checklist_names_its_tests() -> None:
    table = (
        "| | a | tests |\n|---|---|---|\n| 1 | `x` | `A.B`, `t.py::c` |\n| 12 | y | |\n"
    )
    assert checks.checklist_tests(table) == {1: ["A.B", "t.py::c"], 12: []}


def test_tests_are_found_by_their_names() -> None:
    cpp = "TEST(ATest, One) {\nTEST_F(\n    BTest, Two) {\n  TEST(CTest, No) {\n"
    assert checks.tests_in("tests/a_test.cc", cpp) == ["ATest.One", "BTest.Two"]
    python = "def test_one() -> None:\ndef helper() -> None:\n"
    assert checks.tests_in("tests/b/test_a.py", python) == ["test_a.py::test_one"]
