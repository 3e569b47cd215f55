// structured_copy.cpp -- Memcpy2D, Memcpy3D and Memcpy3DPeer: copies of rows and boxes.
//
// The driver's three structs differ in their members. The common code is a template over the
// struct. The copy object keeps host memory and arrays alive, and longer if an asynchronous copy
// uses them.
#include "support/bindings.h"

#include "arrays/array_scope.h"
#include "memory/cuda_array.h"
#include "memory/device_pointer.h"
#include "memory/host_buffer.h"
#include "memory/python_work.h"
#include "support/bind_field.h"
#include "support/python_object.h"

#include <pycuda/copy.h>
#include <pycuda/error.h>

#include <optional>
#include <string>
#include <string_view>

namespace pycuda::python {
namespace {

/// The objects of one side's memory that must be kept alive.
struct Side {
    nb::object owner = nb::none(); ///< None if an address was set as a number, or nothing was set
    HostBuffer buffer;             ///< for host memory
};

template <class Structure> struct StructuredCopy {
    using Described = Structure;
    Structure what{};
    Side source, destination;
};
using Copy2D = StructuredCopy<CUDA_MEMCPY2D>;
using Copy3D = StructuredCopy<CUDA_MEMCPY3D>;
using CopyPeer = StructuredCopy<CUDA_MEMCPY3D_PEER>;

// Attributes.

constexpr const char *memory_type_doc = "Of memory_type; set_src_*() and set_dst_*() set it.";

template <class Copy> void bind_fields(nb::class_<Copy> &type) {
    using What = typename Copy::Described;
    bind_field(type, "src_x_in_bytes", &Copy::what, &What::srcXInBytes,
               "Where the copy begins in each source row, in bytes from the begin of the row.");
    bind_field(type, "src_y", &Copy::what, &What::srcY,
               "The first source row that is copied, counted from 0.");
    bind_enum_field(type, "src_memory_type", &Copy::what, &What::srcMemoryType, "memory_type",
                    memory_type_doc);
    bind_field(type, "src_device", &Copy::what, &What::srcDevice,
               "The source's device address; set_src_device() sets it.");
    bind_field(
        type, "src_pitch", &Copy::what, &What::srcPitch,
        "The source's pitch: the bytes from the begin of a row to the begin of the next row.");
    bind_field(
        type, "dst_x_in_bytes", &Copy::what, &What::dstXInBytes,
        "Where the copy begins in each destination row, in bytes from the begin of the row.");
    bind_field(type, "dst_y", &Copy::what, &What::dstY,
               "The first destination row that is written, counted from 0.");
    bind_enum_field(type, "dst_memory_type", &Copy::what, &What::dstMemoryType, "memory_type",
                    memory_type_doc);
    bind_field(type, "dst_device", &Copy::what, &What::dstDevice,
               "The destination's device address; set_dst_device() sets it.");
    bind_field(
        type, "dst_pitch", &Copy::what, &What::dstPitch,
        "The destination's pitch: the bytes from the begin of a row to the begin of the next row.");
    bind_field(type, "width_in_bytes", &Copy::what, &What::WidthInBytes,
               "The number of bytes to copy from each row.");
    bind_field(type, "height", &Copy::what, &What::Height,
               "The number of rows to copy from each slice.");
}

template <class Copy> void bind_fields_3d(nb::class_<Copy> &type) {
    using What = typename Copy::Described;
    bind_fields(type);
    bind_field(type, "src_z", &Copy::what, &What::srcZ,
               "The first source slice that is copied, counted from 0.");
    bind_field(type, "src_lod", &Copy::what, &What::srcLOD, "The mipmap level. CUDA requires 0.");
    bind_field(
        type, "src_height", &Copy::what, &What::srcHeight,
        "The number of rows from the begin of a source slice to the begin of the next slice.");
    bind_field(type, "dst_z", &Copy::what, &What::dstZ,
               "The first destination slice that is written, counted from 0.");
    bind_field(type, "dst_lod", &Copy::what, &What::dstLOD, "The mipmap level. CUDA requires 0.");
    bind_field(
        type, "dst_height", &Copy::what, &What::dstHeight,
        "The number of rows from the begin of a destination slice to the begin of the next slice.");
    bind_field(type, "depth", &Copy::what, &What::Depth, "The number of slices to copy.");
}

// Source and destination.

/// The address of device memory that a copy reads, or writes.
CUdeviceptr address_to_read(nb::handle memory) { return device_address(memory, "devptr"); }
CUdeviceptr address_to_write(nb::handle memory) {
    return device_address(memory, "devptr", Access::Write);
}

/// One side of a copy: its object, the members of the driver's struct, and words for docstrings.
template <class Copy, class HostPointer> struct SideOf {
    using What = typename Copy::Described;
    const char *name, *from_or_to, *writable;
    Side Copy::*side;
    CUmemorytype What::*memory_type;
    HostPointer What::*host;
    CUarray What::*array;
    CUdeviceptr What::*device;
    HostBuffer (*view)(nb::handle, const char *);
    CUdeviceptr (*address)(nb::handle);
};

std::string with_word(std::string text, std::string_view word, std::string_view by) {
    for (std::size_t at; (at = text.find(word)) != std::string::npos;)
        text.replace(at, word.size(), by);
    return text;
}

template <class Copy, class HostPointer>
void bind_side(nb::class_<Copy> &type, const SideOf<Copy, HostPointer> &of) {
    const auto def = [&](const char *kind, auto set, const char *argument, std::string doc) {
        doc = with_word(with_word(doc, "{from}", of.from_or_to), "{writable}", of.writable);
        const std::string name = "set_" + std::string(of.name) + kind;
        type.def(name.c_str(), set, nb::lock_self(), nb::arg(argument),
                 with_word(doc, "{src}", of.name).c_str());
    };
    def(
        "_host",
        [of](Copy &copy, nb::object buffer) {
            copy.*of.side = {buffer, of.view(buffer, "buffer")};
            copy.what.*of.memory_type = CU_MEMORYTYPE_HOST;
            copy.what.*of.host = (copy.*of.side).buffer.data();
        },
        "buf",
        "Copy {from} host memory.\n\n"
        "buf: a {writable}NumPy array or another buffer; it may have gaps between its rows.\n\n"
        "Sets {src}_memory_type. The object keeps ``buf`` alive; {src}_pitch must be set to the "
        "bytes from one row to the next.");
    def(
        "_array",
        [of](Copy &copy, nb::object array) {
            copy.what.*of.array = cuda_array_of(array, "array");
            copy.what.*of.memory_type = CU_MEMORYTYPE_ARRAY;
            copy.*of.side = {array, {}};
        },
        "array",
        "Copy {from} an Array.\n\n"
        "array: an Array, also one level of a MipmappedArray.\n\n"
        "Sets {src}_memory_type. {src}_x_in_bytes counts bytes, not elements.");
    def(
        "_device",
        [of](Copy &copy, nb::object pointer) {
            copy.what.*of.device = of.address(pointer);
            copy.what.*of.memory_type = CU_MEMORYTYPE_DEVICE;
            copy.*of.side = {pointer, {}};
        },
        "devptr",
        "Copy {from} device memory.\n\n"
        "devptr: an allocation or an address.\n\n"
        "Sets {src}_memory_type and {src}_device. {src}_pitch must be set to the bytes from one "
        "row to the next.");
    def(
        "_unified",
        [of](Copy &copy, nb::object buffer) {
            Side &side = copy.*of.side = {buffer, {}};
            std::optional<CUdeviceptr> address = find_device_address(buffer);
            if (!address) {
                side.buffer = of.view(buffer, "a unified side of a copy");
                address = reinterpret_cast<CUdeviceptr>(side.buffer.data());
            }
            copy.what.*of.device = *address;
            copy.what.*of.memory_type = CU_MEMORYTYPE_UNIFIED;
        },
        "buf",
        "Copy {from} memory of the host or of the device: the driver finds out which of the two "
        "the address belongs to.\n\n"
        "buf: an allocation, an address or a {writable}buffer.\n\n"
        "Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.");
}

template <class Copy> void bind_sides(nb::class_<Copy> &type) {
    using What = typename Copy::Described;
    bind_side(type,
              SideOf<Copy, const void *>{"src", "from", "", &Copy::source, &What::srcMemoryType,
                                         &What::srcHost, &What::srcArray, &What::srcDevice,
                                         HostBuffer::strided_to_read, address_to_read});
    bind_side(type, SideOf<Copy, void *>{"dst", "to", "writable ", &Copy::destination,
                                         &What::dstMemoryType, &What::dstHost, &What::dstArray,
                                         &What::dstDevice, HostBuffer::strided_to_write,
                                         address_to_write});
}

// The copy itself.

/// The start of a side's part, and the division of its memory into rows and planes.
struct Place {
    std::size_t x, y, z;
    std::size_t pitch; ///< bytes per row
    std::size_t rows;  ///< per plane
};

Place source_place(const CUDA_MEMCPY2D &what) {
    return {what.srcXInBytes, what.srcY, 0, what.srcPitch, 0};
}
Place destination_place(const CUDA_MEMCPY2D &what) {
    return {what.dstXInBytes, what.dstY, 0, what.dstPitch, 0};
}
template <class Deep> Place source_place(const Deep &what) {
    return {what.srcXInBytes, what.srcY, what.srcZ, what.srcPitch, what.srcHeight};
}
template <class Deep> Place destination_place(const Deep &what) {
    return {what.dstXInBytes, what.dstY, what.dstZ, what.dstPitch, what.dstHeight};
}

std::size_t depth_of(const CUDA_MEMCPY2D &) { return 1; }
template <class Deep> std::size_t depth_of(const Deep &what) { return what.Depth; }

/// The driver does not know the end of host memory, and would access bytes past it. Nor does it
/// check sizes whose product exceeds the address space.
template <class What>
void check_end(const What &what, const Place &place, const Side &side, const char *name) {
    if (what.WidthInBytes == 0 || what.Height == 0 || depth_of(what) == 0)
        return;
    using Wide = long double; // products of four sizes
    const Wide rows = Wide(place.y) + (what.Height - 1) +
                      Wide(place.rows) * (Wide(place.z) + (depth_of(what) - 1));
    const Wide end = Wide(place.x) + what.WidthInBytes + Wide(place.pitch) * rows;
    if (side.buffer.data() != nullptr && end > Wide(side.buffer.extent()))
        throw Error("structured_copy", CUDA_ERROR_INVALID_VALUE,
                    "the copy exceeds its " + std::string(name) + ", " +
                        std::to_string(side.buffer.extent()) + " bytes of host memory");
    constexpr Wide kAddressSpace = 18446744073709551616.0L; // 2^64
    if (end > kAddressSpace)
        throw Error("structured_copy", CUDA_ERROR_INVALID_VALUE,
                    "the copy ends beyond all memory at its " + std::string(name) +
                        ": see its pitch and its height");
}

/// Throws if the program has not set the memory of a side, or has set a memory type that does not
/// fit. The driver would access the address 0, or memory as an array. Throws for an Array that was
/// freed after it was set.
void check_memory(CUmemorytype type, const Side &side, const char *name) {
    if (type == CU_MEMORYTYPE_ARRAY && nb::isinstance<CudaArray>(side.owner))
        static_cast<void>(cuda_array_of(side.owner, name));
    const bool fits = type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED ||
                      (type == CU_MEMORYTYPE_HOST && side.buffer.data() != nullptr) ||
                      (type == CU_MEMORYTYPE_ARRAY && nb::isinstance<CudaArray>(side.owner));
    if (!fits)
        throw Error("structured_copy", CUDA_ERROR_INVALID_VALUE,
                    "the " + std::string(name) +
                        " of the copy is not set, or is not of its memory " + "type, " +
                        std::to_string(static_cast<int>(type)));
}

template <class Copy> void check_host_memory(const Copy &copy) {
    check_end(copy.what, source_place(copy.what), copy.source, "source");
    check_end(copy.what, destination_place(copy.what), copy.destination, "destination");
}

/// Records the work's use of the memory of both sides. Their addresses were read earlier.
template <class Copy> void use_memory(Copy &copy, Work &work) {
    find_device_address(copy.source.owner, "the source", work, Access::Read);
    find_device_address(copy.destination.owner, "the destination", work, Access::Write);
}

/// Host memory must exist until the stream has finished the copy, also if the copy object does not.
template <class Copy> void keep_until_done(const Copy &copy, Work &work) {
    for (const Side *side : {&copy.source, &copy.destination})
        if (side->buffer.data() != nullptr)
            work.keep_until_done(keep_alive(HostBuffer::strided_to_read(side->owner, "buffer")));
}

/// Without a stream, the copy is work of the current stream, and the call waits for the copy.
template <class Copy, class Start, class Run>
void run_copy(Copy &copy, nb::handle stream, Start &&start, Run &&run) {
    const auto &what = copy.what;
    if (what.WidthInBytes != 0 && what.Height != 0 && depth_of(what) != 0) {
        check_memory(what.srcMemoryType, copy.source, "source");
        check_memory(what.dstMemoryType, copy.destination, "destination");
    }
    check_host_memory(copy);
    PythonWork work({copy.destination.owner, copy.source.owner}, stream);
    use_memory(copy, work.get());
    const bool waits = stream.is_none();
    if (waits)
        work.get().require_running("a copy without a stream");
    if (waits && work.stream().is_default())
        return run(copy.what);
    start(copy.what, work.stream());
    if (waits)
        return synchronize(work.stream());
    keep_until_done(copy, work.get());
}

bool is_stream(nb::handle object) { return nb::isinstance<Stream>(object); }

void call_2d(Copy2D &copy, nb::object aligned, nb::object stream) {
    if (is_stream(aligned)) // PyCUDA's second form: copy(stream)
        std::swap(aligned, stream);
    const bool is_aligned = truth_of(aligned);
    run_copy(copy, stream, copy_2d_async, [&](const CUDA_MEMCPY2D &what) {
        copy_2d(what, is_aligned ? RowAlignment::Aligned : RowAlignment::Any);
    });
}

void call_3d(Copy3D &copy, nb::object stream) { run_copy(copy, stream, copy_3d_async, copy_3d); }

void call_peer(CopyPeer &copy, nb::object stream) {
    run_copy(copy, stream, copy_3d_to_peer_async, copy_3d_to_peer);
}

} // namespace

void bind_structured_copy(nb::module_ &module) {
    nb::class_<Copy2D> copy_2d(
        module, "Memcpy2D",
        "A copy of a rectangle: ``height`` rows of ``width_in_bytes`` "
        "bytes, between host memory, device memory and Arrays.\n\n"
        "Set both sides with set_src_host(), set_dst_device() and their like, then the "
        "extents and pitches, then call the object. The pitch is\n"
        "the distance between the begins of two rows in bytes; an Array "
        "needs none. A copy object can be changed and called\n"
        "again. An end past host memory raises LogicError.\n\n"
        ">>> matrix = gpuarray.zeros((3, 4), np.float32)\n"
        ">>> copy = cuda.Memcpy2D()\n"
        ">>> copy.set_src_host(np.ones((2, 2), np.float32))\n"
        ">>> copy.set_dst_device(matrix.gpudata)\n"
        ">>> copy.src_pitch, copy.dst_pitch = 8, 16\n"
        ">>> copy.dst_x_in_bytes, copy.dst_y = 4, 1\n"
        ">>> copy.width_in_bytes, copy.height = 8, 2\n"
        ">>> copy()\n"
        ">>> matrix\n"
        "array([[0., 0., 0., 0.],\n"
        "       [0., 1., 1., 0.],\n"
        "       [0., 1., 1., 0.]], dtype=float32)");
    copy_2d.def(nb::init<>());
    bind_fields(copy_2d);
    bind_sides(copy_2d);
    copy_2d.def("__call__", call_2d, nb::lock_self(), nb::arg("aligned") = false,
                nb::arg("stream") = nb::none(),
                "Run the copy.\n\n"
                "aligned: True promises that device rows begin as mem_alloc_pitch() aligns them; "
                "the driver need not check.\n"
                "stream: a Stream; the call then returns before the copy is done. None waits for "
                "the copy.\n\n"
                "A Stream as the first argument is ``stream``. Raises LogicError if the copy "
                "reaches past the end of host memory.");

    nb::class_<Copy3D> copy_3d(
        module, "Memcpy3D",
        "A copy of a box: ``depth`` slices of ``height`` rows of ``width_in_bytes`` bytes.\n\n"
        "As Memcpy2D, with a third dimension: src_height and dst_height are the rows from one "
        "slice to the next, src_z and dst_z\n"
        "the first slices.\n\n"
        ">>> volume = np.arange(8, dtype=np.float32).reshape(2, 2, 2)\n"
        ">>> target = gpuarray.zeros((2, 2, 2), np.float32)\n"
        ">>> copy = cuda.Memcpy3D()\n"
        ">>> copy.set_src_host(volume)\n"
        ">>> copy.set_dst_device(target.gpudata)\n"
        ">>> copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 8\n"
        ">>> copy.src_height = copy.dst_height = copy.height = 2\n"
        ">>> copy.depth = 2\n"
        ">>> copy()\n"
        ">>> bool((target.get() == volume).all())\n"
        "True");
    copy_3d.def(nb::init<>());
    bind_fields_3d(copy_3d);
    bind_sides(copy_3d);
    copy_3d.def("__call__", call_3d, nb::lock_self(), nb::arg("stream") = nb::none(),
                "Run the copy.\n\n"
                "stream: a Stream; the call then returns before the copy is done. None waits for "
                "the copy.\n\n"
                "Raises LogicError if the copy reaches past the end of host memory.");

    nb::class_<CopyPeer> copy_peer(
        module, "Memcpy3DPeer",
        "A copy of a box between two contexts, also of different devices.\n\n"
        "As Memcpy3D. set_src_context() and set_dst_context() name the contexts of the two sides; "
        "at first both are the current\n"
        "context. The devices need no peer access: without it, the driver copies through the "
        "host.");
    copy_peer.def("__init__", [](CopyPeer *self) {
        new (self) CopyPeer();
        CUcontext current = Context::require_current().get();
        self->what.srcContext = self->what.dstContext = current;
    });
    bind_fields_3d(copy_peer);
    bind_sides(copy_peer);
    copy_peer
        .def(
            "set_src_context",
            [](CopyPeer &copy, const Context &context) { copy.what.srcContext = context.get(); },
            nb::arg("context"), nb::keep_alive<1, 2>(),
            "Set the context of the source memory. The constructor sets the current context.\n\n"
            "context: a Context; the copy object keeps it alive.")
        .def(
            "set_dst_context",
            [](CopyPeer &copy, const Context &context) { copy.what.dstContext = context.get(); },
            nb::arg("context"), nb::keep_alive<1, 2>(),
            "Set the context of the destination memory. The constructor sets the current "
            "context.\n\n"
            "context: a Context; the copy object keeps it alive.")
        .def("__call__", call_peer, nb::lock_self(), nb::arg("stream") = nb::none(),
             "Run the copy.\n\n"
             "stream: a Stream; the call then returns before the copy is done. None waits for the "
             "copy.\n\n"
             "Raises LogicError if the copy reaches past the end of host memory.");
}

} // namespace pycuda::python
