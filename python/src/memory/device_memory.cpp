// device_memory.cpp -- DeviceAllocation, ManagedAllocation, PointerHolderBase, IPCMemoryHandle.
#include "memory/device_memory.h"

#include "memory/device_pointer.h"
#include "memory/host_buffer.h"
#include "support/allocate.h"
#include "support/bindings.h"
#include "support/buffer_export.h"
#include "support/python_object.h"
#include "support/with_block.h"

#include <pycuda/driver.h>
#include <pycuda/handle.h>
#include <pycuda/memory.h>

#include <nanobind/stl/string.h>
#include <nanobind/trampoline.h>

#include <cstring>

namespace pycuda::python {

ManagedAllocation::ManagedAllocation(std::size_t bytes, unsigned attach)
    : DeviceMemory([&] {
          Context context = Context::require_current();
          CUdeviceptr address = 0;
          driver().cuMemAllocManaged(&address, bytes, attach);
          return DeviceMemory::adopt(address, bytes, std::move(context));
      }()) {}

void ManagedAllocation::attach(unsigned flags, StreamRef stream) const {
    driver().cuStreamAttachMemAsync(stream.get(), get(), 0, flags);
}

namespace {

CUresult close_ipc_memory(CUdeviceptr address) {
    return driver().cuIpcCloseMemHandle.status(address);
}

CUdeviceptr open_ipc_memory(nb::handle handle, unsigned flags) {
    HostBuffer bytes = HostBuffer::to_read(handle, "handle");
    CUipcMemHandle raw;
    if (bytes.size() != sizeof raw)
        throw Error("ipc_memory_handle", CUDA_ERROR_INVALID_VALUE,
                    "a handle has " + std::to_string(sizeof raw) + " bytes, not " +
                        std::to_string(bytes.size()));
    std::memcpy(&raw, bytes.data(), sizeof raw);
    CUdeviceptr address = 0;
    const CUresult result = driver().cuIpcOpenMemHandle.status(&address, raw, flags);
    check(result, "cuIpcOpenMemHandle", [&] {
        return result == CUDA_ERROR_INVALID_CONTEXT ? "only another process can open the handle"
                                                    : "";
    });
    return address;
}

/// Memory of another process, which is open as long as this object exists.
class IpcMemory {
  public:
    IpcMemory(nb::handle handle, unsigned flags)
        : memory_(Owner::adopt(open_ipc_memory(handle, flags), Context::require_current())) {}

    CUdeviceptr get() const {
        if (memory_.get() == 0)
            throw Error("ipc_memory_handle::get", CUDA_ERROR_INVALID_HANDLE,
                        "the handle was closed before");
        return memory_.get();
    }
    void close() {
        check(close_ipc_memory(get()), "cuIpcCloseMemHandle");
        memory_.release();
    }

  private:
    using Owner = Handle<CUdeviceptr, close_ipc_memory>;
    Owner memory_;
};

CUdeviceptr address_of(nb::handle holder) { return unsigned_integer(pointer_of(holder)); }

/// Memory that the host accesses through a memoryview, which keeps the owner.
struct HostView {
    nb::object owner;
    char *start;
    std::size_t bytes;

    void *data() const { return start; }
    std::size_t size() const noexcept { return bytes; }
};

nb::object view_of(nb::object owner, CUdeviceptr address, std::size_t size, std::size_t offset) {
    if (size > PY_SSIZE_T_MAX)
        throw_value_error("size is " + std::to_string(size) + ", more than memory can have");
    auto *start = reinterpret_cast<char *>(address) + offset;
    const nb::object view = nb::cast(HostView{std::move(owner), start, size});
    return made(PyMemoryView_FromObject(view.ptr()));
}

DeviceMemory mem_alloc(nb::handle size) {
    const std::size_t bytes = byte_count(size, "bytes");
    return allocate_or_collect([&] { return DeviceMemory(bytes); });
}

nb::tuple mem_alloc_pitch(std::size_t width, std::size_t height, unsigned access_size) {
    PitchedMemory pitched =
        allocate_or_collect([&] { return allocate_pitched(width, height, access_size); });
    return nb::make_tuple(nb::cast(std::move(pitched.memory)), pitched.pitch);
}

nb::tuple mem_get_address_range(nb::handle pointer) {
    AddressRange range = address_range(device_address(pointer, "devptr"));
    return nb::make_tuple(range.base, range.size);
}

nb::bytearray mem_get_ipc_handle(nb::handle pointer) {
    CUipcMemHandle handle;
    driver().cuIpcGetMemHandle(&handle, device_address(pointer, "devptr"));
    return nb::bytearray(&handle, sizeof handle);
}

std::string represent(nb::handle self) {
    const DeviceMemory &memory = nb::cast<const DeviceMemory &>(self);
    const std::string name = "<pycuda.driver." + unqualified_name_of_type(self);
    if (memory.freed())
        return name + ", freed>";
    char text[64];
    std::snprintf(text, sizeof text, " of %zu bytes at 0x%llx>", memory.size(),
                  static_cast<unsigned long long>(memory.get()));
    return name + text;
}

void bind_allocation(nb::module_ &module) {
    bind_with_block(
        nb::class_<DeviceMemory>(
            module, "DeviceAllocation", nb::dynamic_attr(), nb::is_weak_referenceable(),
            "Memory on the device. mem_alloc() makes it, and the last reference frees it.\n\n"
            "``int(memory)`` is the address, so ``int(memory) + n`` is the address n bytes "
            "further. A kernel takes both as a\n"
            "pointer; an address alone does not keep the memory alive. ``with memory:`` frees the "
            "memory at the end of the block.\n\n"
            ">>> memory = cuda.mem_alloc(16)\n"
            ">>> cuda.memset_d32(memory, 7, 4)\n"
            ">>> cuda.memset_d32(int(memory) + 8, 9, 2)\n"
            ">>> cuda.from_device(memory, 4, np.int32)\n"
            "array([7, 7, 9, 9], dtype=int32)")
            .def("free", &DeviceMemory::free, nb::lock_self(),
                 "Free the memory now. Work that uses the memory must be done.\n\n"
                 "Raises LogicError if the memory was freed before.")
            .def(
                "as_buffer",
                [](nb::handle self, std::size_t size, std::size_t offset) {
                    const auto &memory = nb::cast<const DeviceMemory &>(self);
                    return host_view(self, memory.get(), memory.size(), size, offset);
                },
                nb::arg("size"), nb::arg("offset") = 0,
                "A memoryview of the memory, for memory that the host can access (managed memory, "
                "softcuda). The view keeps the\n"
                "memory alive; free() makes the view invalid.\n\n"
                "size: its length in bytes.\n"
                "offset: bytes from the beginning of the allocation.\n\n"
                "Raises ValueError for a range that is not inside the allocation.")
            .def_prop_ro("size", &DeviceMemory::size, "In bytes.")
            .def("__int__", &DeviceMemory::get)
            .def("__index__", &DeviceMemory::get)
            .def("__long__", &DeviceMemory::get)
            .def("__repr__", represent),
        "free");

    nb::class_<ManagedAllocation, DeviceMemory>(
        module, "ManagedAllocation", buffer_export<ManagedAllocation>(),
        "Managed memory: one address for host and device. The driver moves the pages to where they "
        "are used.\n\n"
        "bytes: the size.\n"
        "mem_flags: mem_attach_flags.GLOBAL, the default, or HOST.\n\n"
        "The object is a buffer of the host: ``np.frombuffer(memory, dtype)`` is an array in the "
        "memory. The host may use the\n"
        "memory while no kernel runs; synchronize first. managed_empty() makes such an array "
        "directly. Raises MemoryError if\n"
        "the device has too little memory.\n\n"
        ">>> memory = cuda.ManagedAllocation(16)\n"
        ">>> host = np.frombuffer(memory, np.int32)\n"
        ">>> cuda.memset_d32(memory, 5, 4)\n"
        ">>> cuda.Context.synchronize()\n"
        ">>> host\n"
        "array([5, 5, 5, 5], dtype=int32)")
        .def(
            "__init__",
            [](ManagedAllocation *self, std::size_t bytes, unsigned flags) {
                allocate_or_collect([&] { return new (self) ManagedAllocation(bytes, flags); });
            },
            nb::arg("bytes"), nb::arg("mem_flags") = unsigned{CU_MEM_ATTACH_GLOBAL})
        .def("get_device_pointer", &ManagedAllocation::get,
             "Return the address for kernels, which is also the address on the host, as an int.")
        .def(
            "attach",
            [](const ManagedAllocation &memory, unsigned flags, nb::handle stream) {
                memory.attach(flags, stream_ref(stream));
            },
            nb::arg("mem_flags"), nb::arg("stream") = nb::none(),
            "Attach the memory to a stream, so that the host may use the memory while other "
            "streams run.\n\n"
            "mem_flags: a member of mem_attach_flags.\n"
            "stream: a Stream; by default the thread's current stream.");
    module.attr("ManagedAllocationOrStub") = module.attr("ManagedAllocation");
}

} // namespace

nb::object pointer_of(nb::handle holder) {
    const nb::object get_pointer = optional_attribute(holder, "get_pointer");
    if (!get_pointer.is_valid())
        throw_type_error(name_of_type(holder) +
                         " does not define get_pointer(), which returns the address");
    return get_pointer();
}

nb::object host_view(nb::handle owner, CUdeviceptr address, std::size_t bytes, std::size_t size,
                     std::size_t offset) {
    if (offset > bytes || size > bytes - offset)
        throw_value_error("a buffer of " + std::to_string(size) + " bytes from byte " +
                          std::to_string(offset) + " on does not fit into the " +
                          std::to_string(bytes) + " bytes of the allocation");
    return view_of(nb::borrow(owner), address, size, offset);
}

void bind_device_memory(nb::module_ &module) {
    nb::class_<HostView>(module, "_HostView", buffer_export<HostView>());
    bind_allocation(module);

    nb::class_<PointerHolder>(module, "PointerHolderBase", nb::dynamic_attr(),
                              nb::is_weak_referenceable(),
                              "Base of Python classes that are kernel arguments: a subclass "
                              "defines get_pointer(), which returns an address, or memory "
                              "that has one.\n\n"
                              "Kernels, copies, fills and ``int()`` call get_pointer() each time. "
                              "The object must keep its memory alive, and exists until\n"
                              "the work that uses it is done. Memory of arrays that get_pointer() "
                              "returns is used as the arrays are, in the order of its\n"
                              "streams.\n\n"
                              ">>> class Tail(cuda.PointerHolderBase):\n"
                              "...     def __init__(self, memory, offset):\n"
                              "...         super().__init__()\n"
                              "...         self.memory, self.offset = memory, offset\n"
                              "...     def get_pointer(self):\n"
                              "...         return int(self.memory) + self.offset\n"
                              ">>> tail = Tail(cuda.mem_alloc(16), 8)\n"
                              ">>> cuda.memset_d32(tail, 3, 2)\n"
                              ">>> cuda.from_device(tail, 2, np.int32)\n"
                              "array([3, 3], dtype=int32)")
        .def(nb::init<>())
        .def("__int__", address_of)
        .def("__index__", address_of)
        .def(
            "as_buffer",
            [](nb::handle self, std::size_t size, std::size_t offset) {
                return view_of(nb::borrow(self), address_of(self), size, offset);
            },
            nb::arg("size"), nb::arg("offset") = 0,
            "A memoryview of the memory, for memory that the host can access (managed memory, "
            "softcuda).\n\n"
            "size: its length in bytes.\n"
            "offset: bytes from the address of get_pointer().");

    nb::class_<IpcMemory>(module, "IPCMemoryHandle",
                          "Memory of another process.\n\n"
                          "handle: the 64 bytes of mem_get_ipc_handle() in the other process.\n"
                          "flags: 1 (lazy peer access), the only value that CUDA defines.")
        .def(nb::init<nb::handle, unsigned>(), nb::arg("handle"),
             nb::arg("flags") = unsigned{CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS})
        .def("close", &IpcMemory::close, nb::lock_self(),
             "Unmap the memory in this process. The owning process keeps the memory.\n\n"
             "Work that uses the memory must be done. Raises LogicError if the handle was closed "
             "before.")
        .def("__int__", &IpcMemory::get)
        .def("__index__", &IpcMemory::get);

    module.def("mem_alloc", mem_alloc, nb::arg("bytes"),
               nb::sig("def mem_alloc(bytes: int) -> DeviceAllocation"),
               "Allocate memory on the current device.\n\n"
               "bytes: the size, at least 1.\n\n"
               "The contents are undefined. Raises MemoryError if the device has too little "
               "memory, ValueError for a negative\n"
               "size, LogicError for 0 bytes or without a context.\n\n"
               ">>> memory = cuda.mem_alloc(16)\n"
               ">>> cuda.memcpy_htod(memory, np.arange(4, dtype=np.float32))\n"
               ">>> host = np.empty(4, np.float32)\n"
               ">>> cuda.memcpy_dtoh(host, memory)\n"
               ">>> host\n"
               "array([0., 1., 2., 3.], dtype=float32)");
    module.def("mem_alloc_pitch", mem_alloc_pitch, nb::arg("width"), nb::arg("height"),
               nb::arg("access_size"),
               "Allocate rows that start at aligned addresses. Returns (memory, pitch).\n\n"
               "width: bytes of a row.\n"
               "height: the number of rows.\n"
               "access_size: bytes of the largest access of a kernel: 4, 8 or 16.\n\n"
               "Row i starts ``i * pitch`` bytes after the beginning. Raises LogicError for "
               "another access_size, and MemoryError.");
    module.def("mem_get_address_range", mem_get_address_range, nb::arg("devptr"),
               "The allocation that contains an address: (address of its begin, bytes).\n\n"
               "Raises LogicError for an address that is not in device memory.");
    module.def("mem_get_ipc_handle", mem_get_ipc_handle, nb::arg("devptr"),
               "The 64 bytes with which IPCMemoryHandle opens this memory in another process.\n\n"
               "devptr: the begin of an allocation.");
}

} // namespace pycuda::python
