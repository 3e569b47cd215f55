# link_package.cmake -- make in the folder TO a link to each file of FROM, and remove old links.
# Run as a script at each build: cmake -DFROM=... -DTO=... [-DLIBRARIES=path,path] -P link_package.cmake
# LIBRARIES are further files for links in the folder, separated by commas.

cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE wanted RELATIVE ${FROM} ${FROM}/*)
list(FILTER wanted EXCLUDE REGEX "__pycache__|\\.so$")
foreach(file IN LISTS wanted)
  set(target_${file} ${FROM}/${file})
endforeach()
string(REPLACE "," ";" LIBRARIES "${LIBRARIES}")
foreach(library IN LISTS LIBRARIES)
  get_filename_component(file ${library} NAME)
  list(APPEND wanted ${file})
  set(target_${file} ${library})
endforeach()
file(MAKE_DIRECTORY ${TO})

file(GLOB_RECURSE present RELATIVE ${TO} ${TO}/*)
foreach(file IN LISTS present)
  if(IS_SYMLINK ${TO}/${file} AND NOT file IN_LIST wanted)
    file(REMOVE ${TO}/${file})
  endif()
endforeach()

foreach(file IN LISTS wanted)
  if(NOT IS_SYMLINK ${TO}/${file})
    get_filename_component(folder ${TO}/${file} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${target_${file}} ${TO}/${file} SYMBOLIC)
  endif()
endforeach()
