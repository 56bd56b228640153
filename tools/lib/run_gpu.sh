#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs the programs that tools/pack-gpu packed, with the LibTorch of a Python.
#
#   ./run.sh --suite=smoke --device=cuda    the program; all flags go to it
#   ./run.sh prove --into=DIR               the whole proof on this GPU; see --help
#   ./run.sh prove --into=DIR --stages=1,2,9    only the tests that need a GPU
#   ./run.sh --any-torch ...                even with a LibTorch of another version
#
# PYTHON=... is the Python that has torch; python3 by default.
set -euo pipefail
here=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)

say() { printf 'run.sh: %s\n' "$1" >&2; }

fail() {
  say "$1"
  exit 3
}

shopt -s extglob nullglob
any_torch=0
[[ ${1:-} != --any-torch ]] || { any_torch=1 && shift; }

version_in() { sed -n "s/^__version__ = '\(.*\)'$/\1/p" -- "$1"; }

# "2.11.0+cu130" as "2.11+cu130": versions with the same interface.
interface() {
  local version=${1%%+*}
  echo "${version%.*}${1#"$version"}"
}

# torch is only located: importing it would take seconds.
built=$(version_in "$here/torch_version.py")
python=${PYTHON:-python3}
torch=$("$python" -c '
import importlib.util
print(importlib.util.find_spec("torch").submodule_search_locations[0])' 2>/dev/null) ||
  fail "$python has no torch; set PYTHON to one that has torch $built"
found=$(version_in "$torch/version.py")
if [[ $found != "$built" ]]; then
  differs="$python has torch $found; this was built with $built"
  [[ $any_torch == 1 || $(interface "$found") == "$(interface "$built")" ]] ||
    fail "$differs; --any-torch, as the first flag, tries anyway"
  say "$differs"
fi

# They are compressed for the transfer.
packed=("$here"/{bin,lib}/*.gz)
((${#packed[@]} == 0)) || gunzip --force -- "${packed[@]}"

# LibTorch finds CUDA's libraries itself, but the program also links against some.
path=$here/lib:$torch/lib
for folder in "$torch"/../nvidia/*/lib; do
  [[ ! -d $folder ]] || path+=:$(readlink -f -- "$folder")
done
export LD_LIBRARY_PATH=$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

[[ ${1:-} == prove ]] || exec "$here/bin/trainbench" "$@"
shift
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "the proof needs Python 3.11 or later; $python is $("$python" --version)"
# A folder `tools` in the current folder must not be imported.
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH} PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1 \
  exec "$python" -m tools.prove "--pack=$here" "$@"
