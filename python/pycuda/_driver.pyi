"""The CUDA driver API, as pycuda.driver shows it."""

import types
from collections.abc import Callable, Sequence
from typing import TypeAlias, overload

import pycuda._enum

class Error(Exception):
    """
    A call of the driver failed. `code` is the driver's number of the failure, `name` its name; both are None where PyCUDA itself objects. On softcuda, where a kernel has failed, `file` and `line` are the place in its source, `kernel` is its name, `block` and `thread` are indices (x, y, z), `address` is what it accessed, `access` is 'read' or 'write', `allocation` is the nearest one (base, size), `variable` is the name of the array, and `parameter` is the number of the kernel's parameter that is the pointer. What is not known is None, as all of these are on NVIDIA's driver.
    """

    code: int | None

    name: str | None

    file: str | None

    line: int | None

    kernel: str | None

    block: tuple[int, int, int] | None

    thread: tuple[int, int, int] | None

    address: int | None

    access: str | None

    allocation: pycuda._fault.Allocation | None

    variable: str | None

    parameter: int | None

class MemoryError(Error):
    """
    Raised when the device has too little free memory.

    The message has the number of bytes that were wanted and that are free.
    """

class LaunchError(Error):
    """
    Raised when a kernel failed while it ran, or could not start.

    A call that waits reports a failure of an earlier kernel. After such a failure the context is unusable.
    """

class RuntimeError(Error):
    """
    Raised when the machine or an image is unsuitable: no device, no code for this device, no such file, or a defect of the device.

    pycuda.driver.RuntimeError is not Python's RuntimeError.
    """

class LogicError(Error):
    """
    Raised when a call is invalid in the current state: a wrong argument, no context, a freed object.

    An invalid memory access of a kernel is a LogicError, too.
    """

class ArgumentError(LogicError, TypeError):
    """
    Raised when the arguments of a launch do not match the kernel's parameters.

    The message names the kernel, the argument, the value and the expected type.
    """

class device_attribute(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    MAX_THREADS_PER_BLOCK: device_attribute = ...

    MAX_BLOCK_DIM_X: device_attribute = pycuda._driver.device_attribute.MAX_BLOCK_DIM_X

    MAX_BLOCK_DIM_Y: device_attribute = pycuda._driver.device_attribute.MAX_BLOCK_DIM_Y

    MAX_BLOCK_DIM_Z: device_attribute = pycuda._driver.device_attribute.MAX_BLOCK_DIM_Z

    MAX_GRID_DIM_X: device_attribute = pycuda._driver.device_attribute.MAX_GRID_DIM_X

    MAX_GRID_DIM_Y: device_attribute = pycuda._driver.device_attribute.MAX_GRID_DIM_Y

    MAX_GRID_DIM_Z: device_attribute = pycuda._driver.device_attribute.MAX_GRID_DIM_Z

    MAX_SHARED_MEMORY_PER_BLOCK: device_attribute = ...

    TOTAL_CONSTANT_MEMORY: device_attribute = ...

    WARP_SIZE: device_attribute = pycuda._driver.device_attribute.WARP_SIZE

    MAX_PITCH: device_attribute = pycuda._driver.device_attribute.MAX_PITCH

    MAX_REGISTERS_PER_BLOCK: device_attribute = ...

    CLOCK_RATE: device_attribute = pycuda._driver.device_attribute.CLOCK_RATE

    TEXTURE_ALIGNMENT: device_attribute = (
        pycuda._driver.device_attribute.TEXTURE_ALIGNMENT
    )

    GPU_OVERLAP: device_attribute = pycuda._driver.device_attribute.GPU_OVERLAP

    MULTIPROCESSOR_COUNT: device_attribute = ...

    KERNEL_EXEC_TIMEOUT: device_attribute = ...

    INTEGRATED: device_attribute = pycuda._driver.device_attribute.INTEGRATED

    CAN_MAP_HOST_MEMORY: device_attribute = ...

    COMPUTE_MODE: device_attribute = pycuda._driver.device_attribute.COMPUTE_MODE

    MAXIMUM_TEXTURE1D_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_HEIGHT: device_attribute = ...

    MAXIMUM_TEXTURE3D_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE3D_HEIGHT: device_attribute = ...

    MAXIMUM_TEXTURE3D_DEPTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_LAYERED_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_LAYERED_HEIGHT: device_attribute = ...

    MAXIMUM_TEXTURE2D_LAYERED_LAYERS: device_attribute = ...

    SURFACE_ALIGNMENT: device_attribute = (
        pycuda._driver.device_attribute.SURFACE_ALIGNMENT
    )

    CONCURRENT_KERNELS: device_attribute = ...

    ECC_ENABLED: device_attribute = pycuda._driver.device_attribute.ECC_ENABLED

    PCI_BUS_ID: device_attribute = pycuda._driver.device_attribute.PCI_BUS_ID

    PCI_DEVICE_ID: device_attribute = pycuda._driver.device_attribute.PCI_DEVICE_ID

    TCC_DRIVER: device_attribute = pycuda._driver.device_attribute.TCC_DRIVER

    MEMORY_CLOCK_RATE: device_attribute = (
        pycuda._driver.device_attribute.MEMORY_CLOCK_RATE
    )

    GLOBAL_MEMORY_BUS_WIDTH: device_attribute = ...

    L2_CACHE_SIZE: device_attribute = pycuda._driver.device_attribute.L2_CACHE_SIZE

    MAX_THREADS_PER_MULTIPROCESSOR: device_attribute = ...

    ASYNC_ENGINE_COUNT: device_attribute = ...

    UNIFIED_ADDRESSING: device_attribute = ...

    MAXIMUM_TEXTURE1D_LAYERED_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE1D_LAYERED_LAYERS: device_attribute = ...

    CAN_TEX2D_GATHER: device_attribute = (
        pycuda._driver.device_attribute.CAN_TEX2D_GATHER
    )

    MAXIMUM_TEXTURE2D_GATHER_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_GATHER_HEIGHT: device_attribute = ...

    MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE: device_attribute = ...

    MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE: device_attribute = ...

    MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE: device_attribute = ...

    PCI_DOMAIN_ID: device_attribute = pycuda._driver.device_attribute.PCI_DOMAIN_ID

    TEXTURE_PITCH_ALIGNMENT: device_attribute = ...

    MAXIMUM_TEXTURECUBEMAP_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS: device_attribute = ...

    MAXIMUM_SURFACE1D_WIDTH: device_attribute = ...

    MAXIMUM_SURFACE2D_WIDTH: device_attribute = ...

    MAXIMUM_SURFACE2D_HEIGHT: device_attribute = ...

    MAXIMUM_SURFACE3D_WIDTH: device_attribute = ...

    MAXIMUM_SURFACE3D_HEIGHT: device_attribute = ...

    MAXIMUM_SURFACE3D_DEPTH: device_attribute = ...

    MAXIMUM_SURFACE1D_LAYERED_WIDTH: device_attribute = ...

    MAXIMUM_SURFACE1D_LAYERED_LAYERS: device_attribute = ...

    MAXIMUM_SURFACE2D_LAYERED_WIDTH: device_attribute = ...

    MAXIMUM_SURFACE2D_LAYERED_HEIGHT: device_attribute = ...

    MAXIMUM_SURFACE2D_LAYERED_LAYERS: device_attribute = ...

    MAXIMUM_SURFACECUBEMAP_WIDTH: device_attribute = ...

    MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH: device_attribute = ...

    MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS: device_attribute = ...

    MAXIMUM_TEXTURE1D_LINEAR_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_LINEAR_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_LINEAR_HEIGHT: device_attribute = ...

    MAXIMUM_TEXTURE2D_LINEAR_PITCH: device_attribute = ...

    MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT: device_attribute = ...

    COMPUTE_CAPABILITY_MAJOR: device_attribute = ...

    COMPUTE_CAPABILITY_MINOR: device_attribute = ...

    MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH: device_attribute = ...

    STREAM_PRIORITIES_SUPPORTED: device_attribute = ...

    GLOBAL_L1_CACHE_SUPPORTED: device_attribute = ...

    LOCAL_L1_CACHE_SUPPORTED: device_attribute = ...

    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: device_attribute = ...

    MAX_REGISTERS_PER_MULTIPROCESSOR: device_attribute = ...

    MANAGED_MEMORY: device_attribute = pycuda._driver.device_attribute.MANAGED_MEMORY

    MULTI_GPU_BOARD: device_attribute = pycuda._driver.device_attribute.MULTI_GPU_BOARD

    MULTI_GPU_BOARD_GROUP_ID: device_attribute = ...

    HOST_NATIVE_ATOMIC_SUPPORTED: device_attribute = ...

    SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: device_attribute = ...

    PAGEABLE_MEMORY_ACCESS: device_attribute = ...

    CONCURRENT_MANAGED_ACCESS: device_attribute = ...

    COMPUTE_PREEMPTION_SUPPORTED: device_attribute = ...

    CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: device_attribute = ...

    CAN_USE_STREAM_MEM_OPS_V1: device_attribute = ...

    CAN_USE_64_BIT_STREAM_MEM_OPS_V1: device_attribute = ...

    CAN_USE_STREAM_WAIT_VALUE_NOR_V1: device_attribute = ...

    COOPERATIVE_LAUNCH: device_attribute = ...

    COOPERATIVE_MULTI_DEVICE_LAUNCH: device_attribute = ...

    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: device_attribute = ...

    CAN_FLUSH_REMOTE_WRITES: device_attribute = ...

    HOST_REGISTER_SUPPORTED: device_attribute = ...

    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES: device_attribute = ...

    DIRECT_MANAGED_MEM_ACCESS_FROM_HOST: device_attribute = ...

    VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: device_attribute = ...

    HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: device_attribute = ...

    HANDLE_TYPE_WIN32_HANDLE_SUPPORTED: device_attribute = ...

    HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED: device_attribute = ...

    MAX_BLOCKS_PER_MULTIPROCESSOR: device_attribute = ...

    GENERIC_COMPRESSION_SUPPORTED: device_attribute = ...

    MAX_PERSISTING_L2_CACHE_SIZE: device_attribute = ...

    MAX_ACCESS_POLICY_WINDOW_SIZE: device_attribute = ...

    GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: device_attribute = ...

    RESERVED_SHARED_MEMORY_PER_BLOCK: device_attribute = ...

    SPARSE_CUDA_ARRAY_SUPPORTED: device_attribute = ...

    READ_ONLY_HOST_REGISTER_SUPPORTED: device_attribute = ...

    TIMELINE_SEMAPHORE_INTEROP_SUPPORTED: device_attribute = ...

    MEMORY_POOLS_SUPPORTED: device_attribute = ...

    GPU_DIRECT_RDMA_SUPPORTED: device_attribute = ...

    GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: device_attribute = ...

    GPU_DIRECT_RDMA_WRITES_ORDERING: device_attribute = ...

    MEMPOOL_SUPPORTED_HANDLE_TYPES: device_attribute = ...

    CLUSTER_LAUNCH: device_attribute = pycuda._driver.device_attribute.CLUSTER_LAUNCH

    DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED: device_attribute = ...

    CAN_USE_64_BIT_STREAM_MEM_OPS: device_attribute = ...

    CAN_USE_STREAM_WAIT_VALUE_NOR: device_attribute = ...

    DMA_BUF_SUPPORTED: device_attribute = (
        pycuda._driver.device_attribute.DMA_BUF_SUPPORTED
    )

    IPC_EVENT_SUPPORTED: device_attribute = ...

    MEM_SYNC_DOMAIN_COUNT: device_attribute = ...

    TENSOR_MAP_ACCESS_SUPPORTED: device_attribute = ...

    HANDLE_TYPE_FABRIC_SUPPORTED: device_attribute = ...

    UNIFIED_FUNCTION_POINTERS: device_attribute = ...

    NUMA_CONFIG: device_attribute = pycuda._driver.device_attribute.NUMA_CONFIG

    NUMA_ID: device_attribute = pycuda._driver.device_attribute.NUMA_ID

    MULTICAST_SUPPORTED: device_attribute = ...

    MPS_ENABLED: device_attribute = pycuda._driver.device_attribute.MPS_ENABLED

    HOST_NUMA_ID: device_attribute = pycuda._driver.device_attribute.HOST_NUMA_ID

    D3D12_CIG_SUPPORTED: device_attribute = ...

    MEM_DECOMPRESS_ALGORITHM_MASK: device_attribute = ...

    MEM_DECOMPRESS_MAXIMUM_LENGTH: device_attribute = ...

    VULKAN_CIG_SUPPORTED: device_attribute = ...

    GPU_PCI_DEVICE_ID: device_attribute = (
        pycuda._driver.device_attribute.GPU_PCI_DEVICE_ID
    )

    GPU_PCI_SUBSYSTEM_ID: device_attribute = ...

    HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: device_attribute = ...

    HOST_NUMA_MEMORY_POOLS_SUPPORTED: device_attribute = ...

    HOST_NUMA_MULTINODE_IPC_SUPPORTED: device_attribute = ...

    HOST_MEMORY_POOLS_SUPPORTED: device_attribute = ...

    HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: device_attribute = ...

    HOST_ALLOC_DMA_BUF_SUPPORTED: device_attribute = ...

    ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED: device_attribute = ...

    SHARED_MEMORY_PER_BLOCK: device_attribute = ...

    REGISTERS_PER_BLOCK: device_attribute = ...

    MAXIMUM_TEXTURE2D_ARRAY_WIDTH: device_attribute = ...

    MAXIMUM_TEXTURE2D_ARRAY_HEIGHT: device_attribute = ...

    MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES: device_attribute = ...

    VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED: device_attribute = ...

class function_attribute(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    MAX_THREADS_PER_BLOCK: function_attribute = ...

    SHARED_SIZE_BYTES: function_attribute = ...

    CONST_SIZE_BYTES: function_attribute = ...

    LOCAL_SIZE_BYTES: function_attribute = ...

    NUM_REGS: function_attribute = pycuda._driver.function_attribute.NUM_REGS

    PTX_VERSION: function_attribute = pycuda._driver.function_attribute.PTX_VERSION

    BINARY_VERSION: function_attribute = (
        pycuda._driver.function_attribute.BINARY_VERSION
    )

    CACHE_MODE_CA: function_attribute = pycuda._driver.function_attribute.CACHE_MODE_CA

    MAX_DYNAMIC_SHARED_SIZE_BYTES: function_attribute = ...

    PREFERRED_SHARED_MEMORY_CARVEOUT: function_attribute = ...

    CLUSTER_SIZE_MUST_BE_SET: function_attribute = ...

    REQUIRED_CLUSTER_WIDTH: function_attribute = ...

    REQUIRED_CLUSTER_HEIGHT: function_attribute = ...

    REQUIRED_CLUSTER_DEPTH: function_attribute = ...

    NON_PORTABLE_CLUSTER_SIZE_ALLOWED: function_attribute = ...

    CLUSTER_SCHEDULING_POLICY_PREFERENCE: function_attribute = ...

    MAX: function_attribute = pycuda._driver.function_attribute.MAX

class ctx_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    SCHED_AUTO: ctx_flags = pycuda._driver.ctx_flags.SCHED_AUTO

    SCHED_SPIN: ctx_flags = pycuda._driver.ctx_flags.SCHED_SPIN

    SCHED_YIELD: ctx_flags = pycuda._driver.ctx_flags.SCHED_YIELD

    SCHED_MASK: ctx_flags = pycuda._driver.ctx_flags.SCHED_MASK

    SCHED_BLOCKING_SYNC: ctx_flags = pycuda._driver.ctx_flags.SCHED_BLOCKING_SYNC

    BLOCKING_SYNC: ctx_flags = pycuda._driver.ctx_flags.SCHED_BLOCKING_SYNC

    MAP_HOST: ctx_flags = pycuda._driver.ctx_flags.MAP_HOST

    LMEM_RESIZE_TO_MAX: ctx_flags = pycuda._driver.ctx_flags.LMEM_RESIZE_TO_MAX

    FLAGS_MASK: ctx_flags = pycuda._driver.ctx_flags.FLAGS_MASK

class stream_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    DEFAULT: stream_flags = pycuda._driver.stream_flags.DEFAULT

    NON_BLOCKING: stream_flags = pycuda._driver.stream_flags.NON_BLOCKING

class event_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    DEFAULT: event_flags = pycuda._driver.event_flags.DEFAULT

    BLOCKING_SYNC: event_flags = pycuda._driver.event_flags.BLOCKING_SYNC

    DISABLE_TIMING: event_flags = pycuda._driver.event_flags.DISABLE_TIMING

    INTERPROCESS: event_flags = pycuda._driver.event_flags.INTERPROCESS

class ipc_mem_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    LAZY_ENABLE_PEER_ACCESS: ipc_mem_flags = ...

class mem_attach_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    GLOBAL: mem_attach_flags = pycuda._driver.mem_attach_flags.GLOBAL

    HOST: mem_attach_flags = pycuda._driver.mem_attach_flags.HOST

    SINGLE: mem_attach_flags = pycuda._driver.mem_attach_flags.SINGLE

class memory_type(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    HOST: memory_type = pycuda._driver.memory_type.HOST

    DEVICE: memory_type = pycuda._driver.memory_type.DEVICE

    ARRAY: memory_type = pycuda._driver.memory_type.ARRAY

    UNIFIED: memory_type = pycuda._driver.memory_type.UNIFIED

class pointer_attribute(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    CONTEXT: pointer_attribute = pycuda._driver.pointer_attribute.CONTEXT

    MEMORY_TYPE: pointer_attribute = pycuda._driver.pointer_attribute.MEMORY_TYPE

    DEVICE_POINTER: pointer_attribute = pycuda._driver.pointer_attribute.DEVICE_POINTER

    HOST_POINTER: pointer_attribute = pycuda._driver.pointer_attribute.HOST_POINTER

class compute_mode(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    DEFAULT: compute_mode = pycuda._driver.compute_mode.DEFAULT

    PROHIBITED: compute_mode = pycuda._driver.compute_mode.PROHIBITED

    EXCLUSIVE_PROCESS: compute_mode = pycuda._driver.compute_mode.EXCLUSIVE_PROCESS

class func_cache(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    PREFER_NONE: func_cache = pycuda._driver.func_cache.PREFER_NONE

    PREFER_SHARED: func_cache = pycuda._driver.func_cache.PREFER_SHARED

    PREFER_L1: func_cache = pycuda._driver.func_cache.PREFER_L1

    PREFER_EQUAL: func_cache = pycuda._driver.func_cache.PREFER_EQUAL

class shared_config(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    DEFAULT_BANK_SIZE: shared_config = pycuda._driver.shared_config.DEFAULT_BANK_SIZE

    FOUR_BYTE_BANK_SIZE: shared_config = (
        pycuda._driver.shared_config.FOUR_BYTE_BANK_SIZE
    )

    EIGHT_BYTE_BANK_SIZE: shared_config = (
        pycuda._driver.shared_config.EIGHT_BYTE_BANK_SIZE
    )

class limit(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    STACK_SIZE: limit = pycuda._driver.limit.STACK_SIZE

    PRINTF_FIFO_SIZE: limit = pycuda._driver.limit.PRINTF_FIFO_SIZE

    MALLOC_HEAP_SIZE: limit = pycuda._driver.limit.MALLOC_HEAP_SIZE

    DEV_RUNTIME_SYNC_DEPTH: limit = pycuda._driver.limit.DEV_RUNTIME_SYNC_DEPTH

    DEV_RUNTIME_PENDING_LAUNCH_COUNT: limit = ...

class array_format(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    UNSIGNED_INT8: array_format = pycuda._driver.array_format.UNSIGNED_INT8

    UNSIGNED_INT16: array_format = pycuda._driver.array_format.UNSIGNED_INT16

    UNSIGNED_INT32: array_format = pycuda._driver.array_format.UNSIGNED_INT32

    SIGNED_INT8: array_format = pycuda._driver.array_format.SIGNED_INT8

    SIGNED_INT16: array_format = pycuda._driver.array_format.SIGNED_INT16

    SIGNED_INT32: array_format = pycuda._driver.array_format.SIGNED_INT32

    HALF: array_format = pycuda._driver.array_format.HALF

    FLOAT: array_format = pycuda._driver.array_format.FLOAT

class array_cubemap_face(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    POSITIVE_X: array_cubemap_face = pycuda._driver.array_cubemap_face.POSITIVE_X

    NEGATIVE_X: array_cubemap_face = pycuda._driver.array_cubemap_face.NEGATIVE_X

    POSITIVE_Y: array_cubemap_face = pycuda._driver.array_cubemap_face.POSITIVE_Y

    NEGATIVE_Y: array_cubemap_face = pycuda._driver.array_cubemap_face.NEGATIVE_Y

    POSITIVE_Z: array_cubemap_face = pycuda._driver.array_cubemap_face.POSITIVE_Z

    NEGATIVE_Z: array_cubemap_face = pycuda._driver.array_cubemap_face.NEGATIVE_Z

class address_mode(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    WRAP: address_mode = pycuda._driver.address_mode.WRAP

    CLAMP: address_mode = pycuda._driver.address_mode.CLAMP

    MIRROR: address_mode = pycuda._driver.address_mode.MIRROR

    BORDER: address_mode = pycuda._driver.address_mode.BORDER

class filter_mode(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    POINT: filter_mode = pycuda._driver.filter_mode.POINT

    LINEAR: filter_mode = pycuda._driver.filter_mode.LINEAR

class profiler_output_mode(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    KEY_VALUE_PAIR: profiler_output_mode = ...

    CSV: profiler_output_mode = pycuda._driver.profiler_output_mode.CSV

class jit_option(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    MAX_REGISTERS: jit_option = pycuda._driver.jit_option.MAX_REGISTERS

    THREADS_PER_BLOCK: jit_option = pycuda._driver.jit_option.THREADS_PER_BLOCK

    WALL_TIME: jit_option = pycuda._driver.jit_option.WALL_TIME

    INFO_LOG_BUFFER: jit_option = pycuda._driver.jit_option.INFO_LOG_BUFFER

    INFO_LOG_BUFFER_SIZE_BYTES: jit_option = ...

    ERROR_LOG_BUFFER: jit_option = pycuda._driver.jit_option.ERROR_LOG_BUFFER

    ERROR_LOG_BUFFER_SIZE_BYTES: jit_option = ...

    OPTIMIZATION_LEVEL: jit_option = pycuda._driver.jit_option.OPTIMIZATION_LEVEL

    TARGET_FROM_CUCONTEXT: jit_option = pycuda._driver.jit_option.TARGET_FROM_CUCONTEXT

    TARGET: jit_option = pycuda._driver.jit_option.TARGET

    FALLBACK_STRATEGY: jit_option = pycuda._driver.jit_option.FALLBACK_STRATEGY

    GENERATE_DEBUG_INFO: jit_option = pycuda._driver.jit_option.GENERATE_DEBUG_INFO

    LOG_VERBOSE: jit_option = pycuda._driver.jit_option.LOG_VERBOSE

    GENERATE_LINE_INFO: jit_option = pycuda._driver.jit_option.GENERATE_LINE_INFO

    CACHE_MODE: jit_option = pycuda._driver.jit_option.CACHE_MODE

class jit_target(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    COMPUTE_30: jit_target = pycuda._driver.jit_target.COMPUTE_30

    COMPUTE_32: jit_target = pycuda._driver.jit_target.COMPUTE_32

    COMPUTE_35: jit_target = pycuda._driver.jit_target.COMPUTE_35

    COMPUTE_37: jit_target = pycuda._driver.jit_target.COMPUTE_37

    COMPUTE_50: jit_target = pycuda._driver.jit_target.COMPUTE_50

    COMPUTE_52: jit_target = pycuda._driver.jit_target.COMPUTE_52

    COMPUTE_53: jit_target = pycuda._driver.jit_target.COMPUTE_53

    COMPUTE_60: jit_target = pycuda._driver.jit_target.COMPUTE_60

    COMPUTE_61: jit_target = pycuda._driver.jit_target.COMPUTE_61

    COMPUTE_62: jit_target = pycuda._driver.jit_target.COMPUTE_62

    COMPUTE_70: jit_target = pycuda._driver.jit_target.COMPUTE_70

    COMPUTE_72: jit_target = pycuda._driver.jit_target.COMPUTE_72

    COMPUTE_75: jit_target = pycuda._driver.jit_target.COMPUTE_75

    COMPUTE_80: jit_target = pycuda._driver.jit_target.COMPUTE_80

    COMPUTE_86: jit_target = pycuda._driver.jit_target.COMPUTE_86

    COMPUTE_87: jit_target = pycuda._driver.jit_target.COMPUTE_87

    COMPUTE_89: jit_target = pycuda._driver.jit_target.COMPUTE_89

    COMPUTE_90: jit_target = pycuda._driver.jit_target.COMPUTE_90

    COMPUTE_90A: jit_target = pycuda._driver.jit_target.COMPUTE_90A

    COMPUTE_100: jit_target = pycuda._driver.jit_target.COMPUTE_100

    COMPUTE_103: jit_target = pycuda._driver.jit_target.COMPUTE_103

    COMPUTE_110: jit_target = pycuda._driver.jit_target.COMPUTE_110

    COMPUTE_120: jit_target = pycuda._driver.jit_target.COMPUTE_120

    COMPUTE_121: jit_target = pycuda._driver.jit_target.COMPUTE_121

class jit_fallback(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    PREFER_PTX: jit_fallback = pycuda._driver.jit_fallback.PREFER_PTX

    PREFER_BINARY: jit_fallback = pycuda._driver.jit_fallback.PREFER_BINARY

class jit_input_type(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    CUBIN: jit_input_type = pycuda._driver.jit_input_type.CUBIN

    PTX: jit_input_type = pycuda._driver.jit_input_type.PTX

    FATBINARY: jit_input_type = pycuda._driver.jit_input_type.FATBINARY

    OBJECT: jit_input_type = pycuda._driver.jit_input_type.OBJECT

    LIBRARY: jit_input_type = pycuda._driver.jit_input_type.LIBRARY

    LTOIR: jit_input_type = pycuda._driver.jit_input_type.LTOIR

class mem_access(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    NONE: mem_access = pycuda._driver.mem_access.NONE

    READ: mem_access = pycuda._driver.mem_access.READ

    READ_WRITE: mem_access = pycuda._driver.mem_access.READ_WRITE

class graphics_register_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    NONE: graphics_register_flags = pycuda._driver.graphics_register_flags.NONE

    READ_ONLY: graphics_register_flags = (
        pycuda._driver.graphics_register_flags.READ_ONLY
    )

    WRITE_DISCARD: graphics_register_flags = ...

    SURFACE_LDST: graphics_register_flags = ...

    TEXTURE_GATHER: graphics_register_flags = ...

class capture_mode(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    GLOBAL: capture_mode = pycuda._driver.capture_mode.GLOBAL

    THREAD_LOCAL: capture_mode = pycuda._driver.capture_mode.THREAD_LOCAL

    RELAXED: capture_mode = pycuda._driver.capture_mode.RELAXED

class mem_advice(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    SET_READ_MOSTLY: mem_advice = pycuda._driver.mem_advice.SET_READ_MOSTLY

    UNSET_READ_MOSTLY: mem_advice = pycuda._driver.mem_advice.UNSET_READ_MOSTLY

    SET_PREFERRED_LOCATION: mem_advice = (
        pycuda._driver.mem_advice.SET_PREFERRED_LOCATION
    )

    UNSET_PREFERRED_LOCATION: mem_advice = ...

    SET_ACCESSED_BY: mem_advice = pycuda._driver.mem_advice.SET_ACCESSED_BY

    UNSET_ACCESSED_BY: mem_advice = pycuda._driver.mem_advice.UNSET_ACCESSED_BY

class direction_vector_set(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    VECTOR_32: direction_vector_set = pycuda._driver.direction_vector_set.VECTOR_32

    SCRAMBLED_VECTOR_32: direction_vector_set = ...

    VECTOR_64: direction_vector_set = pycuda._driver.direction_vector_set.VECTOR_64

    SCRAMBLED_VECTOR_64: direction_vector_set = ...

class graphics_map_flags(pycuda._enum.DriverEnum):
    names: dict = ...

    values: dict = ...

    NONE: graphics_map_flags = pycuda._driver.graphics_map_flags.NONE

    READ_ONLY: graphics_map_flags = pycuda._driver.graphics_map_flags.READ_ONLY

    WRITE_DISCARD: graphics_map_flags = pycuda._driver.graphics_map_flags.WRITE_DISCARD

class host_alloc_flags:
    PORTABLE: int = 1

    DEVICEMAP: int = 2

    WRITECOMBINED: int = 4

class mem_host_register_flags:
    PORTABLE: int = 1

    DEVICEMAP: int = 2

class array3d_flags:
    ARRAY3D_2DARRAY: int = 1

    ARRAY3D_LAYERED: int = 1

    LAYERED: int = 1

    SURFACE_LDST: int = 2

    CUBEMAP: int = 4

    TEXTURE_GATHER: int = 8

TRSA_OVERRIDE_FORMAT: int = 1

TRSF_READ_AS_INTEGER: int = 1

TRSF_NORMALIZED_COORDINATES: int = 2

TR_DEFAULT: int = -1

def init(flags: int = 0) -> None:
    """
    Initialise the driver. Call it before every other function; pycuda.autoinit does so.

    flags: must be 0.

    A second call does nothing. Raises RuntimeError if there is no device, and LogicError for other flags.
    """

def get_version() -> tuple[int, int, int]:
    """
    The CUDA version of the headers that PyCUDA was built with: (major, minor, revision).

    get_driver_version() is the version of the driver in use.
    """

def get_driver_version() -> int:
    """
    Return the newest CUDA version that the driver supports, as an int: 13000 is CUDA 13.0.

    The number is 1000 * major + 10 * minor. get_version() is the version that PyCUDA was built for.

    >>> cuda.get_driver_version() >= 11020
    True
    """

def get_driver_path() -> str:
    """
    Return the path of the driver library in use: NVIDIA's libcuda.so.1, or softcuda's libsoftcuda.so.

    The first use of the driver chooses the library; see PYCUDA_DRIVER.

    >>> "cuda.so" in cuda.get_driver_path()
    True
    """

def initialize_profiler(config_file: str, output_file: str, output_mode: int) -> None:
    """
    Always raises LogicError: CUDA removed the configurable profiler.

    The parameters are those of PyCUDA.
    """

def start_profiler() -> None:
    """
    Start collecting profiles in a program that runs under NVIDIA's profilers.

    Without a profiler the call does nothing. pycuda.profile() records a profile without another program.
    """

def stop_profiler() -> None:
    """
    Stop collecting profiles in a program that runs under NVIDIA's profilers.

    start_profiler() begins to collect. Without a profiler the call does nothing.
    """

class Device:
    """
    A GPU, or a device of softcuda.

    ordinal: the number of the device, from 0 to Device.count() - 1.
    pci_bus_id: instead, the device's place on the bus, such as "0000:01:00.0".

    ``with device:`` makes the device's primary context current in a block. Raises LogicError if there is no such
    device, or before init().

    >>> cuda.Device(0).get_attribute(cuda.device_attribute.WARP_SIZE)
    32
    """

    @overload
    def __init__(self, ordinal: int) -> None: ...
    @overload
    def __init__(self, pci_bus_id: str) -> None: ...
    @staticmethod
    def count() -> int:
        """
        Return the number of devices.

        CUDA_VISIBLE_DEVICES hides devices. SOFTCUDA_DEVICES sets the number of softcuda's devices, 1 by default. Raises
        LogicError before init().

        >>> [cuda.Device(i).handle for i in range(cuda.Device.count())][0]
        0
        """

    def name(self) -> str:
        """
        Return the device's name, such as "NVIDIA H200".

        A device of softcuda has the name of the CPU: "softcuda (AMD EPYC)".
        """

    def pci_bus_id(self) -> str:
        """
        Return the device's place on the PCI bus: "domain:bus:device.function", such as "0000:01:00.0".

        Device() takes this text in the place of the ordinal. The place names the device in all processes of a machine; an
        ordinal depends on CUDA_VISIBLE_DEVICES.

        >>> device = cuda.Device(0)
        >>> cuda.Device(device.pci_bus_id()) == device
        True
        """

    def uuid(self) -> bytes:
        """
        Return the 16 bytes that identify the device, as bytes.

        No two GPUs have the same bytes. CUDA_VISIBLE_DEVICES and nvidia-smi write them as "GPU-" and hexadecimal digits.

        >>> len(cuda.Device(0).uuid())
        16
        """

    def compute_capability(self) -> tuple[int, int]:
        """
        Return the compute capability: (major, minor).

        The compiler makes code for ``sm_<major><minor>`` unless a program asks for another architecture. Tuples compare in
        the order of the versions.

        >>> cuda.Device(0).compute_capability() >= (7, 5)
        True
        """

    def total_memory(self) -> int:
        """
        Return the size of the device's memory in bytes.

        mem_get_info() returns the free bytes of the current context's device.

        >>> 0 < cuda.mem_get_info()[0] <= cuda.Device(0).total_memory()
        True
        """

    def get_attribute(self, attr: int) -> int:
        """
        The value of an attribute of the device.

        attr: a member of device_attribute. The attribute defines the unit: bytes, kHz, 0 or 1 ...

        Raises LogicError for a number that is no attribute.

        >>> cuda.Device(0).get_attribute(cuda.device_attribute.MAX_THREADS_PER_BLOCK)
        1024
        """

    def get_attributes(self) -> dict[device_attribute, int]:
        """
        Return all attributes that the driver knows: a dict with members of device_attribute as keys.

        The values are ints, and the value of COMPUTE_MODE is a member of compute_mode. An attribute that is newer than the
        driver is missing. Each attribute is also an attribute of the Device, in lower case: ``device.warp_size``.

        >>> attributes = cuda.Device(0).get_attributes()
        >>> attributes[cuda.device_attribute.WARP_SIZE] == cuda.Device(0).warp_size == 32
        True
        """

    def __getattr__(self, name: str) -> int: ...
    def make_context(self, flags: int = 0) -> Context:
        """
        Make a new context on this device, and make the context current in this thread.

        flags: a sum of ctx_flags, such as ctx_flags.SCHED_BLOCKING_SYNC.

        detach() ends the context. Most programs use retain_primary_context(), whose context other libraries share.
        """

    def retain_primary_context(self) -> Context:
        """
        The primary context of the device, which torch, CuPy and the CUDA runtime also use.

        The context does not become current: call push(), or use the context in ``with``.
        """

    def reset_primary_context(self) -> None:
        """
        Destroy everything in the primary context of the device, for a new start.

        A fault of a kernel, such as an access out of bounds, leaves a context that runs no kernel any more. After this call retain_primary_context() returns a new one. All arrays, modules, streams and other objects of the old context are refused. Other libraries of the process lose their objects on this device as well.
        """

    def __enter__(self) -> Device: ...
    def __exit__(self, *args) -> None: ...
    def can_access_peer(self, dev: Device) -> bool:
        """
        Whether kernels of this device can access memory of ``dev``.

        Context.enable_peer_access() allows the access.
        """

    @property
    def handle(self) -> int:
        """
        The CUdevice, as an int: the driver's number of this device.

        Devices are numbered from 0.
        """

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __repr__(self) -> str: ...

class Context:
    """
    The owner of memory, modules, streams and events on one device. A process has one primary context for each device.

    Each thread has a stack of contexts, and the top of the stack is the current context: calls without a context as
    argument act on it. push() and pop() change the stack; ``with context:`` does both. A thread with an empty stack uses
    the context of set_default().

    The methods get_device(), synchronize(), get_limit() and set_limit(), the configurations and the functions of peer
    access are called on a context or on the class. On the class they act on the current context:
    ``Context.synchronize()``. The stack, memory and objects of a context are usable until detach().

    >>> context = cuda.Device(0).retain_primary_context()
    >>> with context:
    ...     print(cuda.Context.get_current() == context, cuda.Context.get_device().handle)
    True 0
    """

    @staticmethod
    def get_device() -> Device:
        """Return the Device of the context.

        Called on the class, the current context is meant. Raises LogicError if no context is current.
        """

    @staticmethod
    def synchronize() -> None:
        """Wait for all work in the context, in all of its streams.

        Called on the class, the current context is meant. Ctrl-C ends the wait. Raises the error of a kernel that failed.
        """

    @staticmethod
    def get_limit(limit: int) -> int:
        """A limit of the context. Limits of memory are in bytes.

        limit: a member of pycuda.driver.limit.

        Raises LogicError for a number that is no limit.
        """

    @staticmethod
    def set_limit(limit: int, value: int) -> None:
        """Set a limit of the context. The driver may round the value; get_limit() returns the result.

        limit: a member of pycuda.driver.limit.
        value: the new value; bytes for limits of memory.
        """

    @staticmethod
    def get_cache_config() -> func_cache:
        """Return how the context divides on-chip memory between the L1 cache and shared memory: a member of func_cache.

        PREFER_NONE, the default, leaves the choice to the driver. Called on the class, the current context is meant.
        """

    @staticmethod
    def set_cache_config(cc: int) -> None:
        """Set how the context divides on-chip memory between the L1 cache and shared memory.

        cc: a func_cache. The driver may ignore this preference.
        """

    @staticmethod
    def get_shared_config() -> shared_config:
        """Return the width of the banks of shared memory: a member of shared_config.

        Devices since compute capability 5.0 have banks of four bytes only: FOUR_BYTE_BANK_SIZE.
        """

    @staticmethod
    def set_shared_config(sc: int) -> None:
        """Set the width of the banks of shared memory.

        sc: a member of shared_config.

        The call has an effect on devices of compute capability 3.x only. Newer devices have banks of four bytes, and
        ignore the setting.
        """

    @staticmethod
    def enable_peer_access(peer: Context, flags: int = 0) -> None:
        """Allow kernels and copies of this context to access memory of another context.

        peer: a context on another device.
        flags: must be 0.

        Raises LogicError if the devices cannot access each other, or if the access is already allowed.
        """

    @staticmethod
    def disable_peer_access(peer: Context) -> None:
        """Undo enable_peer_access(): kernels and copies of this context no longer access memory of ``peer``.

        peer: the context whose memory was accessible.

        Raises LogicError if the access was not allowed. Work that uses the memory must be done before.
        """

    @staticmethod
    def get_current() -> Context | None:
        """
        The current context of this thread, or None.

        The driver is asked, so the result may be a context that another library made current.
        """

    @staticmethod
    def set_default(context: Context | None) -> None:
        """
        Name the context of threads that have none; None: such threads get an error.

        The context becomes current in such a thread when the thread first needs one. pycuda.autoinit and pycuda.autoprimaryctx name theirs. LogicError for a context that was detached.
        """

    @staticmethod
    def get_default() -> Context | None:
        """
        Return the context that threads without a current context use, or None if there is none.

        set_default() sets this context. pycuda.autoinit and pycuda.autoprimaryctx call set_default() with their context.
        """

    @staticmethod
    def from_handle(handle: int) -> Context:
        """
        A Context for a CUcontext that other code owns.

        handle: the CUcontext as an int. The other code must keep it alive.
        """

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """
        Push the current context on this thread's stack a second time, and return the context.

        flags: ignored by the driver; exists for old programs.

        Deprecated: use push(). Raises LogicError if no context is current.
        """

    @staticmethod
    def pop() -> Context:
        """
        Remove the top of this thread's context stack, and return the removed context.

        Raises LogicError if the stack is empty. The context below becomes current.
        """

    def push(self) -> None:
        """
        Push the context on this thread's stack: the context becomes current in this thread.

        Context.pop() undoes the push. ``with context:`` calls both. The stack keeps the context alive. Raises LogicError if
        the context was detached.
        """

    def set_current(self) -> None:
        """
        Replace the top of this thread's stack by this context. The context is pushed if the stack is empty.

        Unlike push(), the call does not keep the old current context for a later pop().
        """

    def __enter__(self) -> Context: ...
    def __exit__(self, *args) -> None: ...
    def detach(self) -> None:
        """
        Release the context. A context of make_context() is destroyed, a primary context is released.

        Raises LogicError if detach() was called before.
        """

    def get_api_version(self) -> int:
        """
        Return the version of the driver API that the context was made for, as an int.

        The number describes the context's interface, not the driver: current drivers return 3020 (CUDA 3.2).
        get_driver_version() returns the version of CUDA that the driver supports.
        """

    @property
    def handle(self) -> int:
        """The CUcontext, as an int, for libraries that take a context's handle."""

    @property
    def is_attached(self) -> bool:
        """True until detach() is called."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __repr__(self) -> str: ...

def mem_get_info() -> tuple[int, int]:
    """
    The memory of the current device in bytes: (free, total).

    Memory in pools, as of arrays that were dropped, counts as used. Raises LogicError without a context.

    >>> free, total = cuda.mem_get_info()
    >>> 0 < free <= total
    True
    """

class Stream:
    """
    A queue of work on the device of the current context. The work runs in the order of the calls.

    flags: 0, or stream_flags.NON_BLOCKING for a stream that does not wait for the default stream.
    priority: lower numbers are more urgent; 0 is the default. The driver clips the number to its range.

    ``with stream:`` makes the stream the thread's current stream: kernels, copies and operations on arrays use it.

    >>> stream = cuda.Stream()
    >>> with stream:
    ...     x = gpuarray.zeros(3) + 1
    >>> stream.synchronize()
    """

    def __init__(self, flags: int = 0, priority: int = 0) -> None: ...
    @staticmethod
    def from_handle(handle: int) -> Stream:
        """
        A Stream for a CUstream that other code owns.

        handle: the CUstream as an int. The other code must keep it alive.
        """

    def synchronize(self) -> None:
        """
        Wait for all work in the stream. Ctrl-C ends the wait.

        Raises the error of a kernel that failed, and LogicError if the stream was closed.
        """

    def is_done(self) -> bool:
        """
        Return True if all work in the stream is done, else False. Does not wait.

        Raises the error of a kernel that failed, and LogicError if the stream was closed.

        >>> stream = cuda.Stream()
        >>> stream.is_done()
        True
        """

    def wait_for_event(self, evt: Event) -> None:
        """
        Let later work of this stream wait for an event. The call itself does not wait.

        evt: an Event that was recorded in any stream, also of another device. An event that was never recorded is
          no reason to wait.

        >>> first, second = cuda.Stream(), cuda.Stream()
        >>> done = cuda.Event().record(first)
        >>> second.wait_for_event(done)
        """

    @property
    def handle(self) -> int:
        """The CUstream, as an int."""

    @property
    def priority(self) -> int:
        """
        The priority: lower numbers are more urgent, and 0 is the default.

        The device starts blocks of waiting kernels in streams of higher urgency first; it does not interrupt running blocks.
        The number may differ from the constructor's argument, because the driver clips that to its range.
        """

    @property
    def flags(self) -> int:
        """The flags that the stream was made with, a sum of stream_flags."""

    def __enter__(self) -> Stream: ...
    def __exit__(self, *args) -> None: ...
    def close(self) -> None:
        """
        Destroy the stream now. Queued work still runs.

        A second call does nothing. Other functions raise LogicError for a closed stream.
        """

    def __cuda_stream__(self) -> tuple[int, int]: ...
    def __repr__(self) -> str: ...

class Event:
    """
    A point in a stream. Other streams and threads can wait for an event, and two events measure a time.

    flags: a sum of event_flags: BLOCKING_SYNC, DISABLE_TIMING, INTERPROCESS (together with DISABLE_TIMING).

    >>> start, end = cuda.Event(), cuda.Event()
    >>> _ = start.record()
    >>> _ = end.record()
    >>> end.synchronize().time_since(start) >= 0
    True
    """

    def __init__(self, flags: int = 0) -> None: ...
    def record(self, stream: object | None = None) -> Event:
        """
        Record the event in a stream: the event is complete when all earlier work of the stream is done. Returns the event.

        stream: a Stream; by default the thread's current stream.

        The call does not wait. A second record() replaces the first one. Raises LogicError if stream and event belong to
        different contexts.

        >>> event = cuda.Event().record()
        >>> event.synchronize().query()
        True
        """

    def synchronize(self) -> Event:
        """
        Wait until the work before the last record() is done. Returns the event.

        Returns at once if the event was never recorded. Ctrl-C ends the wait. The thread sleeps if the event was made with
        event_flags.BLOCKING_SYNC, else it polls. Raises the error of a kernel that failed.
        """

    def query(self) -> bool:
        """
        Return True if all work before the last record() is done, or if the event was never recorded; else False.

        Does not wait. Raises the error of a kernel that failed.
        """

    def time_since(self, start: Event) -> float:
        """
        Return the time from another event to this event in milliseconds, as a float.

        start: the earlier event.

        The device takes the times, with a resolution of about half a microsecond on a GPU. Raises LogicError if one of the
        two events was not recorded, is not complete, or was made with DISABLE_TIMING.

        >>> start = cuda.Event().record()
        >>> x = gpuarray.zeros(1000) + 1
        >>> end = cuda.Event().record().synchronize()
        >>> end.time_since(start) == start.time_till(end)
        True
        """

    def time_till(self, end: Event) -> float:
        """
        Return the time from this event to another event in milliseconds, as a float.

        end: the later event.

        ``start.time_till(end)`` is ``end.time_since(start)``, with its errors.
        """

    def ipc_handle(self) -> bytearray:
        """
        The 64 bytes with which Event.from_ipc_handle() opens this event in another process.

        The event must be made with event_flags.INTERPROCESS and DISABLE_TIMING.
        """

    @staticmethod
    def from_ipc_handle(handle: object) -> Event:
        """
        Open an event of another process.

        handle: the 64 bytes of ipc_handle() in the other process.

        Raises LogicError if the event does not exist any more.
        """

    def close(self) -> None:
        """
        Destroy the event now. A second call does nothing.

        Other functions raise LogicError for a closed event. Streams that wait for the event still wait. ``with event:``
        closes the event at the end of the block.
        """

    def __enter__(self) -> Event: ...
    def __exit__(self, *args) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def handle(self) -> int:
        """The CUevent, as an int."""

class DeviceAllocation:
    """
    Memory on the device. mem_alloc() makes it, and the last reference frees it.

    ``int(memory)`` is the address, so ``int(memory) + n`` is the address n bytes further. A kernel takes both as a
    pointer; an address alone does not keep the memory alive. ``with memory:`` frees the memory at the end of the block.

    >>> memory = cuda.mem_alloc(16)
    >>> cuda.memset_d32(memory, 7, 4)
    >>> cuda.memset_d32(int(memory) + 8, 9, 2)
    >>> cuda.from_device(memory, 4, np.int32)
    array([7, 7, 9, 9], dtype=int32)
    """

    def free(self) -> None:
        """
        Free the memory now. Work that uses the memory must be done.

        Raises LogicError if the memory was freed before.
        """

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """
        A memoryview of the memory, for memory that the host can access (managed memory, softcuda).

        size: its length in bytes.
        offset: bytes from the beginning of the allocation.

        Raises ValueError for a range that is not inside the allocation.
        """

    @property
    def size(self) -> int:
        """In bytes."""

    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __long__(self) -> int: ...
    def __repr__(self) -> str: ...
    def __enter__(self) -> DeviceAllocation: ...
    def __exit__(self, *args) -> None: ...

class ManagedAllocation(DeviceAllocation):
    """
    Managed memory: one address for host and device. The driver moves the pages to where they are used.

    bytes: the size.
    mem_flags: mem_attach_flags.GLOBAL, the default, or HOST.

    The object is a buffer of the host: ``np.frombuffer(memory, dtype)`` is an array in the memory. The host may use the
    memory while no kernel runs; synchronize first. managed_empty() makes such an array directly. Raises MemoryError if
    the device has too little memory.

    >>> memory = cuda.ManagedAllocation(16)
    >>> host = np.frombuffer(memory, np.int32)
    >>> cuda.memset_d32(memory, 5, 4)
    >>> cuda.Context.synchronize()
    >>> host
    array([5, 5, 5, 5], dtype=int32)
    """

    def __init__(self, bytes: int, mem_flags: int = 1) -> None: ...
    def get_device_pointer(self) -> int:
        """
        Return the address for kernels, which is also the address on the host, as an int.
        """

    def attach(self, mem_flags: int, stream: object | None = None) -> None:
        """
        Attach the memory to a stream, so that the host may use the memory while other streams run.

        mem_flags: a member of mem_attach_flags.
        stream: a Stream; by default the thread's current stream.
        """

ManagedAllocationOrStub: TypeAlias = ManagedAllocation

class PointerHolderBase:
    """
    Base of Python classes that are kernel arguments: a subclass defines get_pointer(), which returns an address.

    Kernels, copies and ``int()`` call get_pointer() each time. The object must keep its memory alive.

    >>> class Tail(cuda.PointerHolderBase):
    ...     def __init__(self, memory, offset):
    ...         super().__init__()
    ...         self.memory, self.offset = memory, offset
    ...     def get_pointer(self):
    ...         return int(self.memory) + self.offset
    >>> tail = Tail(cuda.mem_alloc(16), 8)
    >>> cuda.memset_d32(tail, 3, 2)
    >>> cuda.from_device(tail, 2, np.int32)
    array([3, 3], dtype=int32)
    """

    def __init__(self) -> None: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """
        A memoryview of the memory, for memory that the host can access (managed memory, softcuda).

        size: its length in bytes.
        offset: bytes from the address of get_pointer().
        """

class IPCMemoryHandle:
    """
    Memory of another process.

    handle: the 64 bytes of mem_get_ipc_handle() in the other process.
    flags: 1 (lazy peer access), the only value that CUDA defines.
    """

    def __init__(self, handle: object, flags: int = 1) -> None: ...
    def close(self) -> None:
        """
        Unmap the memory in this process. The owning process keeps the memory.

        Work that uses the memory must be done. Raises LogicError if the handle was closed before.
        """

    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

def mem_alloc(bytes: int) -> DeviceAllocation:
    """
    Allocate memory on the current device.

    bytes: the size, at least 1.

    The contents are undefined. Raises MemoryError if the device has too little memory, ValueError for a negative
    size, LogicError for 0 bytes or without a context.

    >>> memory = cuda.mem_alloc(16)
    >>> cuda.memcpy_htod(memory, np.arange(4, dtype=np.float32))
    >>> host = np.empty(4, np.float32)
    >>> cuda.memcpy_dtoh(host, memory)
    >>> host
    array([0., 1., 2., 3.], dtype=float32)
    """

def mem_alloc_pitch(
    width: int, height: int, access_size: int
) -> tuple[DeviceAllocation, int]:
    """
    Allocate rows that start at aligned addresses. Returns (memory, pitch).

    width: bytes of a row.
    height: the number of rows.
    access_size: bytes of the largest access of a kernel: 4, 8 or 16.

    Row i starts ``i * pitch`` bytes after the beginning. Raises LogicError for another access_size, and MemoryError.
    """

def mem_get_address_range(devptr: object) -> tuple[int, int]:
    """
    The allocation that contains an address: (address of its begin, bytes).

    Raises LogicError for an address that is not in device memory.
    """

def mem_get_ipc_handle(devptr: object) -> bytearray:
    """
    The 64 bytes with which IPCMemoryHandle opens this memory in another process.

    devptr: the begin of an allocation.
    """

class HostPointer:
    """
    Base of the classes of host memory that the driver knows: page-locked, aligned and registered memory.
    """

class PagelockedHostAllocation(HostPointer):
    """
    Page-locked host memory. The device copies from and to it directly, beside other work.

    bytes: the size.
    mem_flags: a sum of host_alloc_flags.

    The object is a buffer: ``np.frombuffer(memory, dtype)`` is an array in the memory. pagelocked_empty() makes such an
    array, whose ``base`` is the allocation. ``with memory:`` frees the memory at the end of the block. Raises MemoryError
    if the system has too little memory.

    >>> array = cuda.pagelocked_empty(4, np.float32)
    >>> isinstance(array.base, cuda.PagelockedHostAllocation)
    True
    """

    def __init__(self, bytes: int, mem_flags: int = 0) -> None: ...
    def free(self) -> None:
        """
        Free the memory now. NumPy arrays in this memory are invalid afterwards: an access may end the process.

        Copies from or to the memory must be done. Raises LogicError if the memory was freed before.
        """

    def __repr__(self) -> str: ...
    def get_flags(self) -> int:
        """
        Return the flags that the memory was made with: a sum of host_alloc_flags.
        """

    def get_device_pointer(self) -> int:
        """
        Return the address of the memory for kernels, as an int. Kernels access host memory over the bus, without a copy.

        Make the memory with host_alloc_flags.DEVICEMAP. Without the flag, a driver without unified addresses raises
        LogicError.

        >>> memory = cuda.PagelockedHostAllocation(8, cuda.host_alloc_flags.DEVICEMAP)
        >>> cuda.memset_d32(memory.get_device_pointer(), 6, 2)
        >>> cuda.Context.synchronize()
        >>> np.frombuffer(memory, np.int32)
        array([6, 6], dtype=int32)
        """

    def __enter__(self) -> PagelockedHostAllocation: ...
    def __exit__(self, *args) -> None: ...

HostAllocation: TypeAlias = PagelockedHostAllocation

class AlignedHostAllocation(HostPointer):
    """
    Pageable host memory with an aligned address.

    bytes: the size.
    alignment: the address is a multiple of this number of bytes.
    """

    def __init__(self, bytes: int, alignment: int = 4096) -> None: ...
    def __repr__(self) -> str: ...
    def free(self) -> None:
        """
        Free the memory now. NumPy arrays in this memory are invalid afterwards: an access may end the process.

        Copies from or to the memory must be done. Raises LogicError if the memory was freed before.
        """

    def __enter__(self) -> AlignedHostAllocation: ...
    def __exit__(self, *args) -> None: ...

class RegisteredHostMemory(HostPointer):
    """
    Memory of a host array, page-locked while this object lives.

    ary: a NumPy array, or another contiguous buffer.
    flags: a sum of mem_host_register_flags.

    register_host_memory() makes the object and returns an array in the same memory. Raises LogicError if the memory is
    registered already.

    >>> array = np.zeros(1024, np.float32)
    >>> memory = cuda.RegisteredHostMemory(array)
    >>> memory.base is array
    True
    >>> memory.unregister()
    """

    def __init__(self, ary: object, flags: int = 0) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def base(self) -> object:
        """The array whose memory it is."""

    def unregister(self) -> None:
        """
        End the registration now: the memory is pageable again. The array remains usable.

        Copies from or to the memory must be done. Raises LogicError if the memory was unregistered before.
        """

    def get_device_pointer(self) -> int:
        """
        Return the address of the memory for kernels, as an int. Kernels access host memory over the bus, without a copy.

        Register the memory with mem_host_register_flags.DEVICEMAP. Without the flag, a driver without unified addresses
        raises LogicError.
        """

class PooledDeviceAllocation:
    """
    A block of memory of a DeviceMemoryPool. The last reference returns the block to the pool.

    ``int(block)`` is the address. Kernels and copies take the block as a pointer, and ``with block:`` returns the block at
    the end. The pool gives a returned block to a later allocation without a wait. So work that uses the block must be
    done, or be in the same stream as the later work.

    >>> pool = cuda.DeviceMemoryPool()
    >>> with pool.allocate(16) as block:
    ...     cuda.memset_d8(block, 0, block.size)
    >>> pool.active_blocks
    0
    """

    def free(self) -> None:
        """
        Return the block to the pool now. Raises LogicError if the block was freed before.
        """

    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __long__(self) -> int: ...
    def __len__(self) -> int: ...
    @property
    def size(self) -> int:
        """The requested size in bytes."""

    def __bool__(self) -> bool: ...
    def __repr__(self) -> str: ...
    def __enter__(self) -> PooledDeviceAllocation: ...
    def __exit__(self, *args) -> None: ...

class PooledHostAllocation:
    """
    A block of page-locked memory of a PageLockedMemoryPool: a buffer of the host.

    The last reference returns the block to the pool. ``PageLockedMemoryPool.allocate(shape, dtype)`` makes NumPy arrays in
    such blocks.
    """

    def free(self) -> None:
        """
        Return the block to the pool now. Raises LogicError if the block was freed before.
        """

    def __repr__(self) -> str: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...

class PageLockedAllocator:
    """
    Where a PageLockedMemoryPool gets its memory.

    flags: a sum of host_alloc_flags for each block.

    >>> pool = tools.PageLockedMemoryPool(tools.PageLockedAllocator(cuda.host_alloc_flags.PORTABLE))
    >>> pool.allocate((2, 3), np.float32).shape
    (2, 3)
    """

    def __init__(self, flags: int = 0) -> None: ...

class DeviceMemoryPool:
    """
    A pool of device memory of the current context. Freed blocks are kept, and serve later allocations.

    The size of a block is rounded up to that of a bin. ``pool.allocate`` can be the
    ``allocator=`` of functions of arrays.

    >>> pool = cuda.DeviceMemoryPool()
    >>> block = pool.allocate(1000)
    >>> block.free()
    >>> pool.held_blocks, pool.active_blocks
    (1, 0)
    """

    def __init__(self) -> None: ...
    def allocate(self, size: int) -> PooledDeviceAllocation:
        """
        Allocate a block. Returns a PooledDeviceAllocation.

        size: bytes.

        If the device has no memory left, the pool frees its waiting blocks and tries again. Raises MemoryError if the
        second attempt fails.
        """

    def __call__(self, size: int) -> PooledDeviceAllocation:
        """
        Call allocate(). So a pool can be the ``allocator=`` of functions of arrays.

        size: bytes.

        >>> pool = cuda.DeviceMemoryPool()
        >>> x = gpuarray.zeros(4, np.float32, allocator=pool)
        >>> pool.active_bytes
        16
        """

    def __repr__(self) -> str: ...
    @property
    def held_blocks(self) -> int:
        """The number of free blocks that the pool keeps for reuse."""

    @property
    def active_blocks(self) -> int:
        """The number of blocks in use."""

    @property
    def managed_bytes(self) -> int:
        """
        Bytes that the pool has from the driver, both in use and free.

        The number is at least active_bytes, because blocks have the sizes of bins.
        """

    @property
    def active_bytes(self) -> int:
        """Bytes in use: the sum of the requested sizes."""

    @staticmethod
    def bin_number(size: int) -> int:
        """
        Return the number of the bin that serves an allocation.

        size: bytes.

        The bins are PyCUDA's: 16 for each power of two, so a block is larger than the request by 1/16 at most.

        >>> cuda.DeviceMemoryPool.bin_number(1000) < cuda.DeviceMemoryPool.bin_number(1100)
        True
        """

    @staticmethod
    def alloc_size(bin: int) -> int:
        """
        Return the size of the blocks in a bin, in bytes.

        bin: the number of a bin; see bin_number().

        >>> pool = cuda.DeviceMemoryPool
        >>> pool.alloc_size(pool.bin_number(1000))
        1023
        """

    def free_held(self) -> None:
        """
        Return all free blocks to the driver. Blocks in use stay, and the pool remains usable.

        >>> pool = cuda.DeviceMemoryPool()
        >>> pool.allocate(1000).free()
        >>> pool.free_held()
        >>> pool.held_blocks, pool.managed_bytes
        (0, 0)
        """

    def stop_holding(self) -> None:
        """
        Stop keeping freed blocks: from now on, the pool returns them to the driver at once.

        The free blocks that the pool holds are returned, too. The pool can still allocate.

        >>> pool = cuda.DeviceMemoryPool()
        >>> block = pool.allocate(1000)
        >>> pool.stop_holding()
        >>> block.free()
        >>> pool.held_blocks
        0
        """

def bitlog2(n: int) -> int:
    """
    Return the position of the highest set bit, the logarithm to base 2 rounded down; 0 for 0.

    n: an int from 0 to 2**64 - 1.

    >>> cuda.bitlog2(255), cuda.bitlog2(256)
    (7, 8)
    """

def memcpy_htod(dest: object, src: object) -> None:
    """
    Copy a host array to the device. The call returns when the source may be changed.

    dest: device memory: a DeviceAllocation, a GPUArray or an address.
    src: a contiguous host array or buffer. All of its bytes are copied.

    Raises ValueError if ``src`` is not contiguous, and LogicError if the device memory is smaller.
    """

def memcpy_dtoh(dest: object, src: object) -> None:
    """
    Copy from the device to a host array. The call returns when the copy is done.

    dest: a contiguous, writable host array or buffer. All of its bytes are filled.
    src: device memory: a DeviceAllocation, a GPUArray or an address.

    Raises ValueError for ``dest``, and LogicError if the device memory is smaller.
    """

def memcpy_htod_async(dest: object, src: object, stream: object | None = None) -> None:
    """
    memcpy_htod() as work of a stream. The call may return before the copy is done.

    dest: device memory.
    src: a contiguous host array, which is kept alive. Do not change it before the copy is done. Only copies from
      page-locked memory run beside Python.
    stream: a Stream; by default the thread's current stream.
    """

def memcpy_dtoh_async(dest: object, src: object, stream: object | None = None) -> None:
    """
    memcpy_dtoh() as work of a stream. The call may return before the copy is done.

    dest: a contiguous host array, which is kept alive. Read it after a synchronize() of the stream. Only copies to
      page-locked memory run beside Python.
    src: device memory.
    stream: a Stream; by default the thread's current stream.
    """

def memcpy_dtod(dest: object, src: object, size: int) -> None:
    """
    Copy from device memory to device memory. The call may return before the copy is done.

    dest, src: device memory.
    size: bytes.

    Raises LogicError if one of the two is smaller than ``size``.
    """

def memcpy_dtod_async(
    dest: object, src: object, size: int, stream: object | None = None
) -> None:
    """
    memcpy_dtod() as work of a stream; by default of the thread's current stream.

    dest, src: device memory.
    size: bytes.
    stream: a Stream.
    """

def memcpy_peer(
    dest: object,
    src: object,
    size: int,
    dest_context: object | None = None,
    src_context: object | None = None,
) -> None:
    """
    Copy memory between two contexts, also of two devices.

    dest, src: device memory.
    size: bytes.
    dest_context, src_context: the contexts of the memory; None is the current one.
    """

def memcpy_peer_async(
    dest: object,
    src: object,
    size: int,
    dest_context: object | None = None,
    src_context: object | None = None,
    stream: object | None = None,
) -> None:
    """
    memcpy_peer() as work of a stream; by default of the thread's current stream.

    dest, src: device memory.
    size: bytes.
    dest_context, src_context: the contexts of the memory; None is the current one.
    stream: a Stream.
    """

def memset_d8(dest: object, data: int, size: int) -> None:
    """
    Set each element of device memory to a value.

    dest: device memory.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    size: the number of elements, not of bytes.

    Raises LogicError if the memory is smaller.
    """

def memset_d8_async(
    dest: object, data: int, size: int, stream: object | None = None
) -> None:
    """
    Set each element of device memory to a value, as work of a stream.

    dest: device memory.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    size: the number of elements, not of bytes.
    stream: a Stream; by default the thread's current stream.
    """

def memset_d16(dest: object, data: int, size: int) -> None:
    """
    Set each element of device memory to a value.

    dest: device memory.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    size: the number of elements, not of bytes.

    Raises LogicError if the memory is smaller.
    """

def memset_d16_async(
    dest: object, data: int, size: int, stream: object | None = None
) -> None:
    """
    Set each element of device memory to a value, as work of a stream.

    dest: device memory.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    size: the number of elements, not of bytes.
    stream: a Stream; by default the thread's current stream.
    """

def memset_d32(dest: object, data: int, size: int) -> None:
    """
    Set each element of device memory to a value.

    dest: device memory.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    size: the number of elements, not of bytes.

    Raises LogicError if the memory is smaller.
    """

def memset_d32_async(
    dest: object, data: int, size: int, stream: object | None = None
) -> None:
    """
    Set each element of device memory to a value, as work of a stream.

    dest: device memory.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    size: the number of elements, not of bytes.
    stream: a Stream; by default the thread's current stream.
    """

def memset_d2d8(dest: object, pitch: int, data: int, width: int, height: int) -> None:
    """
    Set each element of a rectangle in device memory to a value.

    dest: device memory, the first element of the rectangle.
    pitch: bytes from the begin of a row to the begin of the next row.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    width: elements of a row.
    height: the number of rows.
    """

def memset_d2d8_async(
    dest: object,
    pitch: int,
    data: int,
    width: int,
    height: int,
    stream: object | None = None,
) -> None:
    """
    Set each element of a rectangle in device memory to a value, as work of a stream.

    dest: device memory, the first element of the rectangle.
    pitch: bytes from the begin of a row to the begin of the next row.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    width: elements of a row.
    height: the number of rows.
    stream: a Stream; by default the thread's current stream.
    """

def memset_d2d16(dest: object, pitch: int, data: int, width: int, height: int) -> None:
    """
    Set each element of a rectangle in device memory to a value.

    dest: device memory, the first element of the rectangle.
    pitch: bytes from the begin of a row to the begin of the next row.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    width: elements of a row.
    height: the number of rows.
    """

def memset_d2d16_async(
    dest: object,
    pitch: int,
    data: int,
    width: int,
    height: int,
    stream: object | None = None,
) -> None:
    """
    Set each element of a rectangle in device memory to a value, as work of a stream.

    dest: device memory, the first element of the rectangle.
    pitch: bytes from the begin of a row to the begin of the next row.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    width: elements of a row.
    height: the number of rows.
    stream: a Stream; by default the thread's current stream.
    """

def memset_d2d32(dest: object, pitch: int, data: int, width: int, height: int) -> None:
    """
    Set each element of a rectangle in device memory to a value.

    dest: device memory, the first element of the rectangle.
    pitch: bytes from the begin of a row to the begin of the next row.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    width: elements of a row.
    height: the number of rows.
    """

def memset_d2d32_async(
    dest: object,
    pitch: int,
    data: int,
    width: int,
    height: int,
    stream: object | None = None,
) -> None:
    """
    Set each element of a rectangle in device memory to a value, as work of a stream.

    dest: device memory, the first element of the rectangle.
    pitch: bytes from the begin of a row to the begin of the next row.
    data: the value of each element. The function's name has its bits: 8, 16 or 32.
    width: elements of a row.
    height: the number of rows.
    stream: a Stream; by default the thread's current stream.
    """

class ArrayDescriptor:
    """
    The extents and the format of an Array with one or two dimensions. All attributes start as 0.

    width, height: elements; a height of 0 makes an array of one dimension.
    format: the type of one channel, a member of array_format.
    num_channels: 1, 2 or 4 numbers for each element.

    dtype_to_array_format() finds the format of a NumPy type.

    >>> descriptor = cuda.ArrayDescriptor()
    >>> descriptor.width, descriptor.height, descriptor.num_channels = 16, 8, 1
    >>> descriptor.format = cuda.array_format.FLOAT
    >>> array = cuda.Array(descriptor)
    >>> array.get_descriptor().height
    8
    """

    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def width(self) -> int:
        """In elements."""

    @width.setter
    def width(self, arg: int, /) -> None: ...
    @property
    def height(self) -> int:
        """In elements; 0 for one dimension."""

    @height.setter
    def height(self, arg: int, /) -> None: ...
    @property
    def format(self) -> object:
        """Of one channel, a member of array_format."""

    @format.setter
    def format(self, arg: int, /) -> None: ...
    @property
    def num_channels(self) -> int:
        """1, 2 or 4."""

    @num_channels.setter
    def num_channels(self, arg: int, /) -> None: ...

class ArrayDescriptor3D:
    """
    The extents and the format of an Array of up to three dimensions, with flags. All attributes start as 0.

    width, height, depth: elements; 0 for a dimension that the array does not have.
    format: the type of one channel, a member of array_format.
    num_channels: 1, 2 or 4 numbers for each element.
    flags: a sum of array3d_flags. SURFACE_LDST is needed by surfaces; with ARRAY3D_LAYERED, depth counts layers.

    >>> descriptor = cuda.ArrayDescriptor3D()
    >>> descriptor.width, descriptor.height, descriptor.depth = 8, 4, 2
    >>> descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1
    >>> cuda.Array(descriptor).get_descriptor_3d().depth
    2
    """

    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def width(self) -> int:
        """In elements."""

    @width.setter
    def width(self, arg: int, /) -> None: ...
    @property
    def height(self) -> int:
        """In elements; 0 for one dimension."""

    @height.setter
    def height(self, arg: int, /) -> None: ...
    @property
    def format(self) -> object:
        """Of one channel, a member of array_format."""

    @format.setter
    def format(self, arg: int, /) -> None: ...
    @property
    def num_channels(self) -> int:
        """1, 2 or 4."""

    @num_channels.setter
    def num_channels(self, arg: int, /) -> None: ...
    @property
    def depth(self) -> int:
        """
        The depth in elements, or the number of layers with ARRAY3D_LAYERED; 0 for fewer than three dimensions.
        """

    @depth.setter
    def depth(self, arg: int, /) -> None: ...
    @property
    def flags(self) -> int:
        """A sum of array3d_flags; 0 is a plain array."""

    @flags.setter
    def flags(self, arg: int, /) -> None: ...

class Array:
    """
    Memory in the device's own layout for textures and surfaces. An Array has no address.

    descr: an ArrayDescriptor or an ArrayDescriptor3D.

    Memcpy2D, Memcpy3D and the functions np_to_array() and matrix_to_array() copy to an Array; kernels read an Array as a
    texture or surface. The last reference frees the memory, and ``with array:`` frees the memory at the end of the block.
    Raises LogicError for extents or a format that the device does not have, MemoryError if there is too little memory.

    >>> array = cuda.np_to_array(np.ones((4, 8), np.float32), "C")
    >>> array.get_descriptor().width, array.get_descriptor().height
    (8, 4)
    """

    def __init__(self, descr: object) -> None: ...
    def free(self) -> None:
        """Free the array now. Raises LogicError if the array was freed before."""

    def get_descriptor(self) -> ArrayDescriptor:
        """
        Return the width, height, format and number of channels as a new ArrayDescriptor.

        Changes of the descriptor do not affect the array. Raises LogicError for a freed array.
        """

    def get_descriptor_3d(self) -> ArrayDescriptor3D:
        """
        Return the width, height, depth, format, number of channels and flags as a new ArrayDescriptor3D.

        Changes of the descriptor do not affect the array. Raises LogicError for a freed array.
        """

    @property
    def handle(self) -> int:
        """The CUarray, as an int. Raises LogicError for a freed array."""

    def __repr__(self) -> str: ...
    def __enter__(self) -> Array: ...
    def __exit__(self, *args) -> None: ...

class MipmappedArray:
    """
    An Array at several resolutions (mipmap levels), for textures that are read at several scales.

    descriptor: an ArrayDescriptor3D, the extents of level 0.
    levels: the number of levels. The extents of each level are half of those of the level before, at least 1.

    The program fills each level itself; see get_level(). A kernel reads the array through a TextureObject.
    """

    def __init__(self, descriptor: ArrayDescriptor3D, levels: int) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def levels(self) -> int:
        """The number of levels, including level 0."""

    def get_level(self, level: int) -> Array:
        """
        Return the Array of one level.

        level: from 0, the largest level, to levels - 1. Others raise LogicError.

        The Array keeps the memory of all levels alive, and copies can fill it.
        """

    def free(self) -> None:
        """
        Free the array with all of its levels now. Raises LogicError if the array was freed before.
        """

    @property
    def handle(self) -> int:
        """The CUmipmappedArray, as an int. Raises LogicError for a freed array."""

    def __enter__(self) -> MipmappedArray: ...
    def __exit__(self, *args) -> None: ...

def memcpy_dtoa(ary: object, index: int, src: object, len: int) -> None:
    """
    Copy from device memory to a one-dimensional Array.

    ary: the Array.
    index: bytes from the begin of ``ary``.
    src: device memory.
    len: bytes.
    """

def memcpy_atod(dest: object, ary: object, index: int, len: int) -> None:
    """
    Copy from a one-dimensional Array to device memory.

    dest: device memory.
    ary: the Array.
    index: bytes from the begin of ``ary``.
    len: bytes.
    """

def memcpy_atoa(
    dest: object, dest_index: int, src: object, src_index: int, len: int
) -> None:
    """
    Copy between one-dimensional Arrays.

    dest, src: the Arrays.
    dest_index, src_index: bytes from the begin of each.
    len: bytes.
    """

def memcpy_htoa(ary: object, index: int, src: object) -> None:
    """
    Copy a host array to a one-dimensional Array.

    ary: the Array.
    index: bytes from the begin of ``ary``.
    src: a contiguous host array. All of its bytes are copied.
    """

def py_memcpy_htoa(ary: object, index: int, src: object) -> None:
    """
    Copy a host array to a one-dimensional Array.

    ary: the Array.
    index: bytes from the begin of ``ary``.
    src: a contiguous host array. All of its bytes are copied.
    """

def memcpy_atoh(dest: object, ary: object, index: int) -> None:
    """
    Copy from a one-dimensional Array to a host array.

    dest: a contiguous, writable host array. All of its bytes are filled.
    ary: the Array.
    index: bytes from the begin of ``ary``.
    """

def py_memcpy_atoh(dest: object, ary: object, index: int) -> None:
    """
    Copy from a one-dimensional Array to a host array.

    dest: a contiguous, writable host array. All of its bytes are filled.
    ary: the Array.
    index: bytes from the begin of ``ary``.
    """

class Memcpy2D:
    """
    A copy of a rectangle: ``height`` rows of ``width_in_bytes`` bytes, between host memory, device memory and Arrays.

    Set both sides with set_src_host(), set_dst_device() and their like, then the extents and pitches, then call the object. The pitch is
    the distance between the begins of two rows in bytes; an Array needs none. A copy object can be changed and called
    again. An end past host memory raises LogicError.

    >>> matrix = gpuarray.zeros((3, 4), np.float32)
    >>> copy = cuda.Memcpy2D()
    >>> copy.set_src_host(np.ones((2, 2), np.float32))
    >>> copy.set_dst_device(matrix.gpudata)
    >>> copy.src_pitch, copy.dst_pitch = 8, 16
    >>> copy.dst_x_in_bytes, copy.dst_y = 4, 1
    >>> copy.width_in_bytes, copy.height = 8, 2
    >>> copy()
    >>> matrix
    array([[0., 0., 0., 0.],
           [0., 1., 1., 0.],
           [0., 1., 1., 0.]], dtype=float32)
    """

    def __init__(self) -> None: ...
    @property
    def src_x_in_bytes(self) -> int:
        """
        Where the copy begins in each source row, in bytes from the begin of the row.
        """

    @src_x_in_bytes.setter
    def src_x_in_bytes(self, arg: int, /) -> None: ...
    @property
    def src_y(self) -> int:
        """The first source row that is copied, counted from 0."""

    @src_y.setter
    def src_y(self, arg: int, /) -> None: ...
    @property
    def src_memory_type(self) -> object:
        """Of memory_type; set_src_*() and set_dst_*() set it."""

    @src_memory_type.setter
    def src_memory_type(self, arg: int, /) -> None: ...
    @property
    def src_device(self) -> int:
        """The source's device address; set_src_device() sets it."""

    @src_device.setter
    def src_device(self, arg: int, /) -> None: ...
    @property
    def src_pitch(self) -> int:
        """
        The source's pitch: the bytes from the begin of a row to the begin of the next row.
        """

    @src_pitch.setter
    def src_pitch(self, arg: int, /) -> None: ...
    @property
    def dst_x_in_bytes(self) -> int:
        """
        Where the copy begins in each destination row, in bytes from the begin of the row.
        """

    @dst_x_in_bytes.setter
    def dst_x_in_bytes(self, arg: int, /) -> None: ...
    @property
    def dst_y(self) -> int:
        """The first destination row that is written, counted from 0."""

    @dst_y.setter
    def dst_y(self, arg: int, /) -> None: ...
    @property
    def dst_memory_type(self) -> object:
        """Of memory_type; set_src_*() and set_dst_*() set it."""

    @dst_memory_type.setter
    def dst_memory_type(self, arg: int, /) -> None: ...
    @property
    def dst_device(self) -> int:
        """The destination's device address; set_dst_device() sets it."""

    @dst_device.setter
    def dst_device(self, arg: int, /) -> None: ...
    @property
    def dst_pitch(self) -> int:
        """
        The destination's pitch: the bytes from the begin of a row to the begin of the next row.
        """

    @dst_pitch.setter
    def dst_pitch(self, arg: int, /) -> None: ...
    @property
    def width_in_bytes(self) -> int:
        """The number of bytes to copy from each row."""

    @width_in_bytes.setter
    def width_in_bytes(self, arg: int, /) -> None: ...
    @property
    def height(self) -> int:
        """The number of rows to copy from each slice."""

    @height.setter
    def height(self, arg: int, /) -> None: ...
    def set_src_host(self, buf: object) -> None:
        """
        Copy from host memory.

        buf: a NumPy array or another buffer; it may have gaps between its rows.

        Sets src_memory_type. The object keeps ``buf`` alive; src_pitch must be set to the bytes from one row to the next.
        """

    def set_src_array(self, array: object) -> None:
        """
        Copy from an Array.

        array: an Array, also one level of a MipmappedArray.

        Sets src_memory_type. src_x_in_bytes counts bytes, not elements.
        """

    def set_src_device(self, devptr: object) -> None:
        """
        Copy from device memory.

        devptr: an allocation or an address.

        Sets src_memory_type and src_device. src_pitch must be set to the bytes from one row to the next.
        """

    def set_src_unified(self, buf: object) -> None:
        """
        Copy from memory of the host or of the device: the driver finds out which of the two the address belongs to.

        buf: an allocation, an address or a buffer.

        Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.
        """

    def set_dst_host(self, buf: object) -> None:
        """
        Copy to host memory.

        buf: a writable NumPy array or another buffer; it may have gaps between its rows.

        Sets dst_memory_type. The object keeps ``buf`` alive; dst_pitch must be set to the bytes from one row to the next.
        """

    def set_dst_array(self, array: object) -> None:
        """
        Copy to an Array.

        array: an Array, also one level of a MipmappedArray.

        Sets dst_memory_type. dst_x_in_bytes counts bytes, not elements.
        """

    def set_dst_device(self, devptr: object) -> None:
        """
        Copy to device memory.

        devptr: an allocation or an address.

        Sets dst_memory_type and dst_device. dst_pitch must be set to the bytes from one row to the next.
        """

    def set_dst_unified(self, buf: object) -> None:
        """
        Copy to memory of the host or of the device: the driver finds out which of the two the address belongs to.

        buf: an allocation, an address or a writable buffer.

        Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.
        """

    def __call__(self, aligned: object = False, stream: object | None = None) -> None:
        """
        Run the copy.

        aligned: True promises that device rows begin as mem_alloc_pitch() aligns them; the driver need not check.
        stream: a Stream; the call then returns before the copy is done. None waits for the copy.

        A Stream as the first argument is ``stream``. Raises LogicError if the copy reaches past the end of host memory.
        """

class Memcpy3D:
    """
    A copy of a box: ``depth`` slices of ``height`` rows of ``width_in_bytes`` bytes.

    As Memcpy2D, with a third dimension: src_height and dst_height are the rows from one slice to the next, src_z and dst_z
    the first slices.

    >>> volume = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    >>> target = gpuarray.zeros((2, 2, 2), np.float32)
    >>> copy = cuda.Memcpy3D()
    >>> copy.set_src_host(volume)
    >>> copy.set_dst_device(target.gpudata)
    >>> copy.src_pitch = copy.dst_pitch = copy.width_in_bytes = 8
    >>> copy.src_height = copy.dst_height = copy.height = 2
    >>> copy.depth = 2
    >>> copy()
    >>> bool((target.get() == volume).all())
    True
    """

    def __init__(self) -> None: ...
    @property
    def src_x_in_bytes(self) -> int:
        """
        Where the copy begins in each source row, in bytes from the begin of the row.
        """

    @src_x_in_bytes.setter
    def src_x_in_bytes(self, arg: int, /) -> None: ...
    @property
    def src_y(self) -> int:
        """The first source row that is copied, counted from 0."""

    @src_y.setter
    def src_y(self, arg: int, /) -> None: ...
    @property
    def src_memory_type(self) -> object:
        """Of memory_type; set_src_*() and set_dst_*() set it."""

    @src_memory_type.setter
    def src_memory_type(self, arg: int, /) -> None: ...
    @property
    def src_device(self) -> int:
        """The source's device address; set_src_device() sets it."""

    @src_device.setter
    def src_device(self, arg: int, /) -> None: ...
    @property
    def src_pitch(self) -> int:
        """
        The source's pitch: the bytes from the begin of a row to the begin of the next row.
        """

    @src_pitch.setter
    def src_pitch(self, arg: int, /) -> None: ...
    @property
    def dst_x_in_bytes(self) -> int:
        """
        Where the copy begins in each destination row, in bytes from the begin of the row.
        """

    @dst_x_in_bytes.setter
    def dst_x_in_bytes(self, arg: int, /) -> None: ...
    @property
    def dst_y(self) -> int:
        """The first destination row that is written, counted from 0."""

    @dst_y.setter
    def dst_y(self, arg: int, /) -> None: ...
    @property
    def dst_memory_type(self) -> object:
        """Of memory_type; set_src_*() and set_dst_*() set it."""

    @dst_memory_type.setter
    def dst_memory_type(self, arg: int, /) -> None: ...
    @property
    def dst_device(self) -> int:
        """The destination's device address; set_dst_device() sets it."""

    @dst_device.setter
    def dst_device(self, arg: int, /) -> None: ...
    @property
    def dst_pitch(self) -> int:
        """
        The destination's pitch: the bytes from the begin of a row to the begin of the next row.
        """

    @dst_pitch.setter
    def dst_pitch(self, arg: int, /) -> None: ...
    @property
    def width_in_bytes(self) -> int:
        """The number of bytes to copy from each row."""

    @width_in_bytes.setter
    def width_in_bytes(self, arg: int, /) -> None: ...
    @property
    def height(self) -> int:
        """The number of rows to copy from each slice."""

    @height.setter
    def height(self, arg: int, /) -> None: ...
    @property
    def src_z(self) -> int:
        """The first source slice that is copied, counted from 0."""

    @src_z.setter
    def src_z(self, arg: int, /) -> None: ...
    @property
    def src_lod(self) -> int:
        """The mipmap level. CUDA requires 0."""

    @src_lod.setter
    def src_lod(self, arg: int, /) -> None: ...
    @property
    def src_height(self) -> int:
        """
        The number of rows from the begin of a source slice to the begin of the next slice.
        """

    @src_height.setter
    def src_height(self, arg: int, /) -> None: ...
    @property
    def dst_z(self) -> int:
        """The first destination slice that is written, counted from 0."""

    @dst_z.setter
    def dst_z(self, arg: int, /) -> None: ...
    @property
    def dst_lod(self) -> int:
        """The mipmap level. CUDA requires 0."""

    @dst_lod.setter
    def dst_lod(self, arg: int, /) -> None: ...
    @property
    def dst_height(self) -> int:
        """
        The number of rows from the begin of a destination slice to the begin of the next slice.
        """

    @dst_height.setter
    def dst_height(self, arg: int, /) -> None: ...
    @property
    def depth(self) -> int:
        """The number of slices to copy."""

    @depth.setter
    def depth(self, arg: int, /) -> None: ...
    def set_src_host(self, buf: object) -> None:
        """
        Copy from host memory.

        buf: a NumPy array or another buffer; it may have gaps between its rows.

        Sets src_memory_type. The object keeps ``buf`` alive; src_pitch must be set to the bytes from one row to the next.
        """

    def set_src_array(self, array: object) -> None:
        """
        Copy from an Array.

        array: an Array, also one level of a MipmappedArray.

        Sets src_memory_type. src_x_in_bytes counts bytes, not elements.
        """

    def set_src_device(self, devptr: object) -> None:
        """
        Copy from device memory.

        devptr: an allocation or an address.

        Sets src_memory_type and src_device. src_pitch must be set to the bytes from one row to the next.
        """

    def set_src_unified(self, buf: object) -> None:
        """
        Copy from memory of the host or of the device: the driver finds out which of the two the address belongs to.

        buf: an allocation, an address or a buffer.

        Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.
        """

    def set_dst_host(self, buf: object) -> None:
        """
        Copy to host memory.

        buf: a writable NumPy array or another buffer; it may have gaps between its rows.

        Sets dst_memory_type. The object keeps ``buf`` alive; dst_pitch must be set to the bytes from one row to the next.
        """

    def set_dst_array(self, array: object) -> None:
        """
        Copy to an Array.

        array: an Array, also one level of a MipmappedArray.

        Sets dst_memory_type. dst_x_in_bytes counts bytes, not elements.
        """

    def set_dst_device(self, devptr: object) -> None:
        """
        Copy to device memory.

        devptr: an allocation or an address.

        Sets dst_memory_type and dst_device. dst_pitch must be set to the bytes from one row to the next.
        """

    def set_dst_unified(self, buf: object) -> None:
        """
        Copy to memory of the host or of the device: the driver finds out which of the two the address belongs to.

        buf: an allocation, an address or a writable buffer.

        Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.
        """

    def __call__(self, stream: object | None = None) -> None:
        """
        Run the copy.

        stream: a Stream; the call then returns before the copy is done. None waits for the copy.

        Raises LogicError if the copy reaches past the end of host memory.
        """

class Memcpy3DPeer:
    """
    A copy of a box between two contexts, also of different devices.

    As Memcpy3D. set_src_context() and set_dst_context() name the contexts of the two sides; at first both are the current
    context. The devices need no peer access: the driver copies by way of the host then.
    """

    def __init__(self) -> None: ...
    @property
    def src_x_in_bytes(self) -> int:
        """
        Where the copy begins in each source row, in bytes from the begin of the row.
        """

    @src_x_in_bytes.setter
    def src_x_in_bytes(self, arg: int, /) -> None: ...
    @property
    def src_y(self) -> int:
        """The first source row that is copied, counted from 0."""

    @src_y.setter
    def src_y(self, arg: int, /) -> None: ...
    @property
    def src_memory_type(self) -> object:
        """Of memory_type; set_src_*() and set_dst_*() set it."""

    @src_memory_type.setter
    def src_memory_type(self, arg: int, /) -> None: ...
    @property
    def src_device(self) -> int:
        """The source's device address; set_src_device() sets it."""

    @src_device.setter
    def src_device(self, arg: int, /) -> None: ...
    @property
    def src_pitch(self) -> int:
        """
        The source's pitch: the bytes from the begin of a row to the begin of the next row.
        """

    @src_pitch.setter
    def src_pitch(self, arg: int, /) -> None: ...
    @property
    def dst_x_in_bytes(self) -> int:
        """
        Where the copy begins in each destination row, in bytes from the begin of the row.
        """

    @dst_x_in_bytes.setter
    def dst_x_in_bytes(self, arg: int, /) -> None: ...
    @property
    def dst_y(self) -> int:
        """The first destination row that is written, counted from 0."""

    @dst_y.setter
    def dst_y(self, arg: int, /) -> None: ...
    @property
    def dst_memory_type(self) -> object:
        """Of memory_type; set_src_*() and set_dst_*() set it."""

    @dst_memory_type.setter
    def dst_memory_type(self, arg: int, /) -> None: ...
    @property
    def dst_device(self) -> int:
        """The destination's device address; set_dst_device() sets it."""

    @dst_device.setter
    def dst_device(self, arg: int, /) -> None: ...
    @property
    def dst_pitch(self) -> int:
        """
        The destination's pitch: the bytes from the begin of a row to the begin of the next row.
        """

    @dst_pitch.setter
    def dst_pitch(self, arg: int, /) -> None: ...
    @property
    def width_in_bytes(self) -> int:
        """The number of bytes to copy from each row."""

    @width_in_bytes.setter
    def width_in_bytes(self, arg: int, /) -> None: ...
    @property
    def height(self) -> int:
        """The number of rows to copy from each slice."""

    @height.setter
    def height(self, arg: int, /) -> None: ...
    @property
    def src_z(self) -> int:
        """The first source slice that is copied, counted from 0."""

    @src_z.setter
    def src_z(self, arg: int, /) -> None: ...
    @property
    def src_lod(self) -> int:
        """The mipmap level. CUDA requires 0."""

    @src_lod.setter
    def src_lod(self, arg: int, /) -> None: ...
    @property
    def src_height(self) -> int:
        """
        The number of rows from the begin of a source slice to the begin of the next slice.
        """

    @src_height.setter
    def src_height(self, arg: int, /) -> None: ...
    @property
    def dst_z(self) -> int:
        """The first destination slice that is written, counted from 0."""

    @dst_z.setter
    def dst_z(self, arg: int, /) -> None: ...
    @property
    def dst_lod(self) -> int:
        """The mipmap level. CUDA requires 0."""

    @dst_lod.setter
    def dst_lod(self, arg: int, /) -> None: ...
    @property
    def dst_height(self) -> int:
        """
        The number of rows from the begin of a destination slice to the begin of the next slice.
        """

    @dst_height.setter
    def dst_height(self, arg: int, /) -> None: ...
    @property
    def depth(self) -> int:
        """The number of slices to copy."""

    @depth.setter
    def depth(self, arg: int, /) -> None: ...
    def set_src_host(self, buf: object) -> None:
        """
        Copy from host memory.

        buf: a NumPy array or another buffer; it may have gaps between its rows.

        Sets src_memory_type. The object keeps ``buf`` alive; src_pitch must be set to the bytes from one row to the next.
        """

    def set_src_array(self, array: object) -> None:
        """
        Copy from an Array.

        array: an Array, also one level of a MipmappedArray.

        Sets src_memory_type. src_x_in_bytes counts bytes, not elements.
        """

    def set_src_device(self, devptr: object) -> None:
        """
        Copy from device memory.

        devptr: an allocation or an address.

        Sets src_memory_type and src_device. src_pitch must be set to the bytes from one row to the next.
        """

    def set_src_unified(self, buf: object) -> None:
        """
        Copy from memory of the host or of the device: the driver finds out which of the two the address belongs to.

        buf: an allocation, an address or a buffer.

        Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.
        """

    def set_dst_host(self, buf: object) -> None:
        """
        Copy to host memory.

        buf: a writable NumPy array or another buffer; it may have gaps between its rows.

        Sets dst_memory_type. The object keeps ``buf`` alive; dst_pitch must be set to the bytes from one row to the next.
        """

    def set_dst_array(self, array: object) -> None:
        """
        Copy to an Array.

        array: an Array, also one level of a MipmappedArray.

        Sets dst_memory_type. dst_x_in_bytes counts bytes, not elements.
        """

    def set_dst_device(self, devptr: object) -> None:
        """
        Copy to device memory.

        devptr: an allocation or an address.

        Sets dst_memory_type and dst_device. dst_pitch must be set to the bytes from one row to the next.
        """

    def set_dst_unified(self, buf: object) -> None:
        """
        Copy to memory of the host or of the device: the driver finds out which of the two the address belongs to.

        buf: an allocation, an address or a writable buffer.

        Needs a device with unified addresses, which all 64-bit GPUs and softcuda have.
        """

    def set_src_context(self, context: Context) -> None:
        """
        Set the context of the source memory. The constructor sets the current context.

        context: a Context; the copy object keeps it alive.
        """

    def set_dst_context(self, context: Context) -> None:
        """
        Set the context of the destination memory. The constructor sets the current context.

        context: a Context; the copy object keeps it alive.
        """

    def __call__(self, stream: object | None = None) -> None:
        """
        Run the copy.

        stream: a Stream; the call then returns before the copy is done. None waits for the copy.

        Raises LogicError if the copy reaches past the end of host memory.
        """

class Module:
    """
    Device code that is loaded into a context: kernels and variables.

    SourceModule compiles and loads a source. module_from_file() and module_from_buffer() load PTX, a cubin or a fatbin. The
    last reference to the module and its kernels unloads the code, and ``with module:`` unloads it at the end of the block.

    >>> ptx = compiler.compile("__global__ void nop() {}", target="ptx", arch="compute_75")
    >>> module = cuda.module_from_buffer(ptx)
    >>> module.function_names()
    ['nop']
    """

    def get_function(self, name: str) -> Function:
        """
        The kernel with a name.

        name: the name in the image: for a C++ function without ``extern "C"`` the mangled name.

        Raises LogicError, which lists the module's kernels, if there is no such kernel.
        """

    def get_global(self, name: str) -> tuple[int, int]:
        """
        The address and the size in bytes of a __device__ or __constant__ variable.

        Raises LogicError if the module has no such variable.
        """

    def get_texref(self, name: str) -> TextureReference:
        """
        Return a texture reference that the source declares as a variable: a TextureReference.

        name: the variable's name.

        CUDA 12 removed texture references from CUDA C++; PTX can still declare them, and so can sources for pycuda.compiler.
        Raises LogicError for another name.
        """

    def get_surfref(self, name: str) -> SurfaceReference:
        """
        Return a surface reference that the source declares as a variable: a SurfaceReference.

        name: the variable's name. Raises LogicError for another name.
        """

    def close(self) -> None:
        """
        Unload the module now. The call waits for its kernels.

        Functions raise LogicError for a closed module, its kernels and its textures.
        """

    def __repr__(self) -> str: ...
    def function_names(self) -> list[str]:
        """
        Return the names of the module's kernels in the image, as a list; the names of C++ functions are mangled.
        """

    def __enter__(self) -> Module: ...
    def __exit__(self, *args) -> None: ...

def module_from_file(filename: object) -> Module:
    """
    Load a file with a cubin, a fatbin or PTX into the current context.

    filename: the path.

    Raises RuntimeError if the file does not exist, and LogicError if the driver cannot load its contents.
    """

def module_from_buffer(
    buffer: object,
    options: Sequence[tuple[int, int]] = (),
    message_handler: object | None = None,
) -> Module:
    """
    Load a cubin, a fatbin or PTX into the current context.

    buffer: the image as bytes.
    options: pairs of a jit_option and an int.
    message_handler: is called as ``message_handler(success, info, error)`` with the messages of the compiler.

    Raises LogicError if the driver cannot load the image.
    """

class Function:
    """
    A kernel. Module.get_function() finds it, and a call launches it.

    ``func(*args, block, grid=(1, 1), stream=None, shared=0, texrefs=[], time_kernel=False, cooperative=False,
    cluster=None, priority=0, programmatic=False)``

    args: one for each parameter: an array or allocation of the device, an address, a NumPy scalar, a Python number, bytes
      of a struct, or a host array in In, Out or InOut. Number and sizes are checked against the kernel's parameters.
    block, grid: threads of a block and blocks of the grid, an int or up to three ints.
    stream: a Stream; by default the thread's current stream.
    shared: bytes of dynamic shared memory of a block.
    texrefs: texture references that the kernel reads.
    time_kernel: True waits for the kernel and returns its time in seconds.
    cooperative: True lets blocks wait for each other; all of them must fit on the device at the same time.
    cluster: blocks of a cluster, on devices of compute capability 9.0 and later.
    priority: of this launch; lower numbers are more urgent.
    programmatic: True lets the kernel start before the kernel before it in the stream has ended.

    The call returns before the kernel is done, unless host arrays are copied back. Raises TypeError for an argument that
    does not fit its parameter, LogicError or LaunchError for a launch that the device cannot do.

    >>> module = compiler.SourceModule("__global__ void add(float *x, float y) { x[threadIdx.x] += y; }")
    >>> add = module.get_function("add")
    >>> x = gpuarray.zeros(3, np.float32)
    >>> add(x, 1.5, block=(3, 1, 1))
    >>> x
    array([1.5, 1.5, 1.5], dtype=float32)
    """

    def __repr__(self, /):
        """Return repr(self)."""

    def __call__(
        self,
        *args: object,
        block: int | tuple[int, ...] | list[int],
        grid: int | tuple[int, ...] | list[int] = (1, 1),
        stream: Stream | None = None,
        shared: int = 0,
        texrefs: list = [],
        time_kernel: bool = False,
        cooperative: bool = False,
        cluster: int | tuple[int, ...] | None = None,
        priority: int = 0,
        programmatic: bool = False,
    ) -> float | None:
        """Call self as a function."""

    def prepare(self, arg_types: object, texrefs: list = []) -> Function:
        """
        prepare(arg_types, texrefs=[]) -> self

        Set the argument types of prepared_call() and its variants. Returns the Function.

        arg_types: a format of the struct module such as "PPi", or a list of NumPy types and "P" for pointers.
        texrefs: texture references that the kernel uses.
        """

    def prepared_call(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        *args: object,
        shared_size: int = 0,
    ) -> None:
        """
        prepared_call(grid, block, *args, shared_size=0)

        Launch with the argument types of prepare().

        grid, block: tuples of one to three integers.
        args: the arguments.
        shared_size: bytes of dynamic shared memory.
        """

    def prepared_async_call(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        stream: Stream | None,
        *args: object,
        shared_size: int = 0,
    ) -> None:
        """
        prepared_async_call(grid, block, stream, *args, shared_size=0)

        prepared_call() in a stream.

        stream: a Stream; None is the default stream.
        """

    def prepared_timed_call(
        self,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        *args: object,
        shared_size: int = 0,
    ) -> Callable[[], float]:
        """
        prepared_timed_call(grid, block, *args, shared_size=0)

        prepared_call() with a timer.

        Returns a function, which waits for the kernel and returns its time in seconds.
        """

    def bind(
        self,
        *args: object,
        block: int | tuple[int, ...] | list[int],
        grid: int | tuple[int, ...] | list[int] = (1, 1),
        stream: Stream | None = None,
        shared: int = 0,
    ) -> BoundLaunch:
        """
        bind(*args, block, grid=(1, 1), stream=None, shared=0) -> BoundLaunch

        Check and pack the arguments of a launch once. Returns a BoundLaunch, whose call launches the kernel.

        Arguments, block and grid are as in a call of the Function. Host arrays (In, Out, InOut) are not possible. The
        result keeps its arguments alive.
        """

    def get_attribute(self, attribute: int, /) -> int:
        """
        get_attribute(function_attribute) -> int

        Return the value of an attribute of the kernel.

        attribute: a member of function_attribute, such as NUM_REGS (registers of a thread) or SHARED_SIZE_BYTES.

        Each attribute is also an attribute of the Function, in lower case: ``kernel.num_regs``. Raises LogicError for a number
        that is not an attribute.
        """

    def set_attribute(self, attribute: int, value: int, /) -> None:
        """
        set_attribute(function_attribute, value)

        Set an attribute of the kernel.

        attribute: a function_attribute that can be set, such as MAX_DYNAMIC_SHARED_SIZE_BYTES.
        value: the new value.

        Raises LogicError for an attribute that cannot be set.
        """

    def set_cache_config(self, cache_config: int, /) -> None:
        """
        set_cache_config(func_cache)

        Set how the device divides on-chip memory between the L1 cache and shared memory for this kernel: a func_cache.

        The driver may ignore this preference.
        """

    def set_shared_config(self, shared_config: int, /) -> None:
        """
        set_shared_config(shared_config)

        Set the width of the banks of shared memory for this kernel: a shared_config.

        The call has an effect on devices of compute capability 3.x only.
        """

    def max_active_blocks(self, threads: int, shared: int = 0) -> int:
        """
        max_active_blocks(threads, shared=0) -> int

        The number of blocks that one multiprocessor can run at the same time.

        threads: threads of a block, at least 1.
        shared: bytes of dynamic shared memory of a block.

        Raises LogicError for 0 threads.
        """

    def suggest_block_size(
        self, shared: int = 0, most_threads: int = 0
    ) -> tuple[int, int]:
        """
        suggest_block_size(shared=0, most_threads=0) -> (threads, blocks)

        Suggest a block size. Returns (threads of a block with the highest occupancy, blocks that fill the device).

        shared: bytes of dynamic shared memory of a block.
        most_threads: an upper limit of the threads; 0 is no limit.
        """

    param_set_texref: types.MethodDescriptorType = ...

    set_block_shape: types.MethodDescriptorType = ...

    set_shared_size: types.MethodDescriptorType = ...

    param_set_size: types.MethodDescriptorType = ...

    param_seti: types.MethodDescriptorType = ...

    param_setf: types.MethodDescriptorType = ...

    param_setv: types.MethodDescriptorType = ...

    param_set: types.MethodDescriptorType = ...

    launch: types.MethodDescriptorType = ...

    launch_grid: types.MethodDescriptorType = ...

    launch_grid_async: types.MethodDescriptorType = ...

    name: str

    handle: int

    MAX_THREADS_PER_BLOCK: int

    max_threads_per_block: int

    SHARED_SIZE_BYTES: int

    shared_size_bytes: int

    CONST_SIZE_BYTES: int

    const_size_bytes: int

    LOCAL_SIZE_BYTES: int

    local_size_bytes: int

    NUM_REGS: int

    num_regs: int

    PTX_VERSION: int

    ptx_version: int

    BINARY_VERSION: int

    binary_version: int

    CACHE_MODE_CA: int

    cache_mode_ca: int

    MAX_DYNAMIC_SHARED_SIZE_BYTES: int

    max_dynamic_shared_size_bytes: int

    PREFERRED_SHARED_MEMORY_CARVEOUT: int

    preferred_shared_memory_carveout: int

    CLUSTER_SIZE_MUST_BE_SET: int

    cluster_size_must_be_set: int

    REQUIRED_CLUSTER_WIDTH: int

    required_cluster_width: int

    REQUIRED_CLUSTER_HEIGHT: int

    required_cluster_height: int

    REQUIRED_CLUSTER_DEPTH: int

    required_cluster_depth: int

    NON_PORTABLE_CLUSTER_SIZE_ALLOWED: int

    non_portable_cluster_size_allowed: int

    CLUSTER_SCHEDULING_POLICY_PREFERENCE: int

    cluster_scheduling_policy_preference: int

class BoundLaunch:
    """
    A launch with its arguments, made by Function.bind(). A call launches the kernel.

    ``launch(stream=None)`` uses the stream of bind(), or another one. The arguments are checked and packed once, so a call
    takes less than a microsecond of Python's time. ``arguments``, ``block``, ``grid``, ``shared``, ``stream`` and
    ``function`` are what bind() was given.

    >>> module = compiler.SourceModule("__global__ void add(float *x) { x[threadIdx.x] += 1; }")
    >>> x = gpuarray.zeros(2, np.float32)
    >>> launch = module.get_function("add").bind(x, block=(2, 1, 1))
    >>> for _ in range(3):
    ...     launch()
    >>> x
    array([3., 3.], dtype=float32)
    """

    def __repr__(self, /):
        """Return repr(self)."""

    def __call__(self, *, stream: Stream | None = None) -> None:
        """Call self as a function."""

    function: Function

    arguments: tuple

    grid: tuple[int, int, int]

    block: tuple[int, int, int]

    shared: int

    stream: Stream | None

class JitLinker:
    """
    Links pieces of device code with NVIDIA's nvJitLink, which can optimise over all pieces (LTO).

    options: options of nvJitLink, such as "-lto", "-O3" or "-maxrregcount=32". The architecture of the current context's
      device is added.
    message_handler: called as ``message_handler(success, info, error)`` with nvJitLink's messages; None ignores them.

    The first use opens the library. Raises CompileError if no nvJitLink is found, and for an unknown option.

    >>> linker = cuda.JitLinker(["-lto"])
    >>> linker.add_data(compiler.compile(source, target="ltoir"), cuda.jit_input_type.LTOIR, "a")
    >>> module = linker.link_module()
    """

    def __init__(
        self, options: Sequence[str] = [], message_handler: object | None = None
    ) -> None:
        """Create the linker. The class describes the parameters."""

    def add_data(self, data: object, input_type: int, name: str = "unknown") -> None:
        """
        Add a piece of code.

        data: bytes, or another buffer.
        input_type: the kind of the code, a member of jit_input_type.
        name: the name of the code in messages.

        Raises CompileError if nvJitLink cannot read the code.
        """

    def add_file(self, filename: str, input_type: int) -> None:
        """
        Add a file, such as a library of the toolkit.

        filename: the path.
        input_type: the kind of the file, a member of jit_input_type.
        """

    def link(self) -> bytes:
        """
        Link all pieces, and return the image as bytes: a cubin, or PTX if the driver in use loads PTX.

        Can be called once, and not after link_module(). Raises CompileError with the messages of nvJitLink, such as the names
        of undefined functions.
        """

    def link_module(self) -> Module:
        """
        Link all pieces, and load the result. Returns a Module.

        Can be called once. An error has the messages of the linker, such as the names of undefined functions.
        """

def nvjitlink_version() -> str:
    """
    Return the name and version of the nvJitLink library in use, such as "nvJitLink 13.5".

    The first call opens the library. Raises CompileError if no nvJitLink is found.
    """

class Linker:
    """
    Links pieces of device code to one Module, by the driver.

    message_handler: called as ``message_handler(success, info, error)`` with the linker's messages; None prints nothing.
    options: pairs of a jit_option and an int.
    log_verbose: True asks the linker for more messages.

    A GPU's driver links cubins, PTX and libraries of the toolkit; softcuda's links PTX. JitLinker uses nvJitLink instead,
    and optimises over all pieces. link_module() may be called once.

    >>> ptx = compiler.compile("__global__ void nop() {}", target="ptx", arch="compute_75")
    >>> linker = cuda.Linker()
    >>> linker.add_data(ptx, cuda.jit_input_type.PTX, "nop.ptx")
    >>> linker.link_module().function_names()
    ['nop']
    """

    def __init__(
        self,
        message_handler: object | None = None,
        options: object | None = None,
        log_verbose: bool | None = False,
    ) -> None:
        """Create the linker. The class describes the parameters."""

    def add_data(self, data: object, input_type: int, name: str = "unknown") -> None:
        """
        Add a piece of code.

        data: bytes, or another buffer.
        input_type: the kind of the code, a member of jit_input_type.
        name: the name of the code in messages.

        Raises LogicError if the driver cannot read the code.
        """

    def add_file(self, filename: str, input_type: int) -> None:
        """
        Add a file, such as a library of the toolkit.

        filename: the path.
        input_type: the kind of the file, a member of jit_input_type.
        """

    def link_module(self) -> Module:
        """
        Link all pieces, and load the result. Returns a Module.

        Can be called once. An error has the messages of the linker, such as the names of undefined functions.
        """

class GraphNode:
    """
    A node of a Graph: one kernel launch, copy or fill. add_kernel() and its like of Graph return nodes and take them as
    dependencies. A node is valid as long as its graph.
    """

class Graph:
    """
    A graph of work: kernels, copies and fills with dependencies. instantiate() prepares a graph to run.

    capture() records a graph from a stream. add_kernel() and the other methods build a graph from nodes. ``len(graph)`` is
    the number of nodes. Nodes without a path between them may run at the same time.

    >>> memory = cuda.mem_alloc(8)
    >>> graph = cuda.Graph()
    >>> first = graph.add_fill(memory, 1, 2, element_size=4)
    >>> second = graph.add_fill(memory, 7, 1, element_size=4, dependencies=[first])
    >>> graph.instantiate().launch()
    >>> cuda.from_device(memory, 2, np.int32)
    array([7, 1], dtype=int32)
    """

    def __init__(self) -> None: ...
    def instantiate(self) -> ExecutableGraph:
        """
        Prepare the graph to run. Returns an ExecutableGraph of the present nodes.

        Later changes of the graph have no effect on the result. A launch of the result costs less than the launches of its
        nodes one by one. Raises LogicError if the dependencies form a cycle.
        """

    def clone(self) -> Graph:
        """
        Return a copy of the graph with copies of all nodes.

        Later changes of one graph do not affect the other graph. GraphNodes of the original do not belong to the copy.
        """

    def __len__(self) -> int: ...
    def add_empty(self, dependencies: Sequence[GraphNode] = []) -> GraphNode:
        """
        Add a node without work. Returns its GraphNode.

        dependencies: the nodes that must be done before.

        The node is done when all its dependencies are done: many nodes can depend on many others by one empty node.
        """

    def add_kernel(
        self, launch: object, dependencies: Sequence[GraphNode] = []
    ) -> GraphNode:
        """
        Add a kernel launch. Returns its GraphNode.

        launch: a BoundLaunch of Function.bind().
        dependencies: the nodes that must be done before the launch.
        """

    def add_copy(
        self,
        dest: object,
        src: object,
        size: int,
        dependencies: Sequence[GraphNode] = [],
    ) -> GraphNode:
        """
        Add a copy in device memory. Returns its GraphNode.

        dest, src: device memory.
        size: bytes.
        dependencies: the nodes that must be done before the copy.
        """

    def add_fill(
        self,
        dest: object,
        value: int,
        count: int,
        element_size: int = 1,
        dependencies: Sequence[GraphNode] = [],
    ) -> GraphNode:
        """
        Add a node that sets memory. Returns its GraphNode.

        dest: device memory.
        value: the value of each element.
        count: the number of elements.
        element_size: bytes of an element: 1, 2 or 4.
        dependencies: the nodes that must be done before.
        """

    def write_dot(self, path: str) -> None:
        """
        Write the graph as a .dot file, which Graphviz draws.

        path: the file, which is replaced if it exists.
        """

    def close(self) -> None:
        """
        Destroy the graph now. A second call does nothing.

        Executable graphs that instantiate() made from the graph remain usable.
        """

    def __repr__(self) -> str: ...
    @property
    def handle(self) -> int:
        """The CUgraph, as an int."""

    def __enter__(self) -> Graph: ...
    def __exit__(self, *args) -> None: ...

class ExecutableGraph:
    """
    A graph that is ready to run. Graph.instantiate() makes it, and launch() runs it as often as needed.

    Two launches of the same object run one after the other. ``with executable:`` destroys the object at the end.

    >>> x = gpuarray.zeros(2, np.float32)
    >>> stream = cuda.Stream()
    >>> with cuda.capture(stream) as recorded:
    ...     with stream:
    ...         x += 1
    >>> executable = recorded.graph.instantiate()
    >>> for _ in range(3):
    ...     executable.launch(stream)
    >>> stream.synchronize()
    >>> x
    array([3., 3.], dtype=float32)
    """

    def launch(self, stream: object | None = None) -> None:
        """
        Queue all work of the graph in a stream.

        stream: a Stream; by default the thread's current stream.
        """

    def upload(self, stream: object | None = None) -> None:
        """
        Upload the graph to the device, so that the first launch takes no longer than later ones.

        stream: a Stream; by default the thread's current stream. A launch without an upload uploads first.
        """

    def update(self, graph: Graph) -> None:
        """
        Replace the arguments of the nodes by those of another graph.

        graph: a Graph with the same nodes and dependencies. Raises LogicError for another one.
        """

    def close(self) -> None:
        """
        Destroy the executable graph now. A launch that has begun still runs to its end.

        A second call does nothing. launch() of a closed graph raises LogicError.
        """

    def __repr__(self) -> str: ...
    def __enter__(self) -> ExecutableGraph: ...
    def __exit__(self, *args) -> None: ...

def begin_capture(stream: Stream, mode: int = 1) -> None:
    """
    Record later work of a stream into a graph, instead of running the work. end_capture() returns the graph.

    stream: a Stream, not the default stream.
    mode: what other threads may call meanwhile, as in cuStreamBeginCapture.

    capture() does the same in a ``with`` block.
    """

def end_capture(stream: Stream) -> Graph:
    """
    End the recording of begin_capture(). Returns the Graph.

    stream: the Stream of begin_capture().

    Raises LogicError if the stream does not record, and if work was recorded that a graph cannot hold; the recording is
    lost then.
    """

def is_capturing(stream: Stream) -> bool:
    """
    Return whether a stream records its work instead of running it.

    stream: a Stream.

    >>> stream = cuda.Stream()
    >>> with cuda.capture(stream):
    ...     print(cuda.is_capturing(stream))
    True
    >>> cuda.is_capturing(stream)
    False
    """

def mem_alloc_async(bytes: int, stream: object | None = None) -> DeviceAllocation:
    """
    Allocate device memory as work of a stream. Later work of the stream may use the memory.

    bytes: the size.
    stream: a Stream; by default the thread's current stream.

    free() of the memory waits for the stream; mem_free_async() does not wait. Raises MemoryError.
    """

def mem_free_async(memory: object, stream: object | None = None) -> None:
    """
    Free memory as work of a stream: after all earlier work of the stream.

    memory: a DeviceAllocation. It cannot be used afterwards.
    stream: a Stream; by default the thread's current stream.
    """

def mem_prefetch(
    devptr: object, bytes: int, device: object | None, stream: object | None = None
) -> None:
    """
    Move managed memory to a device or to the host, as work of a stream.

    devptr: managed memory.
    bytes: how many bytes from there on.
    device: a Device, or None for the host.
    stream: a Stream; by default the thread's current stream.
    """

def mem_advise(
    devptr: object, bytes: int, advice: int, device: object | None = None
) -> None:
    """
    Advise the driver how managed memory will be used. Results do not depend on the advice.

    devptr: managed memory.
    bytes: how many bytes from there on.
    advice: a member of mem_advice.
    device: the Device of the advice, or None for the host.
    """

def launch_host_func(func: object, stream: object | None = None) -> None:
    """
    Call a Python function as work of a stream: after all earlier work, and before all later work.

    func: a function without arguments. It runs in a thread of the driver, and must not call the driver. An exception
      is printed and does not reach the program.
    stream: a Stream; by default the thread's current stream.
    """

class DriverMemoryPool:
    """
    The driver's own pool of a device, from which mem_alloc_async() takes memory.

    device: a Device.

    The pool is part of the driver: CuPy, torch and other libraries that allocate in streams use the same one. Memory that
    is freed in a stream serves later allocations in the stream's order.

    >>> pool = cuda.DriverMemoryPool(cuda.Device(0))
    >>> pool.release_threshold = 1 << 20
    >>> pool.used_bytes <= pool.reserved_bytes
    True
    >>> pool.release_threshold = 0
    """

    def __init__(self, device: Device) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def release_threshold(self) -> int:
        """
        Bytes that the pool keeps for reuse when a stream or the device is synchronized; 0 at first. May be assigned.

        The pool returns unused memory above this number to the device.
        """

    @release_threshold.setter
    def release_threshold(self, arg: int, /) -> None: ...
    @property
    def reserved_bytes(self) -> int:
        """Bytes that the pool has from the device, both in use and free."""

    @property
    def used_bytes(self) -> int:
        """Bytes in use."""

    @property
    def most_used_bytes(self) -> int:
        """The largest number of bytes that were in use at the same time."""

    def trim(self, keep: int = 0) -> None:
        """
        Return unused memory to the device now.

        keep: the bytes that the pool keeps, memory in use included.
        """

class PhysicalMemory:
    """
    Device memory without an address. VirtualMemory.map() maps the memory to addresses.

    size: bytes, a multiple of mem_get_allocation_granularity(device). Others raise LogicError.
    device: the Device.
    shareable: True allows export_fd(), which shares the memory with another process.

    Raises MemoryError if the device has too little free memory. ``with memory:`` closes the object at the end of the block.

    >>> memory = cuda.PhysicalMemory(cuda.mem_get_allocation_granularity(device), device)
    """

    def __init__(
        self, size: int, device: Device, shareable: bool | None = False
    ) -> None: ...
    @staticmethod
    def import_fd(fd: int, size: int) -> PhysicalMemory:
        """
        Import memory that another process exported. The caller keeps, and closes, the file descriptor.

        fd: the file descriptor of export_fd().
        size: bytes, as the other process has made it.
        """

    def export_fd(self) -> int:
        """
        Return a new file descriptor of the memory, as an int. Another process opens it with import_fd().

        The caller must close the descriptor with os.close(). Raises LogicError if the memory was made without ``shareable``.
        """

    def __repr__(self) -> str: ...
    def close(self) -> None:
        """
        Release the memory. The driver frees it when its last mapping ends.

        A second call does nothing.
        """

    @property
    def size(self) -> int:
        """The size in bytes; 0 after close()."""

    @property
    def device(self) -> Device:
        """The Device that has the memory."""

    @property
    def handle(self) -> int:
        """The CUmemGenericAllocationHandle, as an int."""

    def __enter__(self) -> PhysicalMemory: ...
    def __exit__(self, *args) -> None: ...

def mem_get_allocation_granularity(
    device: Device, recommended: bool | None = False
) -> int:
    """
    The granularity in bytes: the sizes of PhysicalMemory and VirtualMemory are multiples of this number.

    device: the Device.
    recommended: True for the granularity with the best speed, False for the smallest one.
    """

class VirtualMemory:
    """
    A reserved range of device addresses. PhysicalMemory can be mapped to any part of the range.

    size: bytes, a multiple of mem_get_allocation_granularity().
    alignment: the alignment of the first address in bytes; 0 is the granularity.
    address: the wanted first address; 0 lets the driver choose.

    The object is a kernel argument and an operand of copies, like other device memory. A part of the range can be accessed
    after map() and set_access().

    >>> range = cuda.VirtualMemory(1 << 30)
    >>> range.map(memory)
    >>> range.set_access(device)
    """

    def __init__(self, size: int, alignment: int = 0, address: int = 0) -> None: ...
    def map(self, memory: PhysicalMemory, offset: int = 0) -> None:
        """
        Map a PhysicalMemory to a part of the range. set_access() must follow before any access.

        memory: the memory. All of it is mapped.
        offset: bytes from the begin of the range to the mapping.

        Raises LogicError if a part of the target is already mapped.
        """

    def unmap(self, offset: int = 0) -> None:
        """
        Unmap the memory at an offset.

        offset: bytes from the begin of the range, as in map().

        The call does not wait: all work that uses the memory must be done. Raises LogicError if nothing is mapped there.
        """

    def set_access(
        self, device: Device, access: int = 3, offset: int | None = None
    ) -> None:
        """
        Set the access of a device to the mapped memory.

        device: the Device.
        access: a member of mem_access; the default allows reads and writes.
        offset: the offset of one mapping in bytes; None is all mappings.
        """

    def get_access(self, device: Device, offset: int = 0) -> mem_access:
        """
        The access of a device to mapped memory: a member of mem_access.

        device: the Device.
        offset: bytes from the begin of the range.
        """

    def close(self) -> None:
        """Unmap all memory and free the addresses. A second call does nothing."""

    @property
    def size(self) -> int:
        """The size of the range in bytes."""

    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __enter__(self) -> VirtualMemory: ...
    def __exit__(self, *args) -> None: ...
    def __repr__(self) -> str: ...

class SmResource:
    """
    A set of multiprocessors of one device.

    get_sm_resource() returns all multiprocessors of a device, and split() divides them into groups. A GreenContext runs
    its kernels on one group.
    """

    @property
    def count(self) -> int:
        """The number of multiprocessors."""

    def split(self, least: int, groups: int = 0) -> tuple[list[SmResource], SmResource]:
        """
        Split into disjoint groups of multiprocessors. Returns (groups, remaining multiprocessors).

        least: the smallest number of multiprocessors in a group. The device rounds the number up.
        groups: the largest number of groups; 0 is as many as possible.

        Raises LogicError if there are too few multiprocessors for one group.
        """

    def __repr__(self) -> str: ...

def get_sm_resource(owner: object) -> SmResource:
    """
    Return a set of multiprocessors, as an SmResource.

    owner: a Device, for all of its multiprocessors, or a Context, for those that the context may use.

    Raises TypeError for another owner. Needs a driver of CUDA 12.4 or newer.
    """

class GreenContext:
    """
    A context that owns a part of a device's multiprocessors.

    device: the Device.
    resource: the multiprocessors, an SmResource of the device.

    Kernels in the streams of this context run on its multiprocessors only. They do not compete for multiprocessors with
    kernels of other contexts. The context lives as long as a reference to it or to one of its streams.

    >>> (group,), rest = cuda.get_sm_resource(device).split(16, 1)
    >>> green = cuda.GreenContext(device, group)
    >>> with green.context:
    ...     kernel(a_gpu, block=(256, 1, 1), stream=green.create_stream())
    """

    def __init__(self, device: Device, resource: SmResource) -> None: ...
    @property
    def context(self) -> Context:
        """This context as a Context, for push() and ``with``."""

    def __repr__(self) -> str: ...
    @property
    def resource(self) -> SmResource:
        """The multiprocessors of the context, as an SmResource."""

    @property
    def handle(self) -> int:
        """The CUgreenCtx, as an int."""

    def create_stream(self, priority: int = 0) -> Stream:
        """
        Create a Stream whose kernels run on the multiprocessors of this context.

        priority: lower numbers are more urgent; 0 is the default.

        The stream and the default stream do not wait for each other.
        """

class RegisteredObject:
    """
    An OpenGL object that is registered with CUDA. Base class of RegisteredBuffer and RegisteredImage.

    map() gives the object to CUDA, and unmap() of the mapping gives it back to OpenGL. The last reference ends the
    registration.
    """

    def gl_handle(self) -> int:
        """Return OpenGL's name of the object, as an int."""

    def unregister(self) -> None:
        """
        End the registration: only OpenGL can use the object afterwards.

        Raises LogicError if the object was unregistered before.
        """

    def set_map_flags(self, flags: int) -> None:
        """
        Set how CUDA will access the object while it is mapped.

        flags: a member of graphics_map_flags: NONE, READ_ONLY or WRITE_DISCARD. Applies to the next map().

        Raises LogicError for an unregistered object.
        """

    def map(self, stream: object | None = None) -> RegisteredMapping:
        """
        Map the object for CUDA. Returns a RegisteredMapping.

        stream: a Stream; by default the thread's current stream. Work of the stream runs after earlier work of OpenGL.

        OpenGL must not use the object until the mapping is unmapped. Raises LogicError for an unregistered object.
        """

class RegisteredBuffer(RegisteredObject):
    """
    An OpenGL buffer object, registered with CUDA.

    gl_handle: OpenGL's name of the buffer, in OpenGL's current context.
    flags: a member of graphics_map_flags.

    Raises LogicError if the driver does not support sharing with OpenGL, or if the buffer does not exist.
    """

    def __init__(self, gl_handle: int, flags: int = 0) -> None: ...

class RegisteredImage(RegisteredObject):
    """
    An OpenGL texture or renderbuffer, registered with CUDA.

    gl_handle: OpenGL's name of the image, in OpenGL's current context.
    target: the kind of the image, OpenGL's constant, such as GL_TEXTURE_2D.
    flags: a member of graphics_map_flags.

    Raises LogicError if the driver does not support sharing with OpenGL, or if the image does not exist.
    """

    def __init__(self, gl_handle: int, target: int, flags: int = 0) -> None: ...

class RegisteredMapping:
    """
    The mapping of an OpenGL object: CUDA may use the object until unmap(), and OpenGL must not.

    RegisteredObject.map() makes the mapping.
    """

    def unmap(self, stream: object | None = None) -> None:
        """
        End the mapping, so that OpenGL can use the object again.

        stream: a Stream; by default the stream of map(). OpenGL's work runs after the stream's earlier work.

        Raises LogicError if the object was unmapped before.
        """

    def device_ptr_and_size(self) -> tuple[int, int]:
        """
        Return the device address and the size in bytes of a mapped buffer, as a tuple of ints.

        The address is valid until unmap(). Raises LogicError for an image.
        """

    def array(self, index: int, level: int) -> Array:
        """
        Return the Array of a mapped image.

        index: the face of a cube map, or the layer.
        level: the mipmap level; 0 is the largest.

        The Array is valid until unmap(). Raises LogicError for a buffer.
        """

def have_gl_ext() -> bool:
    """
    Return whether the driver in use supports sharing of objects with OpenGL.

    False before the first use of the driver, and for softcuda. pycuda.gl has the functions.
    """

class TextureReference:
    """
    A texture that a kernel's source declares as a variable. Module.get_texref() returns it.

    set_array() binds an Array, set_address() or set_address_2d() device memory. The kernel's call lists the texture
    reference in ``texrefs``, which keeps the bound memory alive. New sources take a TextureObject as an argument.
    """

    def __init__(self) -> None: ...
    def set_array(self, array: object) -> None:
        """
        Bind an Array, which the kernel then reads.

        array: the Array. Its format and number of channels become those of the texture.
        """

    def set_address(
        self, devptr: object, bytes: int, allow_offset: bool | None = False
    ) -> int:
        """
        Bind device memory, which the kernel reads with tex1Dfetch.

        devptr: device memory.
        bytes: the size.
        allow_offset: True accepts an address that is not aligned for textures.

        Returns the offset in bytes that the kernel must add to its index; 0 for an aligned address.
        """

    def set_address_2d(self, devptr: object, descr: object, pitch: int) -> None:
        """
        Bind rows in device memory, which the kernel reads as a two-dimensional texture.

        devptr: device memory.
        descr: an ArrayDescriptor with width, height, format and channels.
        pitch: bytes from the begin of a row to the begin of the next row.
        """

    def set_format(self, format: int, num_components: int) -> None:
        """
        Set the format of device memory that is bound with set_address().

        format: a member of array_format.
        num_components: channels of an element: 1, 2 or 4.
        """

    def set_address_mode(self, dim: int, am: int) -> None:
        """
        Set which element a read outside the texture returns, for one dimension.

        dim: the dimension, from 0 to 2.
        am: a member of address_mode.
        """

    def set_filter_mode(self, fm: int) -> None:
        """
        Set how a read between elements works.

        fm: filter_mode.POINT reads the nearest element; LINEAR mixes the 2, 4 or 8 nearest elements, with weights of 8 bits.
        """

    def set_flags(self, flags: int) -> None:
        """
        Set how the texture is read.

        flags: a sum of TRSF_NORMALIZED_COORDINATES (coordinates from 0 to 1 instead of indices) and TRSF_READ_AS_INTEGER
          (integers as integers, not as floats from 0 to 1). The declared type of the texture decides about the latter.
        """

    def get_address(self) -> int:
        """
        Return the bound address of device memory. Raises LogicError if no memory is bound.
        """

    def get_array(self) -> object:
        """Return the bound Array. Raises LogicError if no Array is bound."""

    def get_address_mode(self, dim: int) -> object:
        """
        Return the address mode of one dimension: a member of address_mode.

        dim: the dimension, from 0 to 2. Others raise LogicError.
        """

    def get_filter_mode(self) -> object:
        """
        Return how a read between elements works: filter_mode.POINT or filter_mode.LINEAR.

        POINT reads the nearest element; see set_filter_mode().
        """

    def get_format(self) -> tuple:
        """
        Return the format as a tuple: a member of array_format, and the number of channels.

        Binding an Array sets both; set_format() sets both for device memory.
        """

    def get_flags(self) -> int:
        """Return the flags, a sum of ``TRSF_`` constants; see set_flags()."""

    @property
    def handle(self) -> int:
        """
        The CUtexObject that the kernel uses, as an int; 0 if no memory is bound.
        """

class SurfaceReference:
    """
    A surface that a kernel's source declares as a variable: an Array that kernels read and write.

    Module.get_surfref() returns the surface, and set_array() binds the Array. New sources take a SurfaceObject as an
    argument.
    """

    def set_array(self, array: object, flags: int = 0) -> None:
        """
        Bind an Array, which the kernel then reads and writes.

        array: an Array that was made with array3d_flags.SURFACE_LDST.
        flags: must be 0.
        """

    def get_array(self) -> object:
        """Return the bound Array. Raises LogicError if no Array is bound."""

class TextureObject:
    """
    A texture: describes how kernels read an Array, a MipmappedArray or device memory.

    A kernel takes the object as an argument of type cudaTextureObject_t, and reads with tex1D(), tex2D() and their like.
    The object keeps the memory alive. ``with texture:`` closes the object at the end of the block.

    resource: an Array, a MipmappedArray or device memory.
    address_mode: which element a read outside the texture returns: a member of address_mode, or a sequence of three.
    filter_mode: POINT reads the nearest element, LINEAR interpolates between elements.
    normalized_coordinates: True for coordinates from 0 to 1 instead of indices.
    normalized_float: True converts integer elements to floats from 0 to 1 (unsigned) or from -1 to 1 (signed).
    srgb: True converts elements from sRGB to linear values.
    max_anisotropy: the largest ratio of anisotropic filtering.
    size: bytes of device memory. Needed for device memory only.
    format, num_channels: the element type of device memory: a member of array_format, and 1, 2 or 4 channels.

    Raises ValueError for device memory without a size.

    >>> array = cuda.np_to_array(np.arange(8, dtype=np.float32).reshape(2, 4), "C")
    >>> texture = cuda.TextureObject(array)
    >>> read = compiler.SourceModule('''
    ... __global__ void read(cudaTextureObject_t t, float *out) { *out = tex2D<float>(t, 3.f, 1.f); }
    ... ''').get_function("read")
    >>> out = gpuarray.zeros(1, np.float32)
    >>> read(texture, out, block=(1, 1, 1))
    >>> out
    array([7.], dtype=float32)
    """

    def __init__(
        self,
        resource: object,
        *,
        address_mode: object = 1,
        filter_mode: int = 0,
        normalized_coordinates: bool | None = False,
        normalized_float: bool | None = False,
        srgb: bool | None = False,
        max_anisotropy: int = 0,
        size: int = 0,
        format: int = 32,
        num_channels: int = 1,
    ) -> None:
        """Create the texture. The class describes the parameters."""

    @property
    def handle(self) -> int:
        """
        The CUtexObject, as an int: the value of a kernel argument of type cudaTextureObject_t.
        """

    def __index__(self) -> int: ...
    def close(self) -> None:
        """
        Destroy the object now. Kernels that use the object must be done. A second call does nothing.
        """

    def __enter__(self) -> TextureObject: ...
    def __exit__(self, *args) -> None: ...

class SurfaceObject:
    """
    A surface: kernels read and write an Array through it, without filtering.

    array: an Array that was made with array3d_flags.SURFACE_LDST. The object keeps the Array alive.

    A kernel takes the object as an argument of type cudaSurfaceObject_t, and uses surf2Dread(), surf2Dwrite() and their
    like, whose x coordinates are in bytes. ``with surface:`` closes the object at the end of the block.
    """

    def __init__(self, array: object) -> None: ...
    @property
    def handle(self) -> int:
        """
        The CUsurfObject, as an int: the value of a kernel argument of type cudaSurfaceObject_t.
        """

    def __index__(self) -> int: ...
    def close(self) -> None:
        """
        Destroy the object now. Kernels that use the object must be done. A second call does nothing.
        """

    def __enter__(self) -> SurfaceObject: ...
    def __exit__(self, *args) -> None: ...

class CompileResult:
    """
    The result of compile_source(): device code, the compiler's messages, and the origin of the code.

    SourceModule and compile() are built on compile_source(). All attributes are read-only.
    """

    @property
    def image(self) -> bytes:
        """
        The device code as bytes: a cubin, a fatbin, LTO IR or PTX text; see ``kind``.
        """

    @property
    def kind(self) -> str:
        """The kind of the image: "cubin", "ptx", "fatbin" or "ltoir"."""

    @property
    def arch(self) -> str:
        """
        The target architecture, such as "sm_86" for a cubin or "compute_86" for PTX.
        """

    @property
    def log(self) -> str:
        """The messages of the compiler and of ptxas, such as warnings."""

    @property
    def command_line(self) -> list[str]:
        """The compiler and its arguments, as one command line."""

    @property
    def origin(self) -> str:
        """
        The origin of the image: "compiler", "memory cache", "disk cache", or "package" for code that is shipped with pycuda.
        """

    @property
    def lowered_names(self) -> dict[str, str]:
        """
        The mangled names in the image: a dict with the name expressions as keys.
        """

    @property
    def kept_in(self) -> str:
        """
        The folder of the compiler's files if ``keep`` was True, else an empty text.
        """

def compile_source(
    source: str,
    nvcc: str,
    options: Sequence[str],
    keep: bool | None,
    no_extern_c: bool | None,
    arch: str,
    code: str,
    cache_dir: object | None,
    include_dirs: Sequence[str],
    target: str,
    name_expressions: Sequence[str],
) -> CompileResult:
    """
    Compile CUDA C++. Returns a CompileResult. pycuda.compiler.compile() has the meaning of the parameters.

    target: "cubin", "ptx", "fatbin", "ltoir", or "image" for the kind that the driver in use loads.

    Raises CompileError with the compiler's messages.
    """

def add_compiler_directory(path: str) -> None:
    """
    Add a folder in which NVRTC and the CUDA headers are searched.

    path: the folder, such as a CUDA toolkit or a ``site-packages/nvidia`` folder. Folders that were added are searched
    after CUDA_HOME and before the system's folders.
    """

def set_kernel_header_directory(path: str) -> None:
    """
    Set the folder of the CUDA C++ headers that pycuda provides to kernels.

    path: the folder. ``import pycuda`` sets the folder of the package.
    """

def clear_memory_cache() -> None:
    """
    Forget the compiled images that this process keeps in memory. The cache on disk stays.

    The next compilation of each source reads the disk, or compiles.
    """

class ElementwiseKernel:
    """
    A kernel that evaluates one operation for each element of its arrays.

    The base class of pycuda.elementwise.ElementwiseKernel, which describes the parameters.
    """

    def __init__(
        self,
        arguments: Sequence[tuple[bool, str, str, int]],
        operation: str,
        name: str,
        preamble: str,
        loop_prep: str,
        after_loop: str,
        options: Sequence[str],
        keep: bool | None,
    ) -> None: ...
    def __call__(
        self,
        *args: object,
        range: slice | None = None,
        slice: slice | None = None,
        stream: Stream | None = None,
    ) -> None:
        """
        Run the kernel on arrays and numbers.

        args: the arguments of the kernel's declaration, in this order. Arrays have one shape.
        range, slice: restrict the elements, as in PyCUDA.
        """

    def source(self) -> str:
        """
        Return the kernel's CUDA C++ source for contiguous arrays, as a str.

        Strided arrays use another source, which is generated at their first call.
        """

class ArrayBase:
    """What GPUArray derives from."""

    __hash__: None  # type: ignore[assignment]

    def __lt__(self, value, /):
        """Return self<value."""

    def __le__(self, value, /):
        """Return self<=value."""

    def __eq__(self, value, /):
        """Return self==value."""

    def __ne__(self, value, /):
        """Return self!=value."""

    def __gt__(self, value, /):
        """Return self>value."""

    def __ge__(self, value, /):
        """Return self>=value."""

    def __add__(self, value, /):
        """Return self+value."""

    def __radd__(self, value, /):
        """Return value+self."""

    def __sub__(self, value, /):
        """Return self-value."""

    def __rsub__(self, value, /):
        """Return value-self."""

    def __mul__(self, value, /):
        """Return self*value."""

    def __rmul__(self, value, /):
        """Return value*self."""

    def __mod__(self, value, /):
        """Return self%value."""

    def __rmod__(self, value, /):
        """Return value%self."""

    def __pow__(self, value, mod=None, /):
        """Return pow(self, value, mod)."""

    def __rpow__(self, value, mod=None, /):
        """Return pow(value, self, mod)."""

    def __neg__(self, /):
        """-self"""

    def __pos__(self, /):
        """+self"""

    def __abs__(self, /):
        """abs(self)"""

    def __invert__(self, /):
        """~self"""

    def __lshift__(self, value, /):
        """Return self<<value."""

    def __rlshift__(self, value, /):
        """Return value<<self."""

    def __rshift__(self, value, /):
        """Return self>>value."""

    def __rrshift__(self, value, /):
        """Return value>>self."""

    def __and__(self, value, /):
        """Return self&value."""

    def __rand__(self, value, /):
        """Return value&self."""

    def __xor__(self, value, /):
        """Return self^value."""

    def __rxor__(self, value, /):
        """Return value^self."""

    def __or__(self, value, /):
        """Return self|value."""

    def __ror__(self, value, /):
        """Return value|self."""

    def __iadd__(self, value, /):
        """Return self+=value."""

    def __isub__(self, value, /):
        """Return self-=value."""

    def __imul__(self, value, /):
        """Return self*=value."""

    def __imod__(self, value, /):
        """Return self%=value."""

    def __ipow__(self, value, /): ...  # type: ignore[misc]
    def __ilshift__(self, value, /):
        """Return self<<=value."""

    def __irshift__(self, value, /):
        """Return self>>=value."""

    def __iand__(self, value, /):
        """Return self&=value."""

    def __ixor__(self, value, /):
        """Return self^=value."""

    def __ior__(self, value, /):
        """Return self|=value."""

    def __floordiv__(self, value, /):
        """Return self//value."""

    def __rfloordiv__(self, value, /):
        """Return value//self."""

    def __truediv__(self, value, /):
        """Return self/value."""

    def __rtruediv__(self, value, /):
        """Return value/self."""

    def __ifloordiv__(self, value, /):
        """Return self//=value."""

    def __itruediv__(self, value, /):
        """Return self/=value."""

    def __getitem__(self, index: object, /): ...
    def __setitem__(self, index: object, value: object, /) -> None: ...

    shape: tuple[int, ...]

    strides: tuple[int, ...]

    dtype: object

    size: int

    mem_size: int

    nbytes: int

    itemsize: int

    ptr: int

    ndim: int

    base: object

    allocator: object

    gpudata: object

class ArrayMemory(DeviceAllocation):
    """
    The memory of GPUArrays: a DeviceAllocation from the memory pool that arrays share.

    ``GPUArray.gpudata`` returns the object. Views of an array share it.
    """

    def free(self) -> None:
        """
        Return the memory to the pool now. All arrays that use the memory become invalid.

        Raises LogicError if the memory was freed before.
        """

    def as_buffer(self, size: int, offset: int = 0) -> memoryview:
        """
        A memoryview of the memory, for memory that the host can access (managed memory, softcuda).

        size: its length in bytes.
        offset: bytes from the begin of the memory.
        """

    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __long__(self) -> int: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __repr__(self) -> str: ...
    @property
    def size(self) -> int:
        """The requested size in bytes."""

class ReductionKernel:
    """
    A kernel that combines the elements of its arrays to one value.

    The base class of pycuda.reduction.ReductionKernel, which describes the parameters.
    """

    def __init__(
        self,
        arguments: Sequence[tuple[bool, str, str, int]],
        dtype_out: object,
        out_type: str,
        neutral: str,
        reduce_expr: str,
        map_expr: str,
        name: str,
        preamble: str,
        options: Sequence[str],
        keep: bool | None,
    ) -> None: ...
    def __call__(
        self,
        *args: object,
        stream: Stream | None = None,
        out: object = None,
        allocator: object = None,
        kernel_wrapper: None = None,
    ) -> ArrayBase:
        """
        Reduce the arrays. Returns ``out``, or a new array without axes.

        out: an array for the result.
        allocator: the allocator of the result.
        """

    def source(self) -> str:
        """
        Return the kernel's CUDA C++ source for contiguous arrays, as a str.

        Strided arrays use another source, which is generated at their first call.
        """

class ScanKernel:
    """
    A kernel that computes the running results of an operation over an array.

    The base class of the scans of pycuda.scan, which describe the parameters.
    """

    def __init__(
        self,
        type: str,
        size: int,
        scan_expr: str,
        neutral: str,
        exclusive: bool | None,
        name: str,
        preamble: str,
        options: Sequence[str],
    ) -> None: ...
    def source(self) -> str:
        """
        Return the kernel's CUDA C++ source for contiguous arrays, as a str.

        Strided arrays use another source, which is generated at their first call.
        """

class NcclError(RuntimeError):
    """
    Raised when an NCCL function fails, and when no NCCL library is found.

    A subclass of Python's RuntimeError. The message has the function and NCCL's own message.
    """
