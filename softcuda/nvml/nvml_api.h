// nvml_api.h -- the part of NVML's C interface that this library has. The numbers are NVIDIA's.
#pragma once

#include <cstddef>

extern "C" {

enum nvmlReturn_t {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_OPERATING_SYSTEM = 17,
    NVML_ERROR_MEMORY = 20,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999,
};

struct nvmlDevice_st;
using nvmlDevice_t = nvmlDevice_st *;

struct nvmlSystemDriverBranchInfo_v1_t {
    unsigned version;
    char branch[80];
};

struct nvmlPciInfo_t {
    char busIdLegacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pciDeviceId;
    unsigned pciSubSystemId;
    char busId[32];
};

struct nvmlPciInfoExt_v1_t {
    unsigned version;
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pciDeviceId;
    unsigned pciSubSystemId;
    unsigned baseClass;
    unsigned subClass;
    char busId[32];
};

enum nvmlUUIDType_t { NVML_UUID_TYPE_ASCII = 1, NVML_UUID_TYPE_BINARY = 2 };

struct nvmlUUID_v1_t {
    unsigned version;
    unsigned type;
    union {
        char str[41];
        unsigned char bytes[16];
    } value;
};

struct nvmlDeviceAttributes_t {
    unsigned multiprocessorCount;
    unsigned sharedCopyEngineCount;
    unsigned sharedDecoderCount;
    unsigned sharedEncoderCount;
    unsigned sharedJpegCount;
    unsigned sharedOfaCount;
    unsigned gpuInstanceSliceCount;
    unsigned computeInstanceSliceCount;
    unsigned long long memorySizeMB;
};

struct nvmlDeviceAddressingMode_v1_t {
    unsigned version;
    unsigned value;
};

struct nvmlDeviceCapabilities_v1_t {
    unsigned version;
    unsigned capMask;
};

struct nvmlGpmSupport_t {
    unsigned version;
    unsigned isSupportedDevice;
};

struct nvmlMemory_t {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct nvmlMemory_v2_t {
    unsigned version;
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
};

struct nvmlUtilization_t {
    unsigned gpu;
    unsigned memory;
};

struct nvmlProcessInfo_v1_t {
    unsigned pid;
    unsigned long long usedGpuMemory;
};

struct nvmlProcessInfo_v2_t {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId;
    unsigned computeInstanceId;
};
using nvmlProcessInfo_t = nvmlProcessInfo_v2_t;

enum nvmlProcessMode_t {
    NVML_PROCESS_MODE_COMPUTE = 0,
    NVML_PROCESS_MODE_GRAPHICS = 1,
    NVML_PROCESS_MODE_MPS = 2,
    NVML_PROCESS_MODE_ALL = 3,
};

struct nvmlProcessDetail_v1_t {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId;
    unsigned computeInstanceId;
    unsigned long long usedGpuCcProtectedMemory;
};

struct nvmlProcessDetailList_v1_t {
    unsigned version;
    unsigned mode;
    unsigned numProcArrayEntries;
    nvmlProcessDetail_v1_t *procArray;
};

struct nvmlProcessUtilizationSample_t {
    unsigned pid;
    unsigned long long timeStamp;
    unsigned smUtil;
    unsigned memUtil;
    unsigned encUtil;
    unsigned decUtil;
};

struct nvmlFieldValue_t {
    unsigned fieldId;
    unsigned scopeId;
    long long timestamp;
    long long latencyUsec;
    int valueType;
    int nvmlReturn;
    union {
        double dVal;
        unsigned long long ullVal;
    } value;
};

enum nvmlGpuTopologyLevel_t { NVML_TOPOLOGY_INTERNAL = 0, NVML_TOPOLOGY_NODE = 40 };

enum nvmlGpuP2PCapsIndex_t {
    NVML_P2P_CAPS_INDEX_READ = 0,
    NVML_P2P_CAPS_INDEX_WRITE = 1,
    NVML_P2P_CAPS_INDEX_NVLINK = 2,
    NVML_P2P_CAPS_INDEX_ATOMICS = 3,
    NVML_P2P_CAPS_INDEX_PCI = 4,
};

enum nvmlGpuP2PStatus_t { NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_NOT_SUPPORTED = 5 };
}
