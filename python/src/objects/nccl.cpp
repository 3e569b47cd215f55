// nccl.cpp -- communicators of NCCL. The arguments are documented in pycuda/nccl.py.
#include "support/bindings.h"

#include "objects/nccl_call.h"

#include <pycuda/nccl.h>

#include <cstring>
#include <new>
#include <string>

namespace pycuda::python {
namespace {

using Kind = NcclCall::Kind;
using Self = nb::pointer_and_handle<NcclRank>;

NcclId id_from(const nb::bytes &bytes) {
    NcclId id{};
    if (bytes.size() != id.size())
        throw std::invalid_argument("a unique id must have " + std::to_string(id.size()) +
                                    " bytes, not " + std::to_string(bytes.size()));
    std::memcpy(id.data(), bytes.data(), id.size());
    return id;
}

void join(NcclRank *self, const nb::bytes &bytes, int ranks, int rank) {
    const NcclId id = id_from(bytes);
    nb::gil_scoped_release release;
    new (self) NcclRank(id, ranks, rank);
}

void all_reduce(Self self, nb::handle from, nb::handle to, nb::handle operation,
                nb::handle stream) {
    call_nccl(self, {Kind::AllReduce, from, to, operation}, stream);
}

/// `to` is None on ranks that do not receive the result.
void reduce(Self self, nb::handle from, nb::handle to, nb::handle operation, int root,
            nb::handle stream) {
    call_nccl(self, {Kind::Reduce, from, to.is_none() ? nb::handle() : to, operation, root},
              stream);
}

void broadcast(Self self, nb::handle array, int root, nb::handle stream) {
    call_nccl(self, {Kind::Broadcast, array, array, {}, root}, stream);
}

void all_gather(Self self, nb::handle from, nb::handle to, nb::handle stream) {
    call_nccl(self, {Kind::AllGather, from, to}, stream);
}

void reduce_scatter(Self self, nb::handle from, nb::handle to, nb::handle operation,
                    nb::handle stream) {
    call_nccl(self, {Kind::ReduceScatter, from, to, operation}, stream);
}

void send(Self self, nb::handle array, int peer, nb::handle stream) {
    call_nccl(self, {Kind::Send, array, {}, {}, peer}, stream);
}

void receive(Self self, nb::handle array, int peer, nb::handle stream) {
    call_nccl(self, {Kind::Receive, {}, array, {}, peer}, stream);
}

void bind_group(nb::module_ &module) {
    module.def("_nccl_in_group", is_in_group, "Whether this thread is in a group.");
    nb::class_<PendingGroup>(module, "_NcclGroup", "The calls of a block, made at its end.")
        .def(nb::init<>())
        .def("__enter__", &PendingGroup::enter)
        .def(
            "__exit__",
            [](PendingGroup &self, nb::handle kind, nb::handle, nb::handle) {
                self.exit(!kind.is_none());
            },
            nb::arg("kind").none(), nb::arg("value").none(), nb::arg("trace").none());
}

} // namespace

void bind_nccl(nb::module_ &module) {
    nb::exception<NcclFailure>(module, "NcclError", PyExc_RuntimeError).attr("__doc__") =
        "Raised when an NCCL function fails, and when no NCCL library is found.\n\n"
        "A subclass of Python's RuntimeError. The message has the function and NCCL's own message.";
    module.def("_nccl_version", nccl_version);
    module.def("_nccl_unique_id", [] {
        const NcclId id = make_nccl_id();
        return nb::bytes(id.data(), id.size());
    });
    bind_group(module);
    const auto no_gil = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<NcclRank>(module, "_NcclCommunicator", "A rank's part of a communicator.")
        .def("__init__", join, nb::arg("unique_id"), nb::arg("ranks"), nb::arg("rank"))
        .def("all_reduce", all_reduce, nb::arg("send").none(), nb::arg("receive").none(),
             nb::arg("op").none(), nb::arg("stream").none())
        .def("reduce", reduce, nb::arg("send").none(), nb::arg("receive").none(),
             nb::arg("op").none(), nb::arg("root"), nb::arg("stream").none())
        .def("broadcast", broadcast, nb::arg("array").none(), nb::arg("root"),
             nb::arg("stream").none())
        .def("all_gather", all_gather, nb::arg("send").none(), nb::arg("receive").none(),
             nb::arg("stream").none())
        .def("reduce_scatter", reduce_scatter, nb::arg("send").none(), nb::arg("receive").none(),
             nb::arg("op").none(), nb::arg("stream").none())
        .def("send", send, nb::arg("array").none(), nb::arg("peer"), nb::arg("stream").none())
        .def("receive", receive, nb::arg("array").none(), nb::arg("peer"), nb::arg("stream").none())
        .def("check", [](const NcclRank &self) { self.communicator.check(); })
        .def(
            "destroy", [](NcclRank &self) { self.communicator.destroy(); }, no_gil)
        .def("abort", [](NcclRank &self) { self.communicator.abort(); }, no_gil);
}

} // namespace pycuda::python
