# OldGlibc.cmake -- libraries that run with an older glibc than this machine's, for wheels.
#
#   PYCUDA_GLIBC                the oldest version that wheels must run with
#   link_for_old_glibc(TARGET)  links a shared library this way
#
# The objects are those of every build. Only the link differs: it uses stubs that have
# only the functions of the older glibc (make_stubs.py), the functions that are missing there
# (newer_functions.cpp), and a static libstdc++.

set(PYCUDA_GLIBC 2.27 CACHE STRING "Oldest glibc that wheels must run with")

set(_folder ${CMAKE_CURRENT_LIST_DIR}/old_glibc)
set(_stubs ${CMAKE_BINARY_DIR}/glibc-${PYCUDA_GLIBC})
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter)
add_custom_command(OUTPUT ${_stubs}/libc.so
  COMMAND ${Python_EXECUTABLE} ${_folder}/make_stubs.py ${PYCUDA_GLIBC} ${_stubs} ${CMAKE_CXX_COMPILER}
  DEPENDS ${_folder}/make_stubs.py
  COMMENT "Making stubs of glibc ${PYCUDA_GLIBC}" VERBATIM)
add_custom_target(glibc_stubs DEPENDS ${_stubs}/libc.so)

add_library(newer_functions STATIC EXCLUDE_FROM_ALL ${_folder}/newer_functions.cpp)
target_link_libraries(newer_functions PRIVATE pycuda_warnings)

function(link_for_old_glibc target)
  add_dependencies(${target} glibc_stubs)
  set_property(TARGET ${target} APPEND PROPERTY # other stubs need another link
    LINK_DEPENDS ${CMAKE_BINARY_DIR}/glibc-${PYCUDA_GLIBC}/libc.so)
  target_link_libraries(${target} PRIVATE newer_functions)
  target_link_options(${target} PRIVATE
    -L${CMAKE_BINARY_DIR}/glibc-${PYCUDA_GLIBC} -static-libstdc++ -s
    -Wl,--gc-sections -Wl,--exclude-libs,ALL # hides the symbols of archives
    # libstdc++ has a weak reference to it, for which archives are not searched.
    -Wl,--undefined=__cxa_pure_virtual
    # Before glibc 2.34 these were separate libraries.
    -Wl,--push-state,--no-as-needed -lpthread -ldl -lrt -Wl,--pop-state)
endfunction()
