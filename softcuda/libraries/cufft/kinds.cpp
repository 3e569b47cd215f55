// kinds.cpp -- chooses the transform of a kind, out of place or in place.
#include "kinds.h"

#include <cmath>
#include <vector>

namespace softcufft {
namespace {

/// Whether equal elements of the two sides begin at the same byte, so that rows may be transformed
/// in place.
bool share_rows(const Layout &from, std::size_t from_bytes, const Layout &to,
                std::size_t to_bytes) {
    for (std::size_t axis = 0; axis + 1 < from.strides.size(); ++axis)
        if (from.shape[axis] > 1 && from.strides[axis] * static_cast<std::int64_t>(from_bytes) !=
                                        to.strides[axis] * static_cast<std::int64_t>(to_bytes))
            return false;
    return from.strides.back() == to.strides.back();
}

template <class From, class To, class... More>
void run(const Layout &from, const void *input, const Layout &to, void *output, More... more) {
    const auto *source = static_cast<const From *>(input);
    std::vector<From> copy;
    if (input == output && !share_rows(from, sizeof(From), to, sizeof(To))) {
        copy.assign(source, source + from.extent());
        source = copy.data();
    }
    transform(from, source, to, static_cast<To *>(output), more...);
}

template <class T>
void run_kind(Kind kind, const Layout &from, const void *input, const Layout &to, void *output,
              Direction direction) {
    using Complex = std::complex<T>;
    if (is_real_input(kind))
        run<T, Complex>(from, input, to, output);
    else if (is_real_output(kind))
        run<Complex, T>(from, input, to, output);
    else
        run<Complex, Complex>(from, input, to, output, direction);
}

/// Calls `run` with the place of each element of a layout.
template <class Run> void for_each_place(const Layout &layout, Run &&run) {
    std::vector<std::int64_t> index(layout.shape.size(), 0);
    std::int64_t place = 0;
    for (;;) {
        run(place);
        std::size_t axis = index.size();
        while (axis-- > 0) {
            place += layout.strides[axis];
            if (++index[axis] < layout.shape[axis])
                break;
            place -= layout.shape[axis] * layout.strides[axis];
            index[axis] = 0;
        }
        if (axis == std::size_t(-1))
            return;
    }
}

/// Transforms elements of 16 bits as floats. What lies between the output's elements is not
/// touched.
void run_short(Kind kind, const Layout &from, const void *input, const Layout &to, void *output,
               Direction direction) {
    const softlib::ElementType type = part_type(kind);
    const std::int64_t input_parts = is_real_input(kind) ? 1 : 2;
    const std::int64_t output_parts = is_real_output(kind) ? 1 : 2;
    std::vector<float> source(static_cast<std::size_t>(from.extent() * input_parts));
    std::vector<float> target(static_cast<std::size_t>(to.extent() * output_parts));
    widen(type, input, source.data(), static_cast<std::int64_t>(source.size()));
    run_kind<float>(kind, from, source.data(), to, target.data(), direction);
    for_each_place(to, [&](std::int64_t place) {
        const std::int64_t first = place * output_parts;
        narrow_to(type, target.data() + first, static_cast<std::uint16_t *>(output) + first,
                  output_parts);
    });
}

} // namespace

softlib::ElementType part_type(Kind kind) {
    switch (static_cast<int>(kind) & 0xf0) {
    case 0x00:
        return softlib::ElementType::Float16;
    case 0x80:
        return softlib::ElementType::BFloat16;
    case 0x60:
        return softlib::ElementType::Float64;
    default:
        return softlib::ElementType::Float32;
    }
}

std::int64_t Layout::extent() const {
    std::int64_t last = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        last += (shape[axis] - 1) * strides[axis];
    return last + 1;
}

void transform(Kind kind, const Layout &from, const void *input, const Layout &to, void *output,
               Direction direction) {
    switch (part_type(kind)) {
    case softlib::ElementType::Float64:
        return run_kind<double>(kind, from, input, to, output, direction);
    case softlib::ElementType::Float32:
        return run_kind<float>(kind, from, input, to, output, direction);
    default:
        return run_short(kind, from, input, to, output, direction);
    }
}

namespace {
double elements_of(const Layout &layout) {
    double elements = 1;
    for (const std::int64_t size : layout.shape)
        elements *= static_cast<double>(size);
    return elements;
}
} // namespace

double operations(const Layout &from) {
    const double elements = elements_of(from);
    return elements * 5 * std::log2(elements + 1);
}

softlib::Threads threads_of(const Layout &from) {
    return elements_of(from) < 0x1p16 ? softlib::Threads::One : softlib::Threads::All;
}

} // namespace softcufft
