# Compiles through ccache if it is installed; a preset cannot test for it.
# ccache requires the sloppiness settings before it accepts a precompiled header, and
# -fpch-preprocess makes g++ name the header that it used. Paths below the checkout are
# hashed relative to it, so that checkouts share the cache. The inode cache saves
# hashing a precompiled header of 500 MB, which takes a second, for each file.
find_program(TRAINBENCH_CCACHE ccache)
mark_as_advanced(TRAINBENCH_CCACHE)
if(TRAINBENCH_CCACHE)
  set(ccache_launcher "${CMAKE_COMMAND}" -E env
                      CCACHE_SLOPPINESS=pch_defines,time_macros
                      "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}" CCACHE_NOHASHDIR=1
                      CCACHE_INODECACHE=1
                      "${TRAINBENCH_CCACHE}")
  foreach(language CXX CUDA)
    if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER "${ccache_launcher}")
    endif()
  endforeach()
  add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>")
endif()
