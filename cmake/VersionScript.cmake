# write_version_script(): a library exports the functions of its table, and nothing else.

# Writes the version script of the functions in rows of the table TABLE (cudart.def, nvml.def ...): rows
# that the regular expression ROWS matches; a function's name is a row's last argument. VERSION names
# the version of the symbols, by default none. MORE lists further symbols; in it, @ stands for each function.
function(write_version_script file)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TABLE;ROWS;VERSION" "MORE")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_TABLE})
  file(STRINGS ${arg_TABLE} rows REGEX ${arg_ROWS})
  set(names "")
  foreach(row IN LISTS rows)
    string(REGEX REPLACE "^.*[( ]([a-zA-Z0-9_]+)\\)$" "\\1" name "${row}")
    list(TRANSFORM arg_MORE REPLACE "@" "${name}" OUTPUT_VARIABLE more)
    list(APPEND names ${name} ${more})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(JOIN names "; " names)
  file(CONFIGURE OUTPUT ${file} CONTENT "${arg_VERSION} {\n  global: ${names};\n  local: *;\n};\n")
endfunction()
