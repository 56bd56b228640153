# Everything that must be equal in all of our translation units: the language
# standard, the warnings and the sanitizers. Targets share the precompiled header,
# and a different flag would silently disable it.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The work is done inside LibTorch: more than -Og would gain nothing except in model/,
# which has its own kernels, and optimization takes a third of a build.
set(CMAKE_CXX_FLAGS_RELEASE "-Og -DNDEBUG")

include(GNUInstallDirs)
add_library(trainbench_options INTERFACE)
target_compile_features(trainbench_options INTERFACE cxx_std_20)
target_include_directories(
  trainbench_options
  INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
            "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/trainbench>")
# Warnings are for this project: an installed package has none.
target_compile_options(
  trainbench_options
  INTERFACE
    "$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;-Werror>>"
    # g++ 12 wrongly reports a null dereference inside std::string and, at -Og or in
    # instrumented code, uninitialized values.
    "$<BUILD_INTERFACE:$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict;-Wno-maybe-uninitialized>>"
    # Lets g++ use a gigabyte before it collects garbage, which with LibTorch's headers
    # would take a seventh of its time.
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1000000>")
if(TRAINBENCH_SANITIZE)
  target_compile_options(
    trainbench_options
    INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TRAINBENCH_SANITIZE};-fno-omit-frame-pointer>")
  target_link_options(trainbench_options INTERFACE
                      "-fsanitize=${TRAINBENCH_SANITIZE}")
  # g++ 12 warns about fences that ThreadSanitizer does not support, as in Abseil's flags.
  target_compile_options(
    trainbench_options
    INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>")
endif()
