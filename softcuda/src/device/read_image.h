// read_image.h -- converts a client's code image to a program.
#pragma once

#include "compiler/program.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace softcuda::device {

/// Reads a module image in memory: PTX text ended by a NUL, a fat binary, or the wrapper that nvcc
/// compiles into programs. Of several PTX programs the one for the highest architecture up to
/// `architecture` that can be read is taken. On failure throws Error; `log` gets the messages.
[[nodiscard]] std::shared_ptr<compiler::Program> read_image(const void *image, int architecture,
                                                            std::string &log);

/// The same for an image whose size is known: a file's content.
[[nodiscard]] std::shared_ptr<compiler::Program> read_image(std::span<const std::byte> image,
                                                            int architecture, std::string &log);

/// The PTX text in an image, of a fat binary the best as above. Throws likewise.
[[nodiscard]] std::string read_ptx_of(std::span<const std::byte> image, int architecture,
                                      std::string &log);

/// A PTX program that is to be linked with others.
struct Linkable {
    std::string name; ///< for messages
    std::string ptx;
};

/// The PTX programs in an object file that nvcc made, or in an archive of such files. NVIDIA's
/// runtime for device code (libcudadevrt.a) has none that is needed: its functions are softcuda's
/// own. Throws likewise where another object has no PTX.
[[nodiscard]] std::vector<Linkable> read_objects(std::span<const std::byte> file,
                                                 const std::string &name, int architecture,
                                                 std::string &log);

/// A file's content. Throws Error(file not found).
[[nodiscard]] std::string read_file(const char *path);

} // namespace softcuda::device
