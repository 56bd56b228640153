# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Makes the packages of tools/export_aoti that rows of `compiled` lack. Needs common.sh.

# make_package FLAGS: compiles a package. Returns 255 if the user interrupts it.
# shellcheck disable=SC2329 # xargs invokes it
make_package() {
  local log=$packages/${1//[^A-Za-z0-9=._-]/}.log status=0
  say "compiling ahead of time, once, about a minute: $1"
  # shellcheck disable=SC2086 # these flags have no spaces
  "$root/tools/export_aoti" $1 "--out=$packages" >"$log" 2>&1 || status=$?
  [[ $status != 130 && $status != 143 ]] || return 255
  ((status == 0)) || {
    ((status > 128)) || echo "$1" >>"$packages/failed" # killed, e.g. for its memory
    say "it failed (see $log), and its row will be skipped"
  }
}

# make_packages PROGRAM FOLDER FLAG...: makes in the folder what rows of the program with
# these flags lack, with the commands that they name. A failed one is not retried while
# FOLDER/failed lists it.
make_packages() {
  local trainbench=$1 packages=$2 lacking status=0
  shift 2
  mapfile -t lacking < <("$trainbench" "--aoti=$packages" "$@" --list_unavailable 2>/dev/null |
    sed -n 's/.*; make it with: tools\/export_aoti \(.*\) --out=.*/\1/p' | sort -u |
    grep -vxFf <(cat "$packages/failed" 2>/dev/null))
  ((${#lacking[@]})) || return 0
  folder "$packages"
  export root packages
  export -f say make_package
  # shellcheck disable=SC2016 # the inner shell expands it
  printf '%s\0' "${lacking[@]}" | xargs --null --max-args=1 "--max-procs=$(build_jobs)" \
    bash -c 'make_package "$1"' - || status=$?
  ((status != 124)) || exit 130 # a child ended with 255
}
