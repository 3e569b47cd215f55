// nccl.cpp -- communicators of NCCL; pycuda/nccl.py checks what they are called with.
#include "bindings.h"

#include "array_object.h"
#include "device_pointer.h"
#include "device_scope.h"

#include <pycuda/nccl.h>
#include <pycuda/stream_use.h>

#include <algorithm>
#include <cstring>

namespace pycuda::python {
namespace {

NcclId id_from(const nb::bytes &bytes) {
    NcclId id{};
    if (bytes.size() != id.size())
        throw std::invalid_argument("a unique id has " + std::to_string(id.size()) +
                                    " bytes, not " + std::to_string(bytes.size()));
    std::memcpy(id.data(), bytes.data(), id.size());
    return id;
}

/// The arrays of a call: their addresses, and their memory kept until the stream is done with it.
class CallOfArrays {
  public:
    CallOfArrays(std::initializer_list<nb::handle> arrays, nb::handle stream)
        : scope_(std::span<const nb::handle>(arrays.begin(), arrays.size())),
          use_(stream_ref(stream)) {}

    CUstream stream() const noexcept { return use_.stream().get(); }

    CUdeviceptr address(nb::handle array) {
        if (array.is_none())
            return 0;
        const Array &known = require_array(array, "the array");
        return known.size() == 0 ? 0 : use_.address(known);
    }

  private:
    DeviceScope scope_;
    StreamUse use_;
};

/// Calls `work` with both addresses and the stream.
template <class Work>
void exchange(nb::handle from, nb::handle to, nb::handle stream, const Work &work) {
    CallOfArrays call({from, to}, stream);
    const CUdeviceptr in = call.address(from), out = call.address(to);
    nb::gil_scoped_release release; // in NCCL the call may wait for other threads of this process
    work(in, out, call.stream());
}

void all_reduce(NcclCommunicator &comm, nb::handle from, nb::handle to, std::size_t count, int type,
                int operation, nb::handle stream) {
    exchange(from, to, stream, [&](CUdeviceptr in, CUdeviceptr out, CUstream queue) {
        comm.all_reduce(in, out, count, type, operation, queue);
    });
}

void reduce(NcclCommunicator &comm, nb::handle from, nb::handle to, std::size_t count, int type,
            int operation, int root, nb::handle stream) {
    exchange(from, to, stream, [&](CUdeviceptr in, CUdeviceptr out, CUstream queue) {
        comm.reduce(in, out, count, type, operation, root, queue);
    });
}

void broadcast(NcclCommunicator &comm, nb::handle from, nb::handle to, std::size_t count, int type,
               int root, nb::handle stream) {
    exchange(from, to, stream, [&](CUdeviceptr in, CUdeviceptr out, CUstream queue) {
        comm.broadcast(in, out, count, type, root, queue);
    });
}

void all_gather(NcclCommunicator &comm, nb::handle from, nb::handle to, std::size_t count, int type,
                nb::handle stream) {
    exchange(from, to, stream, [&](CUdeviceptr in, CUdeviceptr out, CUstream queue) {
        comm.all_gather(in, out, count, type, queue);
    });
}

void reduce_scatter(NcclCommunicator &comm, nb::handle from, nb::handle to, std::size_t count,
                    int type, int operation, nb::handle stream) {
    exchange(from, to, stream, [&](CUdeviceptr in, CUdeviceptr out, CUstream queue) {
        comm.reduce_scatter(in, out, count, type, operation, queue);
    });
}

void send(NcclCommunicator &comm, nb::handle from, std::size_t count, int type, int peer,
          nb::handle stream) {
    CallOfArrays call({from}, stream);
    const CUdeviceptr in = call.address(from);
    nb::gil_scoped_release release;
    comm.send(in, count, type, peer, call.stream());
}

void receive(NcclCommunicator &comm, nb::handle to, std::size_t count, int type, int peer,
             nb::handle stream) {
    CallOfArrays call({to}, stream);
    const CUdeviceptr out = call.address(to);
    nb::gil_scoped_release release;
    comm.receive(out, count, type, peer, call.stream());
}

} // namespace

void bind_nccl(nb::module_ &module) {
    nb::exception<NcclFailure>(module, "NcclError", PyExc_RuntimeError).attr("__doc__") =
        "NCCL reported a failure, or there is no NCCL.";
    module.def("_nccl_version", nccl_version);
    module.def("_nccl_unique_id", [] {
        const NcclId id = make_nccl_id();
        return nb::bytes(id.data(), id.size());
    });
    module.def("_nccl_note_use", on_device_of_arrays(+[](nb::handle array, nb::handle stream) {
                   CallOfArrays({array}, stream).address(array);
               }),
               nb::arg("array"), nb::arg("stream").none());
    module.def("_nccl_group_start", nccl_group_start);
    module.def("_nccl_group_end", nccl_group_end, nb::call_guard<nb::gil_scoped_release>());
    nb::class_<NcclCommunicator>(module, "_NcclCommunicator", "A rank's part of a communicator.")
        .def(
            "__init__",
            [](NcclCommunicator *self, const nb::bytes &bytes, int ranks, int rank) {
                const NcclId id = id_from(bytes);
                nb::gil_scoped_release release;
                new (self) NcclCommunicator(id, ranks, rank);
            },
            nb::arg("unique_id"), nb::arg("ranks"), nb::arg("rank"))
        .def("all_reduce", all_reduce, nb::arg("send"), nb::arg("receive"), nb::arg("count"),
             nb::arg("type"), nb::arg("operation"), nb::arg("stream").none())
        .def("reduce", reduce, nb::arg("send"), nb::arg("receive").none(), nb::arg("count"),
             nb::arg("type"), nb::arg("operation"), nb::arg("root"), nb::arg("stream").none())
        .def("broadcast", broadcast, nb::arg("send").none(), nb::arg("receive"), nb::arg("count"),
             nb::arg("type"), nb::arg("root"), nb::arg("stream").none())
        .def("all_gather", all_gather, nb::arg("send"), nb::arg("receive"), nb::arg("count"),
             nb::arg("type"), nb::arg("stream").none())
        .def("reduce_scatter", reduce_scatter, nb::arg("send"), nb::arg("receive"),
             nb::arg("count"), nb::arg("type"), nb::arg("operation"), nb::arg("stream").none())
        .def("send", send, nb::arg("array"), nb::arg("count"), nb::arg("type"), nb::arg("peer"),
             nb::arg("stream").none())
        .def("receive", receive, nb::arg("array"), nb::arg("count"), nb::arg("type"),
             nb::arg("peer"), nb::arg("stream").none())
        .def("check", &NcclCommunicator::check)
        .def("destroy", &NcclCommunicator::destroy, nb::call_guard<nb::gil_scoped_release>())
        .def("abort", &NcclCommunicator::abort, nb::call_guard<nb::gil_scoped_release>());
}

} // namespace pycuda::python
