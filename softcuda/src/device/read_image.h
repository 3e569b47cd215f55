// read_image.h -- converts a client's code image to a program.
#pragma once

#include "compiler/program.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace softcuda::device {

/// Reads a module image in memory: PTX text with a final NUL, a fat binary, or the wrapper that
/// nvcc compiles into programs. If there are several PTX programs, chooses the one for the highest
/// architecture up to `architecture` that can be parsed. Throws Error on failure; `log` gets the
/// messages.
[[nodiscard]] std::shared_ptr<compiler::Program> read_image(const void *image, int architecture,
                                                            std::string &log);

/// As above for an image of known size: the content of a file.
[[nodiscard]] std::shared_ptr<compiler::Program> read_image(std::span<const std::byte> image,
                                                            int architecture, std::string &log);

/// The PTX text in an image; for a fat binary, the best program as above. Throws as above.
[[nodiscard]] std::string read_ptx_of(std::span<const std::byte> image, int architecture,
                                      std::string &log);

/// A program to link with others.
struct Linkable {
    std::string name; ///< for messages
    std::string ptx;
    /// Instead of PTX: a fat binary that contains LTO-IR. Points into the input.
    std::span<const std::byte> lto_ir;
};

/// Whether the linker's client can convert LTO-IR, the intermediate code for link-time
/// optimisation, to PTX. If so, a fat binary's LTO-IR is preferred to its PTX, as in nvJitLink.
enum class LtoIr { Ignored, Preferred };

/// The best program of an image, which is PTX text or a fat binary. Throws as above.
[[nodiscard]] Linkable read_linkable(std::span<const std::byte> image, const std::string &name,
                                     int architecture, std::string &log, LtoIr lto_ir);

/// The programs in an object file of nvcc, or in an archive of such files. Programs of NVIDIA's
/// device runtime (libcudadevrt.a) are not needed, because softcuda has its own. Throws as above if
/// another object has no PTX.
[[nodiscard]] std::vector<Linkable> read_objects(std::span<const std::byte> file,
                                                 const std::string &name, int architecture,
                                                 std::string &log, LtoIr lto_ir = LtoIr::Ignored);

/// The content of a file. Throws Error(file not found).
[[nodiscard]] std::string read_file(const char *path);

} // namespace softcuda::device
