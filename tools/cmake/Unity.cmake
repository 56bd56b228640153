# SPDX-License-Identifier: MIT
# trainbench_unity(<target> [<folder>...]): compiles the sources of a target as one, since
# LibTorch's headers and templates cost seconds in each. The sources below each folder
# that is named are one of their own, so that two cores have work. Names in the anonymous
# namespaces of a target therefore differ. A source with SKIP_UNITY_BUILD_INCLUSION stays
# alone.
#
# CMake's own UNITY_BUILD names files by absolute paths, which a compiler cache would
# not find again in another checkout.
function(trainbench_unity target)
  if(NOT TRAINBENCH_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(alone "")
  set(groups rest ${ARGN})
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source)
    get_source_file_property(skip "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(skip)
      list(APPEND alone "${source}")
      continue()
    endif()
    set(group rest)
    foreach(folder IN LISTS ARGN)
      cmake_path(ABSOLUTE_PATH folder OUTPUT_VARIABLE path)
      cmake_path(IS_PREFIX path "${source}" below)
      if(below)
        set(group "${folder}")
      endif()
    endforeach()
    file(RELATIVE_PATH include "${CMAKE_SOURCE_DIR}" "${source}")
    string(APPEND text_${group} "#include \"${include}\"\n")
  endforeach()
  foreach(group IN LISTS groups)
    if(DEFINED text_${group})
      string(MAKE_C_IDENTIFIER "${target}_${group}" name)
      set(unity "${CMAKE_CURRENT_BINARY_DIR}/unity/${name}.cc")
      file(CONFIGURE OUTPUT "${unity}" CONTENT "${text_${group}}" @ONLY)
      list(APPEND alone "${unity}")
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${alone})
endfunction()
