# StandardHeaders.cmake -- less work for the compiler: the C++ library's headers, compiled once for many
# sources, and sources compiled together.
#
# Each source still includes the headers that it needs: debug builds compile without both, and find missing ones.

set(PYCUDA_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <chrono> <cstddef> <cstdint> <cstdio>
  <cstdlib> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <stdexcept>
  <string> <string_view> <unordered_map> <utility> <vector>)

function(should_compile_together result)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(${result} OFF PARENT_SCOPE)
  else()
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

# compile_together(TARGET): sixteen sources at a time, for parts in which headers and templates take more of the
# time than the sources' own code: of three sources of ir/ or codegen/ more than half. The names in a folder's
# unnamed namespaces must differ.
function(compile_together target)
  should_compile_together(together)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${together} UNITY_BUILD_BATCH_SIZE 16)
  if(together AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # No collection of the compiler's memory below 1 GiB: it takes a twentieth of the time and finds little.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1048576)
  endif()
endfunction()

# precompile_standard_headers(TARGET [REUSE_FROM OTHER] [HEADER...])
function(precompile_standard_headers target)
  should_compile_together(together)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS OR NOT together)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False alarms on "text" + std::string, which GCC 12 has with precompiled headers only.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
      -Wno-stringop-overread)
  endif()
  cmake_parse_arguments(PCH "" "REUSE_FROM" "" ${ARGN})
  if(PCH_REUSE_FROM)
    target_precompile_headers(${target} REUSE_FROM ${PCH_REUSE_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${PYCUDA_STANDARD_HEADERS} ${PCH_UNPARSED_ARGUMENTS})
  endif()
endfunction()

# Then ccache recognises the precompiled header of a source (tools/setup.sh has the other half).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fpch-preprocess)
endif()
