// fat_binary.cpp -- reads the container; its layout was determined from files of nvcc 13.
//
//     header    u32 0xBA55ED50   u16 version (1)   u16 header bytes (16)   u64 bytes that follow
//     entry     u16 kind         u16 0x0101        u32 header bytes        u64 payload, padded
//               u32 packed bytes u32 ...           u16 minor, u16 major    u32 architecture
//               u64 ...          u64 flags         u64 ...                 u64 unpacked bytes ...
//               payload
//     entry ...
//
// A wrapper is { u32 0x466243B1, u32 version, pointer to data, pointer }; version 2 has, where its
// last pointer is not null, a list of further fat binaries there, ended by a null.
#include "image/fat_binary.h"

#include "image/lz4.h"

#include <algorithm>
#include <cstring>
#include <zstd.h>

namespace softcuda::image {
namespace {

constexpr std::uint32_t kMagic = 0xBA55ED50;
constexpr std::uint32_t kWrapperMagic = 0x466243B1;
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kSmallestEntry = 64;
constexpr std::uint64_t kFlagLz4 = 0x2000;
constexpr std::uint64_t kFlagZstd = 0x8000;
constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 30;

template <class T> T read_at(std::span<const std::byte> bytes, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, &bytes[offset], sizeof value);
    return value;
}

FatEntry::Kind kind_of(std::uint16_t number) noexcept {
    switch (number) {
    case 1:
        return FatEntry::Kind::Ptx;
    case 2:
        return FatEntry::Kind::Cubin;
    case 8:
        return FatEntry::Kind::LtoIr;
    default:
        return FatEntry::Kind::Other;
    }
}

/// Reads the entry at `at` and moves `at` behind it.
FatEntry read_entry(std::span<const std::byte> bytes, std::size_t &at) {
    const std::string place = "entry at byte " + std::to_string(at);
    if (bytes.size() - at < kSmallestEntry)
        throw FormatError("fat binary: the " + place + " is cut off");
    const std::span<const std::byte> entry = bytes.subspan(at);
    const std::uint64_t header = read_at<std::uint32_t>(entry, 4);
    const std::uint64_t payload = read_at<std::uint64_t>(entry, 8);
    if (header < kSmallestEntry || header > entry.size() || payload > entry.size() - header)
        throw FormatError("fat binary: the " + place + " claims " + std::to_string(header) + " + " +
                          std::to_string(payload) + " bytes, but the file has " +
                          std::to_string(entry.size()));
    FatEntry made;
    made.kind = kind_of(read_at<std::uint16_t>(entry, 0));
    made.architecture = read_at<std::uint32_t>(entry, 28);
    made.payload = entry.subspan(header, payload);
    made.size = payload;
    const std::uint64_t flags = read_at<std::uint64_t>(entry, 40);
    if ((flags & (kFlagLz4 | kFlagZstd)) != 0) {
        made.packing = flags & kFlagLz4 ? FatEntry::Packing::Lz4 : FatEntry::Packing::Zstd;
        made.size = read_at<std::uint64_t>(entry, 56);
        const std::uint64_t packed = read_at<std::uint32_t>(entry, 16);
        if (packed > payload)
            throw FormatError("fat binary: the " + place + " has " + std::to_string(payload) +
                              " bytes, but claims " + std::to_string(packed) + " compressed bytes");
        made.payload = made.payload.first(packed);
    }
    at += header + payload;
    return made;
}

std::string unpack(const FatEntry &entry) {
    if (entry.size > kMostUnpacked)
        throw FormatError("fat binary: an entry of " + std::to_string(entry.size) +
                          " bytes is too large, expected at most " + std::to_string(kMostUnpacked));
    std::string text(entry.size, '\0');
    if (entry.packing == FatEntry::Packing::Lz4) {
        if (!unpack_lz4(entry.payload, std::as_writable_bytes(std::span(text))))
            throw FormatError("fat binary: an LZ4-compressed entry is damaged");
        return text;
    }
    const std::size_t got =
        ZSTD_decompress(text.data(), text.size(), entry.payload.data(), entry.payload.size());
    if (ZSTD_isError(got) || got != text.size())
        throw FormatError(std::string("fat binary: a zstd-compressed entry is damaged: ") +
                          (ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it is too short"));
    return text;
}

} // namespace

ImageForm form_of(std::span<const std::byte> image) noexcept {
    if (image.size() < 4)
        return ImageForm::Ptx;
    const auto magic = read_at<std::uint32_t>(image, 0);
    if (magic == kMagic)
        return ImageForm::FatBinary;
    if (magic == kWrapperMagic)
        return ImageForm::Wrapper;
    return std::memcmp(image.data(), "\177ELF", 4) == 0 ? ImageForm::Cubin : ImageForm::Ptx;
}

std::uint64_t size_of_fat_binary(std::span<const std::byte> header) {
    if (header.size() < kHeaderBytes || read_at<std::uint32_t>(header, 0) != kMagic)
        throw FormatError("fat binary: the header is missing");
    const auto version = read_at<std::uint16_t>(header, 4);
    const auto bytes = read_at<std::uint16_t>(header, 6);
    if (version != 1 || bytes != kHeaderBytes)
        throw FormatError("fat binary: version " + std::to_string(version) + " with a header of " +
                          std::to_string(bytes) +
                          " bytes is not supported, expected version 1 with 16 bytes");
    const auto rest = read_at<std::uint64_t>(header, 8);
    if (rest > UINT64_MAX / 2)
        throw FormatError("fat binary: the header claims too many bytes");
    return kHeaderBytes + rest;
}

std::vector<FatEntry> read_fat_binary(std::span<const std::byte> bytes) {
    const std::uint64_t size = size_of_fat_binary(bytes);
    if (size > bytes.size())
        throw FormatError("fat binary: the header claims " + std::to_string(size) +
                          " bytes, but the file has " + std::to_string(bytes.size()));
    bytes = bytes.first(size);
    std::vector<FatEntry> entries;
    for (std::size_t at = kHeaderBytes; at < bytes.size();)
        entries.push_back(read_entry(bytes, at));
    return entries;
}

std::string content_of(const FatEntry &entry) {
    std::string content = entry.packing == FatEntry::Packing::None
                              ? std::string(reinterpret_cast<const char *>(entry.payload.data()),
                                            entry.payload.size())
                              : unpack(entry);
    if (entry.kind == FatEntry::Kind::Ptx) // ends at a NUL, at the start of the padding
        content.resize(std::min(content.size(), content.find('\0')));
    return content;
}

std::vector<const void *> fat_binaries_of(const void *wrapper) {
    struct Wrapper {
        std::uint32_t magic, version;
        const void *data;
        const void *const *others;
    };
    Wrapper read{};
    std::memcpy(&read, wrapper, sizeof read);
    std::vector<const void *> found;
    if (read.data)
        found.push_back(read.data);
    if (read.version == 2 && read.others)
        for (const void *const *other = read.others; *other; other++)
            found.push_back(*other);
    return found;
}

} // namespace softcuda::image
