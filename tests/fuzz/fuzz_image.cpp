// fuzz_image.cpp -- gives libFuzzer's bytes to the reader of fat binaries.
#include "image/fat_binary.h"

using namespace softcuda::image;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    constexpr std::uint64_t kMostUnpacked = 1 << 20; // larger sizes only cost time
    const auto bytes = std::as_bytes(std::span(data, size));
    try {
        for (const FatEntry &entry : read_fat_binary(bytes))
            if (entry.size <= kMostUnpacked)
                static_cast<void>(content_of(entry));
    } catch (const FormatError &) {
        // correct
    }
    return 0;
}
