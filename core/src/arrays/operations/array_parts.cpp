// array_parts.cpp -- joins copies into launches.
//
// A copy of a few thousand elements takes the time of its launch. So copies of small arrays, such
// as the pieces of concatenate(), share launches: each copy has a row of the grid. Elements are
// moved as words of bytes, so one kernel serves all types. Long copies are as fast alone.
#include <pycuda/array_parts.h>

#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"
#include "arrays/word.h"

#include "arrays/operations/device/parts.cuh.h"

#include <pycuda/work.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace pycuda {
namespace {

constexpr unsigned kBlock = 256;
constexpr std::size_t kMostParts = 32; ///< of a launch, as its arguments have at most 4 KiB
constexpr std::size_t kFewParts = 4;
constexpr int kMostAxes = 4;
constexpr unsigned kMostBlocks = 1024; ///< of a part

/// The most bytes of a copy that shares a launch. On a CPU, the driver copies long ones.
std::size_t most_bytes() { return runs_on_host() ? std::size_t{1} << 16 : std::size_t{1} << 24; }

/// One copy: layouts of one shape, whose last axis are the bytes of contiguous elements.
struct BytesCopy {
    const PartCopy *part;
    std::array<Layout, 2> layouts; ///< of `to` and `from`

    explicit BytesCopy(const PartCopy &copy)
        : part(&copy), layouts{copy.to.layout(), copy.from.layout().assigned_to(copy.to.shape())} {
        for (Layout &layout : layouts)
            layout.append(static_cast<std::int64_t>(copy.to.item_size()), 1);
        coalesce(layouts);
        if (layouts[0].dimensions() == 0) // elements of one byte
            for (Layout &layout : layouts)
                layout.append(1, 1);
    }

    /// Bits of which all are multiples of the word's size: extents of bytes, steps and addresses.
    std::uint64_t places() const noexcept {
        const int last = layouts[0].dimensions() - 1;
        std::uint64_t bits = part->to.misalignment() | part->from.misalignment();
        for (const Layout &layout : layouts) {
            const bool dense = layout.stride(last) == 1;
            bits |= dense ? static_cast<std::uint64_t>(layout.extent(last)) : 1;
            for (int axis = 0; axis < last; ++axis)
                bits |= static_cast<std::uint64_t>(layout.stride(axis));
        }
        return bits;
    }

    /// Words in the place of bytes.
    void use_words(std::size_t word) noexcept {
        const int last = layouts[0].dimensions() - 1;
        const auto size = static_cast<std::int64_t>(word);
        for (Layout &layout : layouts)
            layout.set(last, layout.extent(last) / size, layout.stride(last) * size);
        if (layouts[0].extent(last) == 1 && last > 0)
            coalesce(layouts);
    }
    int axes() const noexcept { return std::max(layouts[0].dimensions(), 1); }
};

struct Form {
    std::size_t word, parts;
    int axes;

    KernelKey key() const noexcept {
        return {KernelFamily::Parts, {{word, 5}, {parts, 8}, {axes, 6}}};
    }
    std::string source() const {
        return type_alias("Word", word_name(word)) + define("PARTS", parts) + define("AXES", axes) +
               std::string(device_code::parts_cuh);
    }
};

/// Launches up to kMostParts copies.
void launch(std::span<BytesCopy> copies, StreamRef stream) {
    std::uint64_t places = 0;
    for (const BytesCopy &copy : copies)
        places |= copy.places();
    Form form{word_bytes(16, places), copies.size() <= kFewParts ? kFewParts : kMostParts, 1};
    std::size_t longest = 0;
    for (BytesCopy &copy : copies) {
        copy.use_words(form.word);
        form.axes = std::max(form.axes, copy.axes());
        longest = std::max(longest, copy.layouts[0].size());
    }
    form.axes = form.axes == 3 ? kMostAxes : form.axes;
    const Function &kernel = copies[0].part->to.context()->kernels().find(
        form.key(), "copy_parts", [&] { return form.source(); });
    Work use(stream);
    KernelArguments arguments(use);
    for (const BytesCopy &copy : copies) {
        const int missing = form.axes - copy.layouts[0].dimensions();
        arguments.add(LibraryAddress{use.write(copy.part->to, "the array to assign to")});
        arguments.add(LibraryAddress{use.read(copy.part->from)});
        arguments.add(static_cast<std::uint64_t>(copy.layouts[0].size()));
        auto add = [&](auto number_of) {
            for (int axis = 0; axis < form.axes; ++axis)
                arguments.add<std::int64_t>(number_of(axis - missing));
        };
        add([&](int axis) { return axis < 0 ? 1 : copy.layouts[0].extent(axis); });
        for (const Layout &layout : copy.layouts)
            add([&](int axis) { return axis < 0 ? 0 : layout.stride(axis); });
    }
    constexpr std::size_t kNumber = sizeof(std::uint64_t);
    const std::size_t size = kNumber * (3 + 3 * static_cast<std::size_t>(form.axes));
    std::fill_n(arguments.reserve(size * (form.parts - copies.size()), kNumber),
                size * (form.parts - copies.size()), std::byte{0});
    const auto blocks = static_cast<unsigned>((longest + kBlock - 1) / kBlock);
    arguments.launch(kernel,
                     {.grid = {std::min(blocks, kMostBlocks), static_cast<unsigned>(copies.size())},
                      .block = {kBlock}});
}

/// Whether a copy may share a launch: of few bytes, within one context, of the type of `first`.
bool may_share(const PartCopy &part, const PartCopy &first) {
    const auto is_like_first = [&](const Array &array) {
        return array.dtype() == first.to.dtype() && array.memory() &&
               array.memory()->context() == first.to.context();
    };
    return is_like_first(part.to) && is_like_first(part.from) && part.to.bytes() <= most_bytes();
}

/// Whether a copy reads memory that one of them writes.
bool is_overwritten(std::span<const PartCopy> parts) {
    const Array *target = nullptr;
    for (const PartCopy &written : parts) {
        if (target != nullptr && written.to.memory() == target->memory())
            continue;
        target = &written.to;
        for (const PartCopy &read : parts)
            if (read.from.may_share_memory(written.to))
                return true;
    }
    return false;
}

/// The copies as bytes; empty if they cannot share launches.
std::vector<BytesCopy> shared_copies(std::span<const PartCopy> parts) {
    std::vector<BytesCopy> copies;
    const bool shared =
        parts.size() > 1 && parts[0].to.memory() &&
        std::ranges::all_of(parts, [&](const PartCopy &part) { return may_share(part, parts[0]); });
    if (!shared || is_overwritten(parts))
        return copies;
    copies.reserve(parts.size());
    for (const PartCopy &part : parts)
        if (copies.emplace_back(part).axes() > kMostAxes)
            return {};
    return copies;
}

} // namespace

void assign_parts(std::span<const PartCopy> parts, StreamRef stream) {
    std::vector<PartCopy> filled;
    if (std::ranges::any_of(parts, [](const PartCopy &part) { return part.to.size() == 0; })) {
        for (const PartCopy &part : parts)
            if (part.to.size() != 0)
                filled.push_back(part);
            else
                assign(part.to, part.from, Casting::Unsafe, stream); // checks the shapes
        parts = filled;
    }
    std::vector<BytesCopy> copies = shared_copies(parts);
    if (copies.empty()) {
        for (const PartCopy &part : parts)
            assign(part.to, part.from, Casting::Unsafe, stream);
        return;
    }
    for (std::span<BytesCopy> rest = copies; !rest.empty();
         rest = rest.subspan(std::min(rest.size(), kMostParts)))
        launch(rest.first(std::min(rest.size(), kMostParts)), stream);
}

} // namespace pycuda
