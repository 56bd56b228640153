# SPDX-License-Identifier: MIT
# trainbench_unity(<target>): compiles the sources of a folder as one, since LibTorch's
# headers and templates cost seconds in each. Names in the anonymous namespaces of a
# folder therefore differ.
function(trainbench_unity target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD "${TRAINBENCH_UNITY}"
                                             UNITY_BUILD_MODE GROUP)
endfunction()
