# aarch64.cmake -- the toolchain file of tools/cross: Debian's cross compiler, and libraries from the folder
# PYCUDA_SYSROOT. The C and C++ libraries are those of the cross compiler.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PYCUDA_SYSROOT)

# The cross compiler searches lld under a name with the processor, or in this folder. Another linker needs a minute
# for LLVM's libraries.
find_program(PYCUDA_LLD ld.lld)
if(PYCUDA_LLD)
  file(MAKE_DIRECTORY ${PYCUDA_SYSROOT}/lld)
  file(CREATE_LINK ${PYCUDA_LLD} ${PYCUDA_SYSROOT}/lld/ld.lld SYMBOLIC)
  foreach(kind IN ITEMS EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT -B${PYCUDA_SYSROOT}/lld)
  endforeach()
endif()

set(CMAKE_FIND_ROOT_PATH ${PYCUDA_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH) # NVIDIA's headers are those of this machine
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The tests run in an emulator, which finds the loader and the libraries in the sysroot.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${PYCUDA_SYSROOT})
