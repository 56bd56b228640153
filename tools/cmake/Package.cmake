# The package for find_package(trainbench) in other repositories, from an installed
# prefix or from this build tree: trainbench_add_benchmarks() (trainbench-config.cmake).
#
# There is none if a dependency is built from pinned sources: those install nothing.
foreach(dependency IN ITEMS absl::strings benchmark::benchmark nlohmann_json::nlohmann_json)
  get_target_property(is_imported ${dependency} IMPORTED)
  if(NOT is_imported)
    message(STATUS "trainbench: no package, ${dependency} is built from source")
    return()
  endif()
endforeach()
include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/trainbench")
set(targets trainbench_options trainbench_spec trainbench_accounting trainbench_model
            trainbench_operations trainbench_base trainbench_core trainbench_reporters
            trainbench_fixtures trainbench_main)
if(TRAINBENCH_CUDA)
  list(APPEND targets trainbench_kernels trainbench_fixture_kernels)
endif()
install(TARGETS ${targets} EXPORT trainbench COMPONENT dev
        OBJECTS DESTINATION "${CMAKE_INSTALL_LIBDIR}/trainbench"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS trainbench COMPONENT runtime)
foreach(room IN ITEMS benchmarks fixtures model)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}/" COMPONENT dev
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trainbench/${room}"
          FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endforeach()
# The tools that read and compare results, and two commits of another repository's
# experiments: <prefix>/share/trainbench/tools/compare, with the caller's Python.
set(share "${CMAKE_INSTALL_DATADIR}/trainbench")
foreach(room IN ITEMS reports tools/ab_run)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}/" COMPONENT tools
          DESTINATION "${share}/${room}"
          FILES_MATCHING PATTERN "*.py" PATTERN "*.jinja" PATTERN "*.css"
          PATTERN reference EXCLUDE PATTERN __pycache__ EXCLUDE)
endforeach()
foreach(command IN ITEMS ab advise answers compare report)
  install(PROGRAMS "${PROJECT_SOURCE_DIR}/tools/${command}" COMPONENT tools
          DESTINATION "${share}/tools")
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/tools/lib/common.sh" COMPONENT tools
        DESTINATION "${share}/tools/lib")
install(FILES "${PROJECT_SOURCE_DIR}/fixtures/counters.md" COMPONENT tools
        DESTINATION "${share}/fixtures")

configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/trainbench-config.cmake.in"
               "${PROJECT_BINARY_DIR}/trainbench-config.cmake" @ONLY)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/trainbench-config-version.cmake" COMPATIBILITY SameMinorVersion)
set(scripts "${PROJECT_SOURCE_DIR}/tools/cmake/CudaToolkit.cmake"
            "${PROJECT_SOURCE_DIR}/tools/cmake/LibTorch.cmake"
            "${PROJECT_SOURCE_DIR}/tools/cmake/ExperimentTexts.cmake"
            "${PROJECT_SOURCE_DIR}/tools/cmake/GitRevision.cmake")
install(FILES "${PROJECT_BINARY_DIR}/trainbench-config.cmake"
              "${PROJECT_BINARY_DIR}/trainbench-config-version.cmake" ${scripts}
        DESTINATION "${package}" COMPONENT dev)
install(EXPORT trainbench FILE trainbench-targets.cmake DESTINATION "${package}"
        COMPONENT dev)
foreach(script IN LISTS scripts)
  configure_file("${script}" "${PROJECT_BINARY_DIR}" COPYONLY)
endforeach()
export(EXPORT trainbench FILE "${PROJECT_BINARY_DIR}/trainbench-targets.cmake")
