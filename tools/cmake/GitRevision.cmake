# The revision that a program was built from, as fixtures/app/git_revision.h declares
# it. Every build looks it up, since a commit does not make CMake run again. As a
# script (cmake -P) this file writes ${OUTPUT} for the checkout ${SOURCE_DIR}, but only
# if the content changes, so that an unchanged revision compiles nothing.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(ENV{GIT_CEILING_DIRECTORIES} "${CEILING}")
  execute_process(
    COMMAND git rev-parse --verify HEAD
    WORKING_DIRECTORY "${SOURCE_DIR}"
    OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE status)
  set(dirty false)
  if(NOT status EQUAL 0)
    set(revision unknown)
  else()
    execute_process(
      COMMAND git --no-optional-locks status --porcelain
      WORKING_DIRECTORY "${SOURCE_DIR}"
      OUTPUT_VARIABLE changes ERROR_QUIET)
    if(changes)
      set(dirty true)
    endif()
  endif()
  file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#include "fixtures/app/git_revision.h"

namespace trainbench {

const char kGitRevision[] = "@revision@";
const bool kGitDirty = @dirty@;

}  // namespace trainbench
]])
  return()
endif()

set(TRAINBENCH_GIT_REVISION_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

# Adds the generated source to `target`, with the revision of the calling project. The
# folder `ceiling`, if given, and those above it are not searched for its repository.
function(trainbench_add_git_revision target)
  set(ceiling "${ARGN}")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_git_revision.cc")
  add_custom_target(
    ${target}_git_revision
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${output}"
            "-DCEILING=${ceiling}" -P "${TRAINBENCH_GIT_REVISION_SCRIPT}"
    BYPRODUCTS "${output}"
    COMMENT "Looking up the git revision"
    VERBATIM)
  # Without the precompiled header, a build after a commit does not have to build that
  # header, and this file includes nothing large.
  set_source_files_properties("${output}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE "${output}")
  add_dependencies(${target} ${target}_git_revision)
endfunction()
