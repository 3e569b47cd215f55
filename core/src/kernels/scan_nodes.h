// scan_nodes.h -- the memory for the sums of the tiles of a scan.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pycuda {

/// Words of 64 bits for the nodes of all levels over `tiles`, of states of `size` bytes; as
/// find_prefix() of scan.cuh counts them.
inline std::int64_t scan_node_words(std::int64_t tiles, std::size_t size) {
    std::int64_t nodes = 2;
    for (std::int64_t level = tiles; level > 1; level = level / 32 + 1) {
        nodes += level + 1;
        if (level <= 32)
            break;
    }
    return nodes * static_cast<std::int64_t>((size + 3) / 4);
}

} // namespace pycuda
