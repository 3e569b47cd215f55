// tensor_map.cpp -- pycuda.driver.TensorMap, a kernel argument for bulk copies of boxes of arrays.
#include "arrays/array_object.h"
#include "launch/argument_types.h"
#include "support/bool_like.h"
#include "support/python_object.h"

#include <pycuda/tensor_map.h>

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

std::vector<std::int64_t> extents_of(nb::handle sequence) {
    const Layout layout = shape_argument(sequence);
    return {layout.shape().begin(), layout.shape().end()};
}

std::optional<CUtensorMapDataType> type_argument(nb::handle name) {
    if (name.is_none())
        return std::nullopt;
    if (const std::optional<CUtensorMapDataType> type =
            tensor_map_type(nb::cast<std::string>(nb::str(name))))
        return type;
    throw_value_error("data_type is " + nb::cast<std::string>(nb::repr(name)) +
                      ", expected None, \"float32_ftz\", \"tfloat32\" or \"tfloat32_ftz\"");
}

TensorMap make_tiled(nb::handle tensor, nb::handle shape, nb::handle steps, nb::handle type,
                     unsigned swizzle, unsigned promotion, BoolLike fills_with_nan) {
    TensorBox box{extents_of(shape), {}, type_argument(type), swizzle, promotion, fills_with_nan};
    if (!steps.is_none())
        box.steps = extents_of(steps);
    return TensorMap::tiled(require_array(tensor, "tensor"), box);
}

/// The kernel gets a copy of the bytes. The launch uses the tensor as it uses an array argument.
void pack_tensor_map(const ArgumentType &, PyObject *value, Packing &packing) {
    const TensorMap &map = *nb::inst_ptr<TensorMap>(value);
    static_cast<void>(packing.staged.use().read(map.tensor()));
    if (!packing.block.try_push(map.bytes().data(), map.bytes().size(), ValueKind::Bytes))
        packing.block.reject("a TensorMap");
}

} // namespace

void bind_tensor_map(nb::module_ &module) {
    nb::class_<TensorMap>(
        module, "TensorMap", nb::is_weak_referenceable(),
        "How the instructions ``cp.async.bulk.tensor`` see an array, for devices of compute "
        "capability 9.0 and later.\n"
        "\n"
        "TensorMap.tiled() makes one. A kernel takes the object as an argument of type ``const "
        "__grid_constant__ CUtensorMap``,\n"
        "which ``#include <cuda.h>`` defines, and copies boxes of the array to and from shared "
        "memory. The object keeps the\n"
        "array's memory; bytes() of the object returns the 128 bytes of the CUtensorMap.")
        .def_static(
            "tiled", make_tiled, nb::arg("tensor"), nb::arg("box"), nb::kw_only(),
            nb::arg("element_strides") = nb::none(), nb::arg("data_type") = nb::none(),
            nb::arg("swizzle") = 0, nb::arg("l2_promotion") = 0, nb::arg("fill_nan") = false,
            "Return a TensorMap of an array for copies of boxes of one shape.\n"
            "\n"
            "tensor: a GPUArray of 1 to 5 axes. Elements of the last axis are adjacent. The other "
            "strides and the address are\n"
            "  multiples of 16 bytes.\n"
            "box: the shape of a box, of 1 to 256 elements on each axis of the tensor. The last "
            "axis has a multiple of 16 bytes.\n"
            "element_strides: for each axis, a number n from 1 to 8: only each n-th element of the "
            "box is copied. 1 for the\n"
            "  last axis.\n"
            "data_type: None for the type of the array. For float32 also \"float32_ftz\", which "
            "flushes subnormal numbers to 0,\n"
            "  \"tfloat32\" and \"tfloat32_ftz\", which round to 10 bits of fraction.\n"
            "swizzle: permutes pieces of 16 bytes in shared memory, so that columns have no bank "
            "conflicts: 0, 32, 64 or 128\n"
            "  bytes. The last axis of the box has at most as many bytes.\n"
            "l2_promotion: bytes that the L2 cache reads at a time: 0 for the default, 64, 128 or "
            "256.\n"
            "fill_nan: True fills elements outside of the tensor with NaN, not with zeros.\n"
            "\n"
            "The axes are those of the array; the coordinates of the instructions begin with the "
            "last axis. Interleaved layouts\n"
            "and im2col are not available.\n"
            "\n"
            "Raises ValueError, which names the axis and the value, for a tensor or a box that a "
            "GPU refuses, and LogicError if\n"
            "the device's compute capability is below 9.0.\n"
            "\n"
            "    image = gpuarray.zeros((480, 640), np.float32)\n"
            "    tiles = driver.TensorMap.tiled(image, (16, 32), swizzle=128)\n"
            "    kernel(tiles, block=(128, 1, 1), grid=(20, 30))")
        .def("__bytes__", [](const TensorMap &map) {
            return nb::bytes(map.bytes().data(), map.bytes().size());
        });
    ArgumentTypes::add(
        {reinterpret_cast<PyTypeObject *>(nb::type<TensorMap>().ptr()), pack_tensor_map, {}});
}

} // namespace pycuda::python
