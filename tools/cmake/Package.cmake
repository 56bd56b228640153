# What other repositories get by find_package(trainbench), from an installed prefix or
# from this build tree: trainbench_add_benchmarks() (trainbench-config.cmake).
#
# Nothing where a dependency is built from pinned sources: those install nothing.
get_target_property(trainbench_is_imported benchmark::benchmark IMPORTED)
if(NOT trainbench_is_imported)
  return()
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/trainbench")
set(targets trainbench_options trainbench_spec trainbench_accounting trainbench_model
            trainbench_operations trainbench_base trainbench_core trainbench_reports
            trainbench_fixtures trainbench_main)
if(TRAINBENCH_CUDA)
  list(APPEND targets trainbench_kernels trainbench_fixture_kernels)
endif()
install(TARGETS ${targets} EXPORT trainbench COMPONENT dev
        OBJECTS DESTINATION "${CMAKE_INSTALL_LIBDIR}/trainbench"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(TARGETS trainbench COMPONENT runtime)
foreach(room IN ITEMS benchmarks fixtures model reports/live)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/${room}/" COMPONENT dev
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/trainbench/${room}"
          FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
endforeach()

configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/trainbench-config.cmake.in"
               "${PROJECT_BINARY_DIR}/trainbench-config.cmake" @ONLY)
set(scripts "${PROJECT_SOURCE_DIR}/tools/cmake/LibTorch.cmake"
            "${PROJECT_SOURCE_DIR}/tools/cmake/ExperimentTexts.cmake"
            "${PROJECT_SOURCE_DIR}/tools/cmake/GitRevision.cmake")
install(FILES "${PROJECT_BINARY_DIR}/trainbench-config.cmake" ${scripts}
        DESTINATION "${package}" COMPONENT dev)
install(EXPORT trainbench FILE trainbench-targets.cmake DESTINATION "${package}"
        COMPONENT dev)
foreach(script IN LISTS scripts)
  configure_file("${script}" "${PROJECT_BINARY_DIR}" COPYONLY)
endforeach()
export(EXPORT trainbench FILE "${PROJECT_BINARY_DIR}/trainbench-targets.cmake")
