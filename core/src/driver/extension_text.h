// extension_text.h -- reads a text that a function of softcuda writes to a buffer.
#pragma once

#include <cstddef>
#include <string>

namespace pycuda::detail {

/// The whole text of `size_t write(char *buffer, size_t size)`, which returns the text's length.
inline std::string text_of(std::size_t (*write)(char *, std::size_t)) {
    std::string text(write(nullptr, 0), '\0');
    // The text may grow between the calls.
    for (;;) {
        const std::size_t length = write(text.data(), text.size() + 1);
        const bool is_whole = length <= text.size();
        text.resize(length);
        if (is_whole)
            return text;
    }
}

} // namespace pycuda::detail
