# embed_text.cmake -- make the C++ header TO, which contains the text of the file FROM as a string.
# Run as a script at each build: cmake -DFROM=scan.cuh -DTO=scan.cuh.h -P embed_text.cmake
# The string's name is the file's with _ for each dot and dash: scan_cuh.

cmake_minimum_required(VERSION 3.25)

file(READ ${FROM} text)
cmake_path(GET FROM FILENAME file)
string(REGEX REPLACE "[.-]" "_" name ${file})
# The text becomes part of a source, in which nvcc warns of this line. The empty line keeps the line numbers.
string(REGEX REPLACE "^((//[^\n]*\n)*)#pragma once\n" "\\1\n" text "${text}")
# The compiler's messages show this file's name, which distinguishes its lines from others.
file(WRITE ${TO} "// Made from ${file}.\n#pragma once\n\n#include <string_view>\n\n"
  "namespace pycuda::device_code {\n"
  "inline constexpr std::string_view ${name} = R\"__CUDA__(#line 1 \"${file}\"\n${text})__CUDA__\";\n"
  "}\n")
