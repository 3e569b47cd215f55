# ProjectSettings.cmake -- the compiler's options for every target of the project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# -O3 brings too little here for its build time; benchmarks set their own level.
set(PYCUDA_OPTIMIZE "-O2" CACHE STRING "The level of optimisation of release builds")
set(CMAKE_CXX_FLAGS_RELEASE "${PYCUDA_OPTIMIZE} -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# What compilers do on x86-64 without being told: `char` has a sign, and a product and a sum are two operations, also
# where the processor has one for both. Results must not depend on the processor.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_compile_options(-fsigned-char -ffp-contract=off)
endif()

find_program(PYCUDA_CCACHE ccache)
if(PYCUDA_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PYCUDA_CCACHE})
endif()
include(CheckLinkerFlag)
check_linker_flag(CXX "-fuse-ld=lld" PYCUDA_HAVE_LLD)
if(PYCUDA_HAVE_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# Our own code only: third-party headers are SYSTEM includes.
add_library(pycuda_warnings INTERFACE)
target_compile_options(pycuda_warnings INTERFACE -Wall -Wextra)
# Warnings are errors with the compiler of the project; a newer compiler's additional warnings must not
# stop a user's build.
set(_warnings_are_errors OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(_warnings_are_errors ON)
endif()
option(PYCUDA_WERROR "Treat warnings in our own code as errors" ${_warnings_are_errors})
if(PYCUDA_WERROR)
  target_compile_options(pycuda_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False alarm on "text" + std::string in GCC 12 (its bug 105651).
  target_compile_options(pycuda_warnings INTERFACE -Wno-restrict)
endif()

# Counters for gcov (tools/cpp_coverage.py). Threads may lose counts of a line, but not that it ran. ccache refuses
# -fprofile-update, which would keep all counts.
option(PYCUDA_COVERAGE "Count the lines that run" OFF)
if(PYCUDA_COVERAGE)
  add_compile_options(-O1 --coverage)
  add_link_options(--coverage)
  # Counters, above all together with a sanitizer, cause false alarms. Warnings are errors in other builds.
  target_compile_options(pycuda_warnings INTERFACE -Wno-error)
endif()

if(PYCUDA_SANITIZE)
  # Line numbers and little optimisation: half of the time to compile. assert() is on.
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  add_compile_options(-fsanitize=${PYCUDA_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PYCUDA_SANITIZE})
  # GCC 12 has false alarms for instrumented std::regex and std::optional.
  target_compile_options(pycuda_warnings INTERFACE -Wno-maybe-uninitialized)
endif()

find_package(Threads REQUIRED)
