# Who profits from the precompiled header of LibTorch. Every file that is compiled
# with it pays some 3 s for templates which it leaves to be instantiated, so that
# what needs no LibTorch is faster without. Read when CMake runs: a file that has
# changed since compiles all the same.

# Sets `result` to whether `file` has an include that matches `regex`, itself or
# through our own headers.
function(trainbench_includes result file regex)
  set(seen "${file}")
  set(left "${file}")
  set(${result} FALSE PARENT_SCOPE)
  while(left)
    list(POP_FRONT left current)
    file(STRINGS "${current}" lines REGEX "^#include [<\"]")
    foreach(line IN LISTS lines)
      if(line MATCHES "${regex}")
        set(${result} TRUE PARENT_SCOPE)
        return()
      endif()
      string(REGEX REPLACE "^#include \"(.+)\".*" "${CMAKE_SOURCE_DIR}/\\1" header
                           "${line}")
      if(EXISTS "${header}" AND NOT header IN_LIST seen)
        list(APPEND seen "${header}")
        list(APPEND left "${header}")
      endif()
    endforeach()
  endwhile()
endfunction()

# Compiles the sources of `target` that need no LibTorch without the header.
function(trainbench_spare_precompiled_header target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    trainbench_includes(torch "${source}" "<(torch|ATen|c10)/")
    if(NOT torch)
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
