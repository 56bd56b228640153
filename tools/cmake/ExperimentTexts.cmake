# The questions and expectations of the experiments, as fixtures/app/help.h declares
# them, taken from the comments at the head of their files, so that --list prints the
# text of the source. As a script (cmake -P) this file writes ${OUTPUT} from the
# sources in ${FILES}, separated by '|'.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  string(REPLACE "|" ";" files "${FILES}")
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    file(READ "${file}" text)
    if(NOT text MATCHES
       "// Question: ([^\r]*)\n// Expect: ([^\n]*(\n//[^\n]*)*)")
      continue()
    endif()
    set(expect "${CMAKE_MATCH_2}")
    # A CMake list of lines would break at semicolons.
    string(REGEX REPLACE "\n// *" " " question "${CMAKE_MATCH_1}")
    string(REGEX REPLACE "\n// *" " " expect "${expect}")
    string(APPEND entries "    {\"${name}\", R\"text(${question})text\",\n"
                          "     R\"text(${expect})text\"},\n")
  endforeach()
  file(WRITE "${OUTPUT}" "#include \"fixtures/app/help.h\"\n\n"
       "namespace trainbench {\n\n"
       "const std::vector<ExperimentText> kExperimentTexts = {\n${entries}};\n\n"
       "}  // namespace trainbench\n")
  return()
endif()

set(TRAINBENCH_EXPERIMENT_TEXTS_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

# Adds the generated source to the executable `target`. The arguments after it are
# the source files of its experiments.
function(trainbench_add_experiment_texts target)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_experiment_texts.cc")
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFILES=${files}"
            -P "${TRAINBENCH_EXPERIMENT_TEXTS_SCRIPT}"
    DEPENDS ${ARGN} "${TRAINBENCH_EXPERIMENT_TEXTS_SCRIPT}"
    COMMENT "Collecting the questions of ${target}"
    VERBATIM)
  # Ninja lets every object of `target` wait for the source, and the source for what all
  # targets that contain it depend on: the libraries of `target`, without this one.
  add_custom_target(${target}_experiment_texts DEPENDS "${output}")
  # LibTorch's precompiled header is not needed and would take longer than the rest.
  set_source_files_properties("${output}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE "${output}")
endfunction()
