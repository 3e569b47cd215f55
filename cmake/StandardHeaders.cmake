# StandardHeaders.cmake -- the C++ library's headers, compiled once for many sources.
#
# Each source still includes the headers that it needs: the build with ThreadSanitizer and debug builds
# compile without this, and find missing ones.

set(PYCUDA_STANDARD_HEADERS <algorithm> <array> <atomic> <bit> <chrono> <cstddef> <cstdint> <cstdio>
  <cstdlib> <cstring> <filesystem> <functional> <map> <memory> <mutex> <optional> <span> <stdexcept>
  <string> <string_view> <unordered_map> <utility> <vector>)

# precompile_standard_headers(TARGET [REUSE_FROM OTHER] [HEADER...])
function(precompile_standard_headers target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS OR NOT (CMAKE_BUILD_TYPE STREQUAL "Release" OR
                                              PYCUDA_SANITIZE MATCHES "address"))
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
