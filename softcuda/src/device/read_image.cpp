// read_image.cpp -- chooses a program from an image.
#include "device/read_image.h"

#include "device/error.h"
#include "image/fat_binary.h"
#include "image/object_file.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

namespace softcuda::device {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kHeaderBytes = 16;
constexpr const char *kCubin = "the image is machine code for an NVIDIA GPU (a cubin), which "
                               "softcuda cannot run; compile for a "
                               "virtual architecture to get PTX: -arch=compute_XX, or -gencode "
                               "arch=compute_XX,code=compute_XX";

constexpr const char *kLtoIr = "the image is intermediate code for link-time optimisation "
                               "(LTO-IR), which softcuda does not run; compile without -dlto and "
                               "code=lto_XX to get PTX, or add code=compute_XX";

/// The bytes of an image of which only the address is known.
std::vector<Bytes> bytes_behind(const void *image) {
    const auto *begin = static_cast<const std::byte *>(image);
    switch (image::form_of({begin, strnlen(static_cast<const char *>(image), 4)})) {
    case image::ImageForm::FatBinary:
        return {{begin, image::size_of_fat_binary({begin, kHeaderBytes})}};
    case image::ImageForm::Wrapper: {
        std::vector<Bytes> found;
        for (const void *binary : image::fat_binaries_of(image))
            for (const Bytes &bytes : bytes_behind(binary))
                found.push_back(bytes);
        return found;
    }
    case image::ImageForm::Cubin:
        return {{begin, 4}};
    case image::ImageForm::Ptx:
        break;
    }
    return {{begin, std::strlen(static_cast<const char *>(image))}};
}

/// A PTX program and its target architecture; 0 for plain text, which contains its target.
struct Candidate {
    unsigned architecture = 0;
    std::string ptx;
};

void add_candidates(std::vector<Candidate> &candidates, Bytes bytes, std::string &log) {
    switch (image::form_of(bytes)) {
    case image::ImageForm::Ptx:
        candidates.push_back(
            {0, std::string(reinterpret_cast<const char *>(bytes.data()), bytes.size())});
        return;
    case image::ImageForm::FatBinary:
        break;
    case image::ImageForm::Cubin:
    case image::ImageForm::Wrapper: // its pointers are invalid in a file
        log = kCubin;
        return;
    }
    for (const image::FatEntry &entry : image::read_fat_binary(bytes)) {
        if (entry.kind == image::FatEntry::Kind::Ptx)
            candidates.push_back({entry.architecture, image::content_of(entry)});
        else
            log = std::string("there is no PTX in the fat binary; ") +
                  (entry.kind == image::FatEntry::Kind::LtoIr ? kLtoIr : kCubin);
    }
}

/// The programs that the device can run, the best first.
std::vector<Candidate> candidates_of(const std::vector<Bytes> &images, int architecture,
                                     std::string &log) {
    std::vector<Candidate> candidates;
    for (const Bytes &bytes : images)
        add_candidates(candidates, bytes, log);
    const bool found = !candidates.empty();
    unsigned lowest = ~0U;
    std::erase_if(candidates, [&](const Candidate &candidate) {
        lowest = std::min(lowest, candidate.architecture);
        return candidate.architecture > static_cast<unsigned>(architecture);
    });
    if (found && candidates.empty())
        log = "the image has PTX for compute_" + std::to_string(lowest) +
              " and newer; the device is of compute capability " +
              std::to_string(architecture / 10) + "." + std::to_string(architecture % 10) +
              " (SOFTCUDA_ARCH chooses another)";
    if (!candidates.empty())
        log.clear(); // of the other programs
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const auto &a, const auto &b) { return a.architecture > b.architecture; });
    return candidates;
}

std::shared_ptr<compiler::Program> first_readable(const std::vector<Candidate> &candidates,
                                                  std::string &log) {
    require(!candidates.empty(), CUDA_ERROR_NO_BINARY_FOR_GPU);
    std::string first_log;
    for (const Candidate &candidate : candidates) {
        std::string messages;
        auto program = compiler::Program::from_ptx(candidate.ptx, messages);
        if (program) {
            log = messages;
            return program;
        }
        if (first_log.empty())
            first_log = messages;
    }
    log = first_log;
    throw Error(CUDA_ERROR_INVALID_PTX);
}

/// The fat binaries of one wrapper are the input of nvcc's linker (-rdc=true): its output, which is
/// machine code or empty, and the parts. The parts' PTX is linked here. A part whose PTX is too new
/// for the device is skipped if other parts are not: NVIDIA's device runtime has PTX only for the
/// newest devices, and softcuda has its own device runtime.
std::shared_ptr<compiler::Program> link_parts(const std::vector<Bytes> &binaries, int architecture,
                                              std::string &log) {
    std::vector<compiler::LinkInput> parts;
    std::vector<Candidate> all;
    for (const Bytes &binary : binaries) {
        std::vector<Candidate> candidates = candidates_of({binary}, architecture, log);
        if (candidates.empty())
            continue;
        parts.push_back({"part " + std::to_string(parts.size() + 1) + " of the program",
                         candidates.front().ptx});
        std::ranges::move(candidates, std::back_inserter(all));
    }
    if (parts.size() < 2)
        return first_readable(all, log);
    std::string messages;
    const auto linked = compiler::Program::link(parts, messages, 0);
    if (!linked) {
        log = messages;
        throw Error(CUDA_ERROR_INVALID_PTX);
    }
    return first_readable({{0, linked->ptx}}, log);
}

/// Runs `body`; an error in the container becomes an Error with its message in `log`.
template <class Body> auto reading(std::string &log, Body &&body) {
    try {
        return body();
    } catch (const image::FormatError &error) {
        log = error.what();
        throw Error(CUDA_ERROR_INVALID_IMAGE);
    }
}

} // namespace

std::shared_ptr<compiler::Program> read_image(const void *image, int architecture,
                                              std::string &log) {
    return reading(log, [&] {
        const std::vector<Bytes> binaries = bytes_behind(image);
        if (binaries.size() > 1)
            return link_parts(binaries, architecture, log);
        return first_readable(candidates_of(binaries, architecture, log), log);
    });
}

std::shared_ptr<compiler::Program> read_image(std::span<const std::byte> image, int architecture,
                                              std::string &log) {
    return reading(log,
                   [&] { return first_readable(candidates_of({image}, architecture, log), log); });
}

std::string read_ptx_of(std::span<const std::byte> image, int architecture, std::string &log) {
    return reading(log, [&] {
        std::vector<Candidate> candidates = candidates_of({image}, architecture, log);
        require(!candidates.empty(), CUDA_ERROR_NO_BINARY_FOR_GPU);
        return std::move(candidates.front().ptx);
    });
}

namespace {

constexpr std::string_view kDeviceRuntime = "cuda_device_runtime.o"; ///< in libcudadevrt.a

bool has_lto_ir(Bytes image) {
    return image::form_of(image) == image::ImageForm::FatBinary &&
           std::ranges::any_of(image::read_fat_binary(image), [](const image::FatEntry &entry) {
               return entry.kind == image::FatEntry::Kind::LtoIr;
           });
}

} // namespace

Linkable read_linkable(Bytes image, const std::string &name, int architecture, std::string &log,
                       LtoIr lto_ir) {
    return reading(log, [&]() -> Linkable {
        if (lto_ir == LtoIr::Preferred && has_lto_ir(image))
            return {name, {}, image};
        return {name, read_ptx_of(image, architecture, log), {}};
    });
}

std::vector<Linkable> read_objects(Bytes file, const std::string &name, int architecture,
                                   std::string &log, LtoIr lto_ir) {
    return reading(log, [&] {
        std::vector<Linkable> found;
        const auto read = [&](Bytes object, const std::string &part) {
            for (const Bytes &binary : image::fat_binaries_in(object))
                found.push_back(read_linkable(binary, part, architecture, log, lto_ir));
        };
        if (!image::is_archive(file)) {
            read(file, name);
            return found;
        }
        for (const image::ArchiveMember &member : image::members_of(file))
            if (member.name != kDeviceRuntime)
                read(member.content, name + "(" + member.name + ")");
        return found;
    });
}

std::string read_file(const char *path) {
    std::ifstream file(path, std::ios::binary);
    require(file.good(), CUDA_ERROR_FILE_NOT_FOUND);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace softcuda::device
