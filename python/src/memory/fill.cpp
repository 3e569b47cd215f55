// fill.cpp -- memset_*: fills device memory with one value.
#include "support/bindings.h"

#include "memory/python_work.h"
#include "support/python_object.h"

#include <pycuda/copy.h>

#include <nanobind/stl/string.h>

#include <limits>

namespace pycuda::python {
namespace {

/// The bits of `data` as an unsigned element: -1 and 255 are the same byte.
template <class Element> Element element_of(long long data) {
    constexpr long long most = std::numeric_limits<Element>::max();
    if (data > most || data < -most / 2 - 1)
        throw_value_error("data is " + std::to_string(data) + ", which does not fit into " +
                          std::to_string(8 * sizeof(Element)) + " bits");
    return static_cast<Element>(data);
}

/// The host may access managed memory after a fill without a stream. Recorded fills do not run.
void wait_for(PythonWork &work) {
    if (!work.get().is_captured())
        synchronize(work.stream());
}

template <class Element> void bind_fills(nb::module_ &module) {
    const std::string bits = std::to_string(8 * sizeof(Element));
    const std::string line = "memset_d" + bits, rows = "memset_d2d" + bits;
    module.def(
        line.c_str(),
        [](nb::handle dest, long long data, std::size_t size) {
            const Element value = element_of<Element>(data);
            PythonWork work({dest});
            const CUdeviceptr to = work.write(dest, "dest");
            if (work.stream().is_default())
                return fill(to, value, size);
            fill_async(to, value, size, work.stream());
            wait_for(work);
        },
        nb::arg("dest"), nb::arg("data"), nb::arg("size"),
        "Set each element of device memory to a value.\n\n"
        "dest: device memory.\n"
        "data: the value of each element. The function's name has its bits: 8, 16 or 32.\n"
        "size: the number of elements, not of bytes.\n\n"
        "Raises LogicError if the memory is smaller.");
    module.def((line + "_async").c_str(),
               [](nb::handle dest, long long data, std::size_t size, nb::handle stream) {
                   const Element value = element_of<Element>(data);
                   PythonWork work({dest}, stream);
                   const CUdeviceptr to = work.write(dest, "dest");
                   fill_async(to, value, size, work.stream());
               },
               nb::arg("dest"), nb::arg("data"), nb::arg("size"), nb::arg("stream") = nb::none(),
               "Set each element of device memory to a value, as work of a stream.\n\n"
               "dest: device memory.\n"
               "data: the value of each element. The function's name has its bits: 8, 16 or 32.\n"
               "size: the number of elements, not of bytes.\n"
               "stream: a Stream; by default the thread's current stream.");
    module.def(
        rows.c_str(),
        [](nb::handle dest, std::size_t pitch, long long data, std::size_t width,
           std::size_t height) {
            const Element value = element_of<Element>(data);
            PythonWork work({dest});
            const Rows rows{work.write(dest, "dest"), pitch, width, height};
            if (work.stream().is_default())
                return fill_rows(rows, value);
            fill_rows_async(rows, value, work.stream());
            wait_for(work);
        },
        nb::arg("dest"), nb::arg("pitch"), nb::arg("data"), nb::arg("width"), nb::arg("height"),
        "Set each element of a rectangle in device memory to a value.\n\n"
        "dest: device memory, the first element of the rectangle.\n"
        "pitch: bytes from the begin of a row to the begin of the next row.\n"
        "data: the value of each element. The function's name has its bits: 8, 16 or 32.\n"
        "width: elements of a row.\n"
        "height: the number of rows.");
    module.def(
        (rows + "_async").c_str(),
        [](nb::handle dest, std::size_t pitch, long long data, std::size_t width,
           std::size_t height, nb::handle stream) {
            const Element value = element_of<Element>(data);
            PythonWork work({dest}, stream);
            const Rows rows{work.write(dest, "dest"), pitch, width, height};
            fill_rows_async(rows, value, work.stream());
        },
        nb::arg("dest"), nb::arg("pitch"), nb::arg("data"), nb::arg("width"), nb::arg("height"),
        nb::arg("stream") = nb::none(),
        "Set each element of a rectangle in device memory to a value, as work of a stream.\n\n"
        "dest: device memory, the first element of the rectangle.\n"
        "pitch: bytes from the begin of a row to the begin of the next row.\n"
        "data: the value of each element. The function's name has its bits: 8, 16 or 32.\n"
        "width: elements of a row.\n"
        "height: the number of rows.\n"
        "stream: a Stream; by default the thread's current stream.");
}

} // namespace

void bind_fill(nb::module_ &module) {
    bind_fills<std::uint8_t>(module);
    bind_fills<std::uint16_t>(module);
    bind_fills<std::uint32_t>(module);
}

} // namespace pycuda::python
