// enums.cpp -- the constants of the driver with PyCUDA's names.
//
// Each row of the table at the end becomes a class pycuda._driver.<name>, which pycuda._enum
// creates.
#include "support/bindings.h"

#include <cuda.h>

#include <initializer_list>
#include <string>

namespace pycuda::python {
namespace {

struct Member {
    const char *name;
    long value;
};

struct Enum {
    const char *name;
    std::initializer_list<Member> members;
};

// Each name is written once: MEMBERS(CU_TR_FILTER_MODE_, POINT, LINEAR) is
// {{"POINT", CU_TR_FILTER_MODE_POINT}, {"LINEAR", CU_TR_FILTER_MODE_LINEAR}}. At most 20 names.
#define MEMBERS(prefix, ...) {SCAN_AGAIN(EACH(prefix, __VA_ARGS__))}
#define EACH(prefix, name, ...)                                                                    \
    {#name, prefix##name}, __VA_OPT__(EACH_OF_REST NO_ARGUMENTS(prefix, __VA_ARGS__))
#define EACH_OF_REST() EACH
#define NO_ARGUMENTS ()
#define SCAN_AGAIN(...) SCAN_4(SCAN_4(SCAN_4(SCAN_4(__VA_ARGS__))))
#define SCAN_4(...) SCAN(SCAN(SCAN(SCAN(__VA_ARGS__))))
#define SCAN(...) __VA_ARGS__

const std::initializer_list<Member> device_attributes = {
#define PYCUDA_DEVICE_ATTRIBUTE(name, value) {#name, value},
#define PYCUDA_DEVICE_ATTRIBUTE_ALIAS(name, value) {#name, value},
#include <abi/attributes.def>
};

const std::initializer_list<Member> function_attributes = {
#define PYCUDA_FUNCTION_ATTRIBUTE(name, value) {#name, value},
#include <abi/attributes.def>
    {"MAX", CU_FUNC_ATTRIBUTE_MAX},
};

/// Classes whose members are ints with a name.
const std::initializer_list<Enum> enums = {
    {"device_attribute", device_attributes},
    {"function_attribute", function_attributes},
    {"ctx_flags",
     {{"SCHED_AUTO", CU_CTX_SCHED_AUTO},
      {"SCHED_SPIN", CU_CTX_SCHED_SPIN},
      {"SCHED_YIELD", CU_CTX_SCHED_YIELD},
      {"SCHED_MASK", CU_CTX_SCHED_MASK},
      {"SCHED_BLOCKING_SYNC", CU_CTX_SCHED_BLOCKING_SYNC},
      {"BLOCKING_SYNC", CU_CTX_SCHED_BLOCKING_SYNC},
      {"MAP_HOST", CU_CTX_MAP_HOST},
      {"LMEM_RESIZE_TO_MAX", CU_CTX_LMEM_RESIZE_TO_MAX},
      {"FLAGS_MASK", 0xff}}},
    {"stream_flags", {{"DEFAULT", CU_STREAM_DEFAULT}, {"NON_BLOCKING", CU_STREAM_NON_BLOCKING}}},
    {"event_flags", MEMBERS(CU_EVENT_, DEFAULT, BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS)},
    {"ipc_mem_flags", {{"LAZY_ENABLE_PEER_ACCESS", CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}}},
    {"mem_attach_flags", MEMBERS(CU_MEM_ATTACH_, GLOBAL, HOST, SINGLE)},
    {"memory_type", MEMBERS(CU_MEMORYTYPE_, HOST, DEVICE, ARRAY, UNIFIED)},
    {"pointer_attribute",
     MEMBERS(CU_POINTER_ATTRIBUTE_, CONTEXT, MEMORY_TYPE, DEVICE_POINTER, HOST_POINTER)},
    {"compute_mode", MEMBERS(CU_COMPUTEMODE_, DEFAULT, PROHIBITED, EXCLUSIVE_PROCESS)},
    {"func_cache", MEMBERS(CU_FUNC_CACHE_, PREFER_NONE, PREFER_SHARED, PREFER_L1, PREFER_EQUAL)},
    {"shared_config",
     MEMBERS(CU_SHARED_MEM_CONFIG_, DEFAULT_BANK_SIZE, FOUR_BYTE_BANK_SIZE, EIGHT_BYTE_BANK_SIZE)},
    {"limit", MEMBERS(CU_LIMIT_, STACK_SIZE, PRINTF_FIFO_SIZE, MALLOC_HEAP_SIZE,
                      DEV_RUNTIME_SYNC_DEPTH, DEV_RUNTIME_PENDING_LAUNCH_COUNT)},
    {"array_format", MEMBERS(CU_AD_FORMAT_, UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32,
                             SIGNED_INT8, SIGNED_INT16, SIGNED_INT32, HALF, FLOAT)},
    {"array_cubemap_face", MEMBERS(CU_CUBEMAP_FACE_, POSITIVE_X, NEGATIVE_X, POSITIVE_Y, NEGATIVE_Y,
                                   POSITIVE_Z, NEGATIVE_Z)},
    {"address_mode", MEMBERS(CU_TR_ADDRESS_MODE_, WRAP, CLAMP, MIRROR, BORDER)},
    {"filter_mode", {{"POINT", CU_TR_FILTER_MODE_POINT}, {"LINEAR", CU_TR_FILTER_MODE_LINEAR}}},
    {"profiler_output_mode", {{"KEY_VALUE_PAIR", 0}, {"CSV", 1}}},
    {"jit_option",
     MEMBERS(CU_JIT_, MAX_REGISTERS, THREADS_PER_BLOCK, WALL_TIME, INFO_LOG_BUFFER,
             INFO_LOG_BUFFER_SIZE_BYTES, ERROR_LOG_BUFFER, ERROR_LOG_BUFFER_SIZE_BYTES,
             OPTIMIZATION_LEVEL, TARGET_FROM_CUCONTEXT, TARGET, FALLBACK_STRATEGY,
             GENERATE_DEBUG_INFO, LOG_VERBOSE, GENERATE_LINE_INFO, CACHE_MODE)},
    {"jit_fallback", {{"PREFER_PTX", CU_PREFER_PTX}, {"PREFER_BINARY", CU_PREFER_BINARY}}},
    {"jit_input_type",
     {{"CUBIN", CU_JIT_INPUT_CUBIN},
      {"PTX", CU_JIT_INPUT_PTX},
      {"FATBINARY", CU_JIT_INPUT_FATBINARY},
      {"OBJECT", CU_JIT_INPUT_OBJECT},
      {"LIBRARY", CU_JIT_INPUT_LIBRARY},
      {"LTOIR", 5}}}, // CU_JIT_INPUT_NVVM, which cuda.h deprecates
    {"mem_access",
     {{"NONE", CU_MEM_ACCESS_FLAGS_PROT_NONE},
      {"READ", CU_MEM_ACCESS_FLAGS_PROT_READ},
      {"READ_WRITE", CU_MEM_ACCESS_FLAGS_PROT_READWRITE}}},
    {"graphics_register_flags",
     {{"NONE", 0},
      {"READ_ONLY", 1},
      {"WRITE_DISCARD", 2},
      {"SURFACE_LDST", 4},
      {"TEXTURE_GATHER", 8}}},
    {"capture_mode", MEMBERS(CU_STREAM_CAPTURE_MODE_, GLOBAL, THREAD_LOCAL, RELAXED)},
    {"mem_advice",
     MEMBERS(CU_MEM_ADVISE_, SET_READ_MOSTLY, UNSET_READ_MOSTLY, SET_PREFERRED_LOCATION,
             UNSET_PREFERRED_LOCATION, SET_ACCESSED_BY, UNSET_ACCESSED_BY)},
    {"direction_vector_set",
     {{"VECTOR_32", 101},
      {"SCRAMBLED_VECTOR_32", 102},
      {"VECTOR_64", 103},
      {"SCRAMBLED_VECTOR_64", 104}}},
    {"graphics_map_flags", {{"NONE", 0}, {"READ_ONLY", 1}, {"WRITE_DISCARD", 2}}},
};

/// Plain classes whose attributes are plain ints.
const std::initializer_list<Enum> flag_holders = {
    {"host_alloc_flags", MEMBERS(CU_MEMHOSTALLOC_, PORTABLE, DEVICEMAP, WRITECOMBINED)},
    {"mem_host_register_flags",
     {{"PORTABLE", CU_MEMHOSTREGISTER_PORTABLE}, {"DEVICEMAP", CU_MEMHOSTREGISTER_DEVICEMAP}}},
    {"array3d_flags",
     {{"ARRAY3D_2DARRAY", CUDA_ARRAY3D_2DARRAY},
      {"ARRAY3D_LAYERED", CUDA_ARRAY3D_LAYERED},
      {"LAYERED", CUDA_ARRAY3D_LAYERED},
      {"2DARRAY", CUDA_ARRAY3D_2DARRAY},
      {"SURFACE_LDST", CUDA_ARRAY3D_SURFACE_LDST},
      {"CUBEMAP", CUDA_ARRAY3D_CUBEMAP},
      {"TEXTURE_GATHER", CUDA_ARRAY3D_TEXTURE_GATHER}}},
};

/// cuda.h has no names for old ones.
nb::dict jit_targets() {
    nb::dict targets;
    for (const int number : {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70, 72,
                             75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121})
        targets[("COMPUTE_" + std::to_string(number)).c_str()] = number;
    targets["COMPUTE_90A"] = 0x10000 + 90;
    return targets;
}

nb::dict members_of(const Enum &description) {
    nb::dict members;
    for (const Member &member : description.members)
        members[member.name] = member.value;
    return members;
}

} // namespace

void bind_enums(nb::module_ &module) {
    nb::object make_enum = nb::module_::import_("pycuda._enum").attr("make_enum");
    for (const Enum &description : enums)
        module.attr(description.name) = make_enum(description.name, members_of(description));
    module.attr("jit_target") = make_enum("jit_target", jit_targets());

    nb::handle type = reinterpret_cast<PyObject *>(&PyType_Type);
    for (const Enum &description : flag_holders) {
        nb::dict members = members_of(description);
        members["__module__"] = "pycuda._driver";
        module.attr(description.name) = type(description.name, nb::make_tuple(), members);
    }

    module.attr("TRSA_OVERRIDE_FORMAT") = CU_TRSA_OVERRIDE_FORMAT;
    module.attr("TRSF_READ_AS_INTEGER") = CU_TRSF_READ_AS_INTEGER;
    module.attr("TRSF_NORMALIZED_COORDINATES") = CU_TRSF_NORMALIZED_COORDINATES;
    module.attr("TR_DEFAULT") = CU_PARAM_TR_DEFAULT;
}

} // namespace pycuda::python
