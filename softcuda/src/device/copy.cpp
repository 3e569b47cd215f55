// copy.cpp -- copies and fills, divided into pieces.
//
// A piece is a group of rows or, if a row is longer than a piece, a part of one row:
//
//     rows of 100 bytes        one row of 3 pieces
//     [=====]                  [=====|=====|===]
//     [=====]  one piece       [=====|=====|===]
//     [=====]
#include "device/copy.h"

#include "device/error.h"

#include <algorithm>
#include <cstring>

namespace softcuda::device {
namespace {

/// The number of bytes from the first to the last byte of `slices` slices of `rows` rows; the
/// largest number if the extent does not fit 64 bits.
std::uint64_t extent(const Copy::End &end, std::uint64_t slices, std::uint64_t rows,
                     std::uint64_t width) {
    std::uint64_t between_slices = 0, between_rows = 0, bytes = 0;
    if (__builtin_mul_overflow(slices - 1, end.slice, &between_slices) ||
        __builtin_mul_overflow(rows - 1, end.pitch, &between_rows) ||
        __builtin_add_overflow(between_slices, between_rows, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes))
        return UINT64_MAX;
    return bytes;
}

void check_side(const AddressSpace &memory, const Copy::End &end, const Copy &copy, Side side) {
    const bool several_rows = copy.height > 1 || copy.depth > 1;
    require(!several_rows || end.pitch >= copy.width, CUDA_ERROR_INVALID_VALUE);
    if (side == Side::Host || (side == Side::Either && !memory.find(end.address))) {
        require(end.address != 0, CUDA_ERROR_INVALID_VALUE);
        return;
    }
    require(memory.contains(end.address, extent(end, copy.depth, copy.height, copy.width)),
            CUDA_ERROR_INVALID_VALUE);
}

/// How the rows of a box are divided into pieces.
struct Cut {
    std::uint64_t rows_per_piece;
    std::uint64_t pieces_per_row;
    std::uint64_t pieces;
};

Cut cut_rows(std::uint64_t row_bytes, std::uint64_t rows) {
    if (row_bytes > kPieceBytes) {
        const std::uint64_t per_row = (row_bytes + kPieceBytes - 1) / kPieceBytes;
        return {1, per_row, per_row * rows};
    }
    const std::uint64_t rows_per_piece = kPieceBytes / row_bytes;
    return {rows_per_piece, 1, (rows + rows_per_piece - 1) / rows_per_piece};
}

/// Calls part(row, offset, bytes) for each row, or part of one, of pieces [first, first + count).
template <class Part>
void for_each_part(const Cut &cut, std::uint64_t row_bytes, std::uint64_t rows, std::uint64_t first,
                   std::uint64_t count, Part &&part) {
    for (std::uint64_t piece = first; piece < first + count; piece++) {
        if (cut.pieces_per_row > 1) {
            const std::uint64_t offset = piece % cut.pieces_per_row * kPieceBytes;
            part(piece / cut.pieces_per_row, offset, std::min(kPieceBytes, row_bytes - offset));
            continue;
        }
        const std::uint64_t begin = piece * cut.rows_per_piece;
        const std::uint64_t end = std::min(begin + cut.rows_per_piece, rows);
        for (std::uint64_t row = begin; row < end; row++)
            part(row, 0, row_bytes);
    }
}

/// A box that is contiguous on both sides becomes one long row.
Copy flattened(Copy copy) {
    auto dense_rows = [&](const Copy::End &end) {
        return copy.height == 1 || end.pitch == copy.width;
    };
    if (!dense_rows(copy.destination) || !dense_rows(copy.source))
        return copy;
    const std::uint64_t plane = copy.width * copy.height;
    auto dense_slices = [&](const Copy::End &end) { return copy.depth == 1 || end.slice == plane; };
    if (!dense_slices(copy.destination) || !dense_slices(copy.source))
        return copy;
    copy.width = plane * copy.depth;
    copy.height = copy.depth = 1;
    return copy;
}

std::byte *pointer(const Copy::End &end, const Copy &copy, std::uint64_t row,
                   std::uint64_t offset) {
    const std::uint64_t slice = row / copy.height;
    return reinterpret_cast<std::byte *>(end.address + slice * end.slice +
                                         (row - slice * copy.height) * end.pitch + offset);
}

template <class Element>
void fill_elements(std::uint64_t address, std::uint64_t bytes, std::uint32_t value) {
    auto *first = reinterpret_cast<Element *>(address);
    std::fill_n(first, bytes / sizeof(Element), static_cast<Element>(value));
}

Fill flattened(Fill fill) {
    if (fill.height == 1 || fill.pitch == fill.width * fill.element_bytes) {
        fill.width *= fill.height;
        fill.height = 1;
    }
    return fill;
}

} // namespace

void check_copy(const AddressSpace &memory, const Copy &copy, Side destination, Side source) {
    if (copy.empty())
        return;
    check_side(memory, copy.destination, copy, destination);
    check_side(memory, copy.source, copy, source);
}

void check_fill(const AddressSpace &memory, const Fill &fill) {
    if (fill.empty())
        return;
    require(fill.address % fill.element_bytes == 0 && fill.width <= memory.arena_size(),
            CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t row = fill.width * fill.element_bytes;
    require(fill.height == 1 || (fill.pitch >= row && fill.pitch % fill.element_bytes == 0),
            CUDA_ERROR_INVALID_VALUE);
    const Copy::End end = {.address = fill.address, .pitch = fill.pitch};
    require(memory.contains(fill.address, extent(end, 1, fill.height, row)),
            CUDA_ERROR_INVALID_VALUE);
}

std::uint64_t piece_count(const Copy &copy) {
    if (copy.empty())
        return 0;
    const Copy flat = flattened(copy);
    return cut_rows(flat.width, flat.height * flat.depth).pieces;
}

std::uint64_t piece_count(const Fill &fill) {
    if (fill.empty())
        return 0;
    const Fill flat = flattened(fill);
    return cut_rows(flat.width * flat.element_bytes, flat.height).pieces;
}

void run_pieces(const Copy &copy, std::uint64_t first, std::uint64_t count) {
    const Copy flat = flattened(copy);
    const std::uint64_t rows = flat.height * flat.depth;
    for_each_part(cut_rows(flat.width, rows), flat.width, rows, first, count,
                  [&](std::uint64_t row, std::uint64_t offset, std::uint64_t bytes) {
                      // Clients do copy between overlapping ranges; CUDA leaves the result
                      // undefined.
                      std::memmove(pointer(flat.destination, flat, row, offset),
                                   pointer(flat.source, flat, row, offset), bytes);
                  });
}

void run_pieces(const Fill &fill, std::uint64_t first, std::uint64_t count) {
    const Fill flat = flattened(fill);
    const std::uint64_t row_bytes = flat.width * flat.element_bytes;
    for_each_part(cut_rows(row_bytes, flat.height), row_bytes, flat.height, first, count,
                  [&](std::uint64_t row, std::uint64_t offset, std::uint64_t bytes) {
                      const std::uint64_t address = flat.address + row * flat.pitch + offset;
                      if (flat.element_bytes == 1)
                          fill_elements<std::uint8_t>(address, bytes, flat.value);
                      else if (flat.element_bytes == 2)
                          fill_elements<std::uint16_t>(address, bytes, flat.value);
                      else
                          fill_elements<std::uint32_t>(address, bytes, flat.value);
                  });
}

} // namespace softcuda::device
