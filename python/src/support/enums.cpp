// enums.cpp -- the constants of the driver with PyCUDA's names.
//
// Each row of the table at the end becomes a class pycuda._driver.<name>, which pycuda._enum
// creates.
#include "support/bindings.h"

#include <cuda.h>

#include <initializer_list>

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
    {"event_flags",
     {{"DEFAULT", CU_EVENT_DEFAULT},
      {"BLOCKING_SYNC", CU_EVENT_BLOCKING_SYNC},
      {"DISABLE_TIMING", CU_EVENT_DISABLE_TIMING},
      {"INTERPROCESS", CU_EVENT_INTERPROCESS}}},
    {"ipc_mem_flags", {{"LAZY_ENABLE_PEER_ACCESS", CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS}}},
    {"mem_attach_flags",
     {{"GLOBAL", CU_MEM_ATTACH_GLOBAL},
      {"HOST", CU_MEM_ATTACH_HOST},
      {"SINGLE", CU_MEM_ATTACH_SINGLE}}},
    {"memory_type",
     {{"HOST", CU_MEMORYTYPE_HOST},
      {"DEVICE", CU_MEMORYTYPE_DEVICE},
      {"ARRAY", CU_MEMORYTYPE_ARRAY},
      {"UNIFIED", CU_MEMORYTYPE_UNIFIED}}},
    {"pointer_attribute",
     {{"CONTEXT", CU_POINTER_ATTRIBUTE_CONTEXT},
      {"MEMORY_TYPE", CU_POINTER_ATTRIBUTE_MEMORY_TYPE},
      {"DEVICE_POINTER", CU_POINTER_ATTRIBUTE_DEVICE_POINTER},
      {"HOST_POINTER", CU_POINTER_ATTRIBUTE_HOST_POINTER}}},
    {"compute_mode",
     {{"DEFAULT", CU_COMPUTEMODE_DEFAULT},
      {"PROHIBITED", CU_COMPUTEMODE_PROHIBITED},
      {"EXCLUSIVE_PROCESS", CU_COMPUTEMODE_EXCLUSIVE_PROCESS}}},
    {"func_cache",
     {{"PREFER_NONE", CU_FUNC_CACHE_PREFER_NONE},
      {"PREFER_SHARED", CU_FUNC_CACHE_PREFER_SHARED},
      {"PREFER_L1", CU_FUNC_CACHE_PREFER_L1},
      {"PREFER_EQUAL", CU_FUNC_CACHE_PREFER_EQUAL}}},
    {"shared_config",
     {{"DEFAULT_BANK_SIZE", CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE},
      {"FOUR_BYTE_BANK_SIZE", CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE},
      {"EIGHT_BYTE_BANK_SIZE", CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE}}},
    {"limit",
     {{"STACK_SIZE", CU_LIMIT_STACK_SIZE},
      {"PRINTF_FIFO_SIZE", CU_LIMIT_PRINTF_FIFO_SIZE},
      {"MALLOC_HEAP_SIZE", CU_LIMIT_MALLOC_HEAP_SIZE},
      {"DEV_RUNTIME_SYNC_DEPTH", CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH},
      {"DEV_RUNTIME_PENDING_LAUNCH_COUNT", CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT}}},
    {"array_format",
     {{"UNSIGNED_INT8", CU_AD_FORMAT_UNSIGNED_INT8},
      {"UNSIGNED_INT16", CU_AD_FORMAT_UNSIGNED_INT16},
      {"UNSIGNED_INT32", CU_AD_FORMAT_UNSIGNED_INT32},
      {"SIGNED_INT8", CU_AD_FORMAT_SIGNED_INT8},
      {"SIGNED_INT16", CU_AD_FORMAT_SIGNED_INT16},
      {"SIGNED_INT32", CU_AD_FORMAT_SIGNED_INT32},
      {"HALF", CU_AD_FORMAT_HALF},
      {"FLOAT", CU_AD_FORMAT_FLOAT}}},
    {"array_cubemap_face",
     {{"POSITIVE_X", CU_CUBEMAP_FACE_POSITIVE_X},
      {"NEGATIVE_X", CU_CUBEMAP_FACE_NEGATIVE_X},
      {"POSITIVE_Y", CU_CUBEMAP_FACE_POSITIVE_Y},
      {"NEGATIVE_Y", CU_CUBEMAP_FACE_NEGATIVE_Y},
      {"POSITIVE_Z", CU_CUBEMAP_FACE_POSITIVE_Z},
      {"NEGATIVE_Z", CU_CUBEMAP_FACE_NEGATIVE_Z}}},
    {"address_mode",
     {{"WRAP", CU_TR_ADDRESS_MODE_WRAP},
      {"CLAMP", CU_TR_ADDRESS_MODE_CLAMP},
      {"MIRROR", CU_TR_ADDRESS_MODE_MIRROR},
      {"BORDER", CU_TR_ADDRESS_MODE_BORDER}}},
    {"filter_mode", {{"POINT", CU_TR_FILTER_MODE_POINT}, {"LINEAR", CU_TR_FILTER_MODE_LINEAR}}},
    {"profiler_output_mode", {{"KEY_VALUE_PAIR", 0}, {"CSV", 1}}},
    {"jit_option",
     {{"MAX_REGISTERS", CU_JIT_MAX_REGISTERS},
      {"THREADS_PER_BLOCK", CU_JIT_THREADS_PER_BLOCK},
      {"WALL_TIME", CU_JIT_WALL_TIME},
      {"INFO_LOG_BUFFER", CU_JIT_INFO_LOG_BUFFER},
      {"INFO_LOG_BUFFER_SIZE_BYTES", CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES},
      {"ERROR_LOG_BUFFER", CU_JIT_ERROR_LOG_BUFFER},
      {"ERROR_LOG_BUFFER_SIZE_BYTES", CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES},
      {"OPTIMIZATION_LEVEL", CU_JIT_OPTIMIZATION_LEVEL},
      {"TARGET_FROM_CUCONTEXT", CU_JIT_TARGET_FROM_CUCONTEXT},
      {"TARGET", CU_JIT_TARGET},
      {"FALLBACK_STRATEGY", CU_JIT_FALLBACK_STRATEGY},
      {"GENERATE_DEBUG_INFO", CU_JIT_GENERATE_DEBUG_INFO},
      {"LOG_VERBOSE", CU_JIT_LOG_VERBOSE},
      {"GENERATE_LINE_INFO", CU_JIT_GENERATE_LINE_INFO},
      {"CACHE_MODE", CU_JIT_CACHE_MODE}}},
    {"jit_target",
     {{"COMPUTE_30", 30},
      {"COMPUTE_32", 32},
      {"COMPUTE_35", 35},
      {"COMPUTE_37", 37},
      {"COMPUTE_50", 50},
      {"COMPUTE_52", 52},
      {"COMPUTE_53", 53},
      {"COMPUTE_60", 60},
      {"COMPUTE_61", 61},
      {"COMPUTE_62", 62},
      {"COMPUTE_70", 70},
      {"COMPUTE_72", 72},
      {"COMPUTE_75", 75},
      {"COMPUTE_80", 80},
      {"COMPUTE_86", 86},
      {"COMPUTE_87", 87},
      {"COMPUTE_89", 89},
      {"COMPUTE_90", 90},
      {"COMPUTE_90A", 0x10000 + 90},
      {"COMPUTE_100", 100},
      {"COMPUTE_103", 103},
      {"COMPUTE_110", 110},
      {"COMPUTE_120", 120},
      {"COMPUTE_121", 121}}},
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
    {"capture_mode",
     {{"GLOBAL", CU_STREAM_CAPTURE_MODE_GLOBAL},
      {"THREAD_LOCAL", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
      {"RELAXED", CU_STREAM_CAPTURE_MODE_RELAXED}}},
    {"mem_advice",
     {{"SET_READ_MOSTLY", CU_MEM_ADVISE_SET_READ_MOSTLY},
      {"UNSET_READ_MOSTLY", CU_MEM_ADVISE_UNSET_READ_MOSTLY},
      {"SET_PREFERRED_LOCATION", CU_MEM_ADVISE_SET_PREFERRED_LOCATION},
      {"UNSET_PREFERRED_LOCATION", CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION},
      {"SET_ACCESSED_BY", CU_MEM_ADVISE_SET_ACCESSED_BY},
      {"UNSET_ACCESSED_BY", CU_MEM_ADVISE_UNSET_ACCESSED_BY}}},
    {"direction_vector_set",
     {{"VECTOR_32", 101},
      {"SCRAMBLED_VECTOR_32", 102},
      {"VECTOR_64", 103},
      {"SCRAMBLED_VECTOR_64", 104}}},
    {"graphics_map_flags", {{"NONE", 0}, {"READ_ONLY", 1}, {"WRITE_DISCARD", 2}}},
};

/// Plain classes whose attributes are plain ints.
const std::initializer_list<Enum> flag_holders = {
    {"host_alloc_flags",
     {{"PORTABLE", CU_MEMHOSTALLOC_PORTABLE},
      {"DEVICEMAP", CU_MEMHOSTALLOC_DEVICEMAP},
      {"WRITECOMBINED", CU_MEMHOSTALLOC_WRITECOMBINED}}},
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
