#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs what tools/pack-gpu packed, with the LibTorch of a Python.
#
#   ./run.sh --suite=smoke --device=cuda    the program; all flags go to it
#   ./run.sh tests                          the tests that need a GPU
#
# PYTHON=... is the Python that has torch; python3 by default.
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)

fail() {
  printf 'run.sh: %s\n' "$1" >&2
  exit 3
}

version_in() { sed -n "s/^__version__ = '\(.*\)'$/\1/p" -- "$1"; }

# torch is found, not imported, which would take seconds.
python=${PYTHON:-python3}
torch=$("$python" -c '
import importlib.util
print(importlib.util.find_spec("torch").submodule_search_locations[0])' 2>/dev/null) ||
  fail "$python has no torch; set PYTHON to one that has torch $(version_in "$here/torch_version.py")"
[[ $(version_in "$torch/version.py") == $(version_in "$here/torch_version.py") ]] ||
  fail "$python has torch $(version_in "$torch/version.py"); this was built with $(version_in "$here/torch_version.py")"

# LibTorch finds CUDA's libraries itself; the program is linked against some, too.
path=$here/lib:$torch/lib
for folder in "$torch"/../nvidia/*/lib; do
  [[ ! -d $folder ]] || path+=:$(readlink -f -- "$folder")
done
export LD_LIBRARY_PATH=$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

[[ ${1:-} == tests ]] || exec "$here/bin/trainbench" "$@"
shift
status=0
for test in "$here"/bin/*_test; do
  "$test" --gtest_filter='Cuda*:*/Cuda*' "$@" || status=$?
done
exit "$status"
