// extensions.h -- functions that a driver library may export in addition to NVIDIA's. All optional.
#pragma once

#include <abi/driver_types.h>

#include <cstddef>
#include <cstdint>
#include <pthread.h>

/// const char *scuImageKind(void): the form of device code that the driver loads, "ptx" or "cubin".
/// A library without this function loads cubins.
using PFN_scuImageKind = const char *(*)();

/// CUresult scuCtxInterrupt(CUcontext): ends the kernels that run in a context as soon as possible;
/// waits for them return. A library without this function cannot end a running kernel.
using PFN_scuCtxInterrupt = CUresult (*)(CUcontext);

/// void scuAskWhileWaiting(int (*keep_waiting)(void), pthread_t thread): calls of the driver in
/// this thread that wait for work call `keep_waiting` every few milliseconds. If it returns 0, the
/// driver calls scuCtxInterrupt() for the context of the work; then the call ends as usual, or, if
/// not only kernels delay it, has no effect and returns CUDA_ERROR_NOT_READY. Null removes the
/// function. A library without this function never calls one.
using PFN_scuAskWhileWaiting = void (*)(int (*keep_waiting)(), pthread_t thread);

/// int scuKnowsAddress(CUdeviceptr): 1 if kernels of this driver may access memory at an address, 0
/// if it belongs to another driver of this process, or is not in use. For a library without this
/// function, all addresses from other libraries are valid.
using PFN_scuKnowsAddress = int (*)(CUdeviceptr);

/// size_t scuLastFaultMessage(char *buffer, size_t size): a text about the failure of the last
/// kernel that failed: kernel, block, thread, address. Writes at most `size` bytes including the
/// final zero; returns the text's length, 0 if no kernel has failed.
using PFN_scuLastFaultMessage = std::size_t (*)(char *buffer, std::size_t size);

/// The action of a kernel at its failure. Texts end with a zero; longer ones are truncated.
struct ScuFault {
    CUresult result;   ///< the result of the driver's functions since then
    char kernel[1024]; ///< its name for the linker
    char file[1024];   ///< of the source; "" if the line is not known
    unsigned line;
    unsigned block[3];
    int thread[3]; ///< -1 if it is not known
    int has_address;
    CUdeviceptr address;
    int access; ///< 1 a read, 2 a write, 0 not known
    int has_allocation;
    CUdeviceptr allocation; ///< the nearest one to the address, which may be before or after it
    std::size_t allocation_bytes;
    char variable[256]; ///< the accessed array or pointer; "" if it is not known
    int parameter;      ///< the number of the kernel's parameter with the pointer, or -1
    char message[2048]; ///< all of this as a text
};

/// int scuLastFault(ScuFault *fault): the last kernel that failed. 0 if none has failed.
using PFN_scuLastFault = int (*)(ScuFault *fault);

/// void scuAskForBlockSizes(size_t (*bytes_in_use)(CUdeviceptr block)): the client has memory pools
/// whose blocks are larger than requested. The driver calls `bytes_in_use` for messages about
/// failed kernels. It returns the requested bytes of the block that begins at an address, or 0 if
/// there is no such block. It must not call the driver. Null removes the function.
using PFN_scuAskForBlockSizes = void (*)(std::size_t (*bytes_in_use)(CUdeviceptr block));

/// A device, and its use by this process.
struct ScuDevice {
    int count; ///< of all devices
    char name[256];
    CUuuid uuid;
    char pci_bus_id[16];
    int architecture; ///< 86 for sm_86
    unsigned multiprocessors;
    std::size_t memory_bytes;
    std::size_t used_bytes;
    int in_use;                     ///< 1 if there is memory or a primary context
    std::uint64_t busy_nanoseconds; ///< in which kernels have run
};

/// CUresult scuDescribeDevice(int ordinal, ScuDevice *device): works also before cuInit(), which
/// the call does not do, and in a child that was forked after cuInit(). CUDA_ERROR_INVALID_DEVICE
/// if there are fewer devices.
using PFN_scuDescribeDevice = CUresult (*)(int ordinal, ScuDevice *device);

// Check modes: errors in kernels that the driver checks. A library without these functions has
// none. Modes are bits: 1 mem (accesses outside of memory), 2 race, 4 init (reads of uninitialised
// memory), 8 sync (barriers and member masks).

/// unsigned scuCheckModes(void): the modes that are on.
using PFN_scuCheckModes = unsigned (*)();

/// CUresult scuSetCheckModes(unsigned modes): for kernels that are launched from now on.
/// CUDA_ERROR_INVALID_VALUE for a bit that is not a mode.
using PFN_scuSetCheckModes = CUresult (*)(unsigned modes);

/// size_t scuCheckReport(char *json, size_t size): all findings so far as JSON text. Writes at most
/// `size` bytes including the final zero; returns the text's length.
using PFN_scuCheckReport = std::size_t (*)(char *json, std::size_t size);

/// void scuMarkFindingsTold(const uint64_t *numbers, size_t count): the program has read these
/// findings; the numbers are those in the JSON text. They are not printed again when the process
/// ends.
using PFN_scuMarkFindingsTold = void (*)(const std::uint64_t *numbers, std::size_t count);

/// void scuForgetFindings(void): empties the list of findings.
using PFN_scuForgetFindings = void (*)();

/// void scuMarkBlock(CUdeviceptr block, size_t bytes, int taken): a pool allocates a piece of an
/// allocation (1: only these bytes may be used, their contents are undefined), or frees the piece
/// (0: none of them may be used; not a leak). Kernels that were launched before may still use a
/// freed piece: the call waits for them, also while a stream is being captured.
using PFN_scuMarkBlock = void (*)(CUdeviceptr block, std::size_t bytes, int taken);

/// void scuMarkWritten(CUdeviceptr address, size_t bytes): the host has written there, or may have,
/// without a call of the driver. Does nothing unless reads are checked.
using PFN_scuMarkWritten = void (*)(CUdeviceptr address, std::size_t bytes);

/// void scuNoteAllocation(CUdeviceptr address, const char *where): the position in the program of
/// the allocation, "file:line". The driver copies the text.
using PFN_scuNoteAllocation = void (*)(CUdeviceptr address, const char *where);

// The profile: the work of kernels, by line, and its times. A library without these functions has
// none. Modes are bits: 1 timeline (begin and end of kernels, copies and waits), 2 counters (the
// instructions and accesses of kernels).

/// unsigned scuProfileModes(void): the modes that are on.
using PFN_scuProfileModes = unsigned (*)();

/// CUresult scuSetProfileModes(unsigned modes): for work that is launched from now on.
/// CUDA_ERROR_INVALID_VALUE for a bit that is not a mode.
using PFN_scuSetProfileModes = CUresult (*)(unsigned modes);

/// size_t scuProfileReport(char *json, size_t size): the record so far as JSON text. Writes at most
/// `size` bytes including the final zero; returns the text's length.
using PFN_scuProfileReport = std::size_t (*)(char *json, std::size_t size);

/// void scuNoteWait(const char *function, uint64_t begin, uint64_t end): the calling thread has
/// waited for work by repeated queries instead of this function. Nanoseconds of CLOCK_MONOTONIC.
/// Does nothing unless there is a timeline.
using PFN_scuNoteWait = void (*)(const char *function, std::uint64_t begin, std::uint64_t end);

/// CUresult scuEventIsOver(CUevent event): as cuEventQuery, for questions that the program has not
/// asked: the race check does not take the answer for a wait, and errors of kernels stay where they
/// are.
using PFN_scuEventIsOver = CUresult (*)(CUevent event);

/// void scuForgetProfile(void): empties the record.
using PFN_scuForgetProfile = void (*)();

// Links without a device and without a context, for softcuda's nvJitLink. A library without these
// functions has none.

/// A text of a link: a message, PTX, a fat binary with LTO-IR (intermediate code for link-time
/// optimisation), a line about a kernel, or a symbol that is declared and not defined.
enum ScuLinkText {
    SCU_LINK_LOG,
    SCU_LINK_PTX,
    SCU_LINK_LTO_IR,
    SCU_LINK_INFO,
    SCU_LINK_UNDEFINED,
};

/// Receives texts. `name` names the text in messages, or is the symbol; `data` is not valid after
/// the call.
using ScuTakeText = void (*)(void *client, ScuLinkText kind, const char *name, const void *data,
                             std::size_t bytes);

/// CUresult scuReadLinkInput(CUjitInputType type, const void *data, size_t bytes, const char *name,
/// int architecture, int wants_lto_ir, ScuTakeText take, void *client): the programs in an input:
/// PTX that was parsed, for devices of compute capability `architecture` (86 for 8.6). If
/// `wants_lto_ir` is not 0, fat binaries with LTO-IR are passed as they are.
using PFN_scuReadLinkInput = CUresult (*)(CUjitInputType type, const void *data, std::size_t bytes,
                                          const char *name, int architecture, int wants_lto_ir,
                                          ScuTakeText take, void *client);

/// A PTX program to link, and its name in messages. Texts end with a zero.
struct ScuLinkProgram {
    const char *name;
    const char *ptx;
};

/// CUresult scuLinkPtx(const ScuLinkProgram *programs, size_t count, unsigned most_registers, int
/// keeps_undefined, ScuTakeText take, void *client): links programs to one, which `take` gets, with
/// a line about each kernel. Kernels get the limit of registers if it is not 0. Symbols without a
/// definition are errors if `keeps_undefined` is 0; else `take` gets their names.
using PFN_scuLinkPtx = CUresult (*)(const ScuLinkProgram *programs, std::size_t count,
                                    unsigned most_registers, int keeps_undefined, ScuTakeText take,
                                    void *client);
