# Everything that must be equal in all of our translation units: the language
# standard, the warnings and the sanitizers. The precompiled header is shared
# between targets, so a flag that differs would silently disable it.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The work is done inside LibTorch: more than -O1 would buy nothing outside model/,
# which has kernels of its own, and a third of a build is optimization.
set(CMAKE_CXX_FLAGS_RELEASE "-Og -DNDEBUG")

add_library(trainbench_options INTERFACE)
target_include_directories(trainbench_options INTERFACE "${CMAKE_SOURCE_DIR}")
target_compile_options(
  trainbench_options
  INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;-Werror>"
    # g++ 12 reports a null dereference inside std::string that is not there.
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>")
if(TRAINBENCH_SANITIZE)
  target_compile_options(
    trainbench_options
    INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TRAINBENCH_SANITIZE};-fno-omit-frame-pointer>")
  target_link_options(trainbench_options INTERFACE
                      "-fsanitize=${TRAINBENCH_SANITIZE}")
  # In instrumented code g++ 12 reports uninitialized values that are not there, and
  # fences, such as the one in Abseil's flags, that ThreadSanitizer does not see.
  target_compile_options(
    trainbench_options
    INTERFACE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized;-Wno-tsan>")
endif()
