# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the scripts of tools/ share. Everything that they say goes to standard
# error: standard output belongs to the program.
: "${root:?the caller sets it to the checkout}"

say() { printf '%s\n' "$*" >&2; }

# fail MESSAGE [LOG]: the end of the log, then one line, and exit status 3, which
# no program of this suite uses.
fail() {
  if [[ -n ${2:-} && -s $2 ]]; then
    say "--- the end of $2:"
    tail -n 30 -- "$2" >&2
    say "---"
  fi
  say "tools/${0##*/}: $1"
  exit 3
}

# usage ARGUMENT: the comment at the head of the script. Exit status 2 unless the
# argument asks for it.
usage() {
  local status=0
  if [[ $1 != --help && $1 != -h ]]; then
    say "tools/${0##*/}: '$1' is not understood"
    status=2
  fi
  sed -n '3,/^set/s/^# \{0,1\}//p' -- "$0" >&2
  exit "$status"
}

# folder PATH: makes it unless it is there.
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

unlock() { exec 9>&-; }

# What is installed (tools/cmake/Package.cmake) has no environment of its own.
installed() { [[ ! -f $root/CMakePresets.json ]]; }

# set_up: makes this checkout ready; what is installed takes the caller's Python.
set_up() { installed || "$root/tools/setup" --if-needed; }

# What runs a module of ours: bytecode lies in build/, not beside the sources, even if
# the user wants none: without any, to load scipy takes seconds each time.
# No module of ours or of Python's is looked for where the user happens to be.
if installed; then
  python_module=(PYTHONDONTWRITEBYTECODE=1 python3 -m)
else
  python_module=("PYTHONPYCACHEPREFIX=$root/build/pycache" PYTHONDONTWRITEBYTECODE=
    "$root/.venv/bin/python" -m)
fi
readonly python_module=(env PYTHONSAFEPATH=1 "PYTHONPATH=$root" "${python_module[@]}")

# run_python MODULE ARGUMENT...: its main, in place of this script.
run_python() { exec "${python_module[@]}" reports.command "tools/${0##*/}" "$@"; }

# One compiler per core, but each may need 2 GB.
build_jobs() {
  local cores memory=1
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo) || :
  ((memory >= 1)) || memory=1
  echo $((cores < memory ? cores : memory))
}

# configure PRESET: unless that was done. CMake itself sees every change but one of the
# preset, and one of the compilers: another LibTorch may bring its own nvcc.
configure() {
  local ninja=$root/build/$1/build.ninja log=$root/build/$1.log restart=()
  [[ ! $root/.venv/.trainbench-stamp -nt $ninja ]] || restart=(--fresh)
  ((${#restart[@]})) || [[ ! -f $ninja || $root/CMakePresets.json -nt $ninja ]] || return 0
  say "configuring $1 ..."
  empty "$log"
  (cd "$root" && cmake --preset "$1" "${restart[@]}") >"$log" 2>&1 </dev/null ||
    fail "cmake --preset $1 failed" "$log"
}

# build PRESET [FLAG...]: configures if need be and builds, quietly unless it
# fails. Flags go to `cmake --build`.
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
  unlock
}
