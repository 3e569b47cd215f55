# aarch64.cmake -- the toolchain file of tools/cross: Debian's cross compiler, and libraries from the folder
# PYCUDA_SYSROOT. The C and C++ libraries are those of the cross compiler.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PYCUDA_SYSROOT)

set(CMAKE_FIND_ROOT_PATH ${PYCUDA_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH) # NVIDIA's headers are those of this machine
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# The tests run in an emulator, which finds the loader and the libraries in the sysroot.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${PYCUDA_SYSROOT})
