# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Functions that the scripts of tools/ share, and `root`, the checkout. Their messages go
# to standard error: standard output belongs to the program.
root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd -P)

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE [LOG]: prints the end of the log and the message, and exits with
# status 3, which no program of this suite uses.
fail() {
  if [[ -n ${2:-} && -s $2 ]]; then
    say "--- the end of $2:"
    tail -n 30 -- "$2" >&2
    say "---"
  fi
  say "tools/${0##*/}: $1"
  exit 3
}

# usage ARGUMENT: prints the comment at the head of the script. Exit status 2 unless
# the argument is --help or -h.
usage() {
  local status=0
  if [[ $1 != --help && $1 != -h ]]; then
    say "tools/${0##*/}: '$1' is not understood"
    status=2
  fi
  sed -n '3,/^set/s/^# \{0,1\}//p' -- "$0" >&2
  exit "$status"
}

# wants_help ARGUMENT...: whether one asks for help.
wants_help() { [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; }

# folder PATH: creates it if it does not exist.
folder() {
  if ! mkdir -p -- "$1" 2>/dev/null || [[ ! -w $1 ]]; then
    fail "cannot write to $1"
  fi
}

# empty FILE: makes it empty.
empty() { { : >"$1"; } 2>/dev/null || fail "cannot write $1"; }

# lock NAME: waits for other calls that work on the same thing in this checkout.
lock() {
  folder "$root/build"
  empty "$root/build/.$1.lock"
  exec 9>"$root/build/.$1.lock"
  command -v flock >/dev/null || return 0
  flock --nonblock 9 && return
  say "waiting for another call that is busy with $1 ..."
  flock 9
}

# installed: whether this is an installed copy (tools/cmake/Package.cmake), without .venv.
installed() { [[ ! -f $root/CMakePresets.json ]]; }

# set_up: makes this checkout ready; an installed copy uses the caller's Python.
set_up() { installed || "$root/tools/setup" --if-needed; }

# git_here ARGUMENT...: git in this checkout. A source tree inside another repository must
# not use the outer one.
git_here() {
  GIT_CEILING_DIRECTORIES=${root%/*} git -C "$root" --no-optional-locks "$@" 2>/dev/null
}

# Bytecode goes to build/ instead of the source folders, even if the user disables it,
# since loading scipy without it takes seconds.
readonly bytecode=("PYTHONPYCACHEPREFIX=$root/build/pycache" PYTHONDONTWRITEBYTECODE=)

# The command that runs our modules, which are never searched in the current folder.
if installed; then
  python_module=(PYTHONDONTWRITEBYTECODE=1 python3 -m)
else
  python_module=("${bytecode[@]}" "$root/.venv/bin/python" -m)
fi
readonly python_module=(env PYTHONSAFEPATH=1 "PYTHONPATH=$root" "${python_module[@]}")

# run_python MODULE ARGUMENT...: replaces this script by the module's main.
run_python() { exec "${python_module[@]}" reports.command "tools/${0##*/}" "$@"; }

# build_jobs: one compiler per core, or fewer, since each may need 2 GiB.
build_jobs() {
  local cores memory=1
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo) || :
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}

# configure PRESET: runs CMake if needed. CMake itself detects every change, but not to
# the preset or to the compilers: another LibTorch may come with its own nvcc.
configure() {
  local ninja=$root/build/$1/build.ninja log=$root/build/$1.log restart=()
  [[ ! $root/.venv/.trainbench-stamp -nt $ninja ]] || restart=(--fresh)
  ((${#restart[@]})) || [[ ! -f $ninja || $root/CMakePresets.json -nt $ninja ]] || return 0
  say "configuring $1 ..."
  empty "$log"
  (cd "$root" && cmake --preset "$1" "${restart[@]}") >"$log" 2>&1 </dev/null ||
    fail "cmake --preset $1 failed" "$log"
}

# build PRESET [FLAG...]: configures if needed and builds, quietly unless it fails.
# Flags go to `cmake --build`.
build() {
  local preset=$1
  shift
  local log=$root/build/$preset.log
  lock "$preset"
  configure "$preset"
  local command=(cmake --build --preset "$preset"
    --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(build_jobs)}" "$@")
  if [[ -t 2 ]]; then
    (cd "$root" && "${command[@]}") >&2 </dev/null ||
      fail "the build of $preset failed"
  else
    say "building $preset ..."
    empty "$log"
    (cd "$root" && "${command[@]}") >"$log" 2>&1 </dev/null ||
      fail "the build of $preset failed" "$log"
  fi
  exec 9>&- # unlocks
}

# build_null_gpu PRESET: builds the null GPU; PRESET is configured.
build_null_gpu() {
  grep --quiet '^build null_gpu:' "$root/build/$1/build.ninja" ||
    fail "the null GPU is built from CUDA's headers, which are not here; TRAINBENCH_TORCH=full tools/setup brings them"
  build "$1" --target null_gpu null_gpu_driver
}
