// dlpack.h -- the parts of DLPack's C interface that this package uses (version 1.3).
//
// The structs follow the specification: https://dmlc.github.io/dlpack/latest/c_api.html.
#pragma once

#include <cstdint>

namespace pycuda::python::dlpack {

enum DeviceType : std::int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, CudaManaged = 13 };

struct Device {
    DeviceType type;
    std::int32_t id;
};

enum TypeCode : std::uint8_t { Int = 0, UInt = 1, Float = 2, BFloat = 4, Complex = 5, Bool = 6 };

struct DataType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

struct Tensor {
    void *data;
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t *shape;
    std::int64_t *strides;
    std::uint64_t byte_offset;
};

struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};

/// The content of a capsule named "dltensor"; its tensor is the first member.
struct ManagedTensor {
    Tensor tensor;
    void *manager;
    void (*deleter)(ManagedTensor *);
};

/// The content of a capsule named "dltensor_versioned".
struct ManagedTensorVersioned {
    Version version;
    void *manager;
    void (*deleter)(ManagedTensorVersioned *);
    std::uint64_t flags;
    Tensor tensor;
};

/// The functions that a type provides as `__dlpack_c_exchange_api__`, a capsule named
/// "dlpack_exchange_api". They exist as long as the process.
struct ExchangeApi {
    Version version;
    ExchangeApi *previous;
    void *managed_tensor_allocator;
    void *managed_tensor_from_object;
    void *managed_tensor_to_object;
    int (*tensor_from_object)(void *object, Tensor *tensor); // may be null
    int (*current_work_stream)(DeviceType device_type, std::int32_t device_id, void **stream);
};

} // namespace pycuda::python::dlpack
