// extensions.h -- what a driver library may export beyond NVIDIA's functions. All optional.
#pragma once

#include <abi/driver_types.h>

#include <cstddef>
#include <cstdint>
#include <pthread.h>

/// const char *scuImageKind(void): the form of device code that the driver takes, "ptx" or
/// "cubin". A library without it takes cubins.
using PFN_scuImageKind = const char *(*)();

/// CUresult scuCtxInterrupt(CUcontext): ends the kernels that run in a context as soon as they can
/// be ended; waits on them return. A library without it cannot end a running kernel.
using PFN_scuCtxInterrupt = CUresult (*)(CUcontext);

/// void scuAskWhileWaiting(int (*keep_waiting)(void), pthread_t thread): calls of the driver in
/// that thread that wait for work ask every few milliseconds whether to go on. 0 is
/// scuCtxInterrupt() of the context that is waited for; the call then ends as it would have, or is
/// not done and returns CUDA_ERROR_NOT_READY where more than kernels holds it up. Null asks nobody.
/// A library without it waits in its calls unasked.
using PFN_scuAskWhileWaiting = void (*)(int (*keep_waiting)(), pthread_t thread);

/// int scuKnowsAddress(CUdeviceptr): 1 where kernels of this driver may reach memory at an address,
/// 0 where it belongs to another driver of this process, or to nobody. A library without it knows
/// all addresses that other libraries hand on.
using PFN_scuKnowsAddress = int (*)(CUdeviceptr);

/// size_t scuLastFaultMessage(char *buffer, size_t size): what went wrong in the last kernel that
/// failed, as text: kernel, block, thread, address. Writes at most `size` bytes with the final
/// zero; returns the text's length, 0 where no kernel has failed.
using PFN_scuLastFaultMessage = std::size_t (*)(char *buffer, std::size_t size);

/// What a kernel did when it failed. Texts end with a zero; longer ones are cut off.
struct ScuFault {
    CUresult result;   ///< what the driver's functions return since then
    char kernel[1024]; ///< its name for the linker
    char file[1024];   ///< of the source; "" where the line is not known
    unsigned line;
    unsigned block[3];
    int thread[3]; ///< -1 where it is not known
    int has_address;
    CUdeviceptr address;
    int access; ///< 1 a read, 2 a write, 0 not known
    int has_allocation;
    CUdeviceptr allocation; ///< nearest to the address, which may be before or behind it
    std::size_t allocation_bytes;
    char variable[256]; ///< the array or pointer that was used; "" where it is not known
    int parameter;      ///< the number of the kernel's parameter that the pointer is, or -1
    char message[2048]; ///< all of this in words
};

/// int scuLastFault(ScuFault *fault): the last kernel that failed. 0 where none has.
using PFN_scuLastFault = int (*)(ScuFault *fault);

/// A device, and what this process uses of it.
struct ScuDevice {
    int count; ///< of all devices
    char name[256];
    CUuuid uuid;
    char pci_bus_id[16];
    int architecture; ///< 86 for sm_86
    unsigned multiprocessors;
    std::size_t memory_bytes;
    std::size_t used_bytes;
    int in_use;                     ///< 1 where there is memory or a primary context
    std::uint64_t busy_nanoseconds; ///< in which kernels have run
};

/// CUresult scuDescribeDevice(int ordinal, ScuDevice *device): also before cuInit(), which the call
/// does not do, and in a child that was forked after cuInit(). CUDA_ERROR_INVALID_DEVICE where
/// there are not so many.
using PFN_scuDescribeDevice = CUresult (*)(int ordinal, ScuDevice *device);

// Check modes: what the driver watches in kernels. A library without these functions has none.
// Modes are bits: 1 mem (accesses outside of memory), 2 race, 4 init (reads of memory that nobody
// wrote), 8 sync (barriers and member masks).

/// unsigned scuCheckModes(void): the modes that are on.
using PFN_scuCheckModes = unsigned (*)();

/// CUresult scuSetCheckModes(unsigned modes): for kernels that are launched from now on.
/// CUDA_ERROR_INVALID_VALUE for a bit that is no mode.
using PFN_scuSetCheckModes = CUresult (*)(unsigned modes);

/// size_t scuCheckReport(char *json, size_t size): all findings so far as JSON text. Writes at most
/// `size` bytes with the final zero; returns the text's length.
using PFN_scuCheckReport = std::size_t (*)(char *json, std::size_t size);

/// void scuMarkFindingsTold(const uint64_t *numbers, size_t count): the program has read these
/// findings, which the JSON text numbers. They are not printed again when the process ends.
using PFN_scuMarkFindingsTold = void (*)(const std::uint64_t *numbers, std::size_t count);

/// void scuForgetFindings(void): empties the list of findings.
using PFN_scuForgetFindings = void (*)();

/// void scuMarkBlock(CUdeviceptr block, size_t bytes, int taken): a pool hands out a piece of an
/// allocation (1: only these bytes may be used, their contents are undefined), or takes the piece
/// back (0: none of them may be used; not a leak). Kernels that were launched before may still use
/// what is taken back: the call waits for them, also while a stream is being captured.
using PFN_scuMarkBlock = void (*)(CUdeviceptr block, std::size_t bytes, int taken);

/// void scuMarkWritten(CUdeviceptr address, size_t bytes): the host has written there, or may have,
/// other than by a call of the driver. Does nothing unless reads are checked.
using PFN_scuMarkWritten = void (*)(CUdeviceptr address, std::size_t bytes);

/// void scuNoteAllocation(CUdeviceptr address, const char *where): the place in the program that
/// allocated, "file:line". The driver copies the text.
using PFN_scuNoteAllocation = void (*)(CUdeviceptr address, const char *where);

// The profile: what kernels did, line by line, and when. A library without these functions has
// none. Modes are bits: 1 timeline (when kernels, copies and waits began and ended), 2 counters
// (what kernels executed and accessed).

/// unsigned scuProfileModes(void): the modes that are on.
using PFN_scuProfileModes = unsigned (*)();

/// CUresult scuSetProfileModes(unsigned modes): for what is launched from now on.
/// CUDA_ERROR_INVALID_VALUE for a bit that is no mode.
using PFN_scuSetProfileModes = CUresult (*)(unsigned modes);

/// size_t scuProfileReport(char *json, size_t size): all that was recorded so far as JSON text.
/// Writes at most `size` bytes with the final zero; returns the text's length.
using PFN_scuProfileReport = std::size_t (*)(char *json, std::size_t size);

/// void scuNoteWait(const char *function, uint64_t begin, uint64_t end): the calling thread has
/// waited for work by asking again and again, in place of this function. Nanoseconds of
/// CLOCK_MONOTONIC. Does nothing unless there is a timeline.
using PFN_scuNoteWait = void (*)(const char *function, std::uint64_t begin, std::uint64_t end);

/// void scuForgetProfile(void): empties the record.
using PFN_scuForgetProfile = void (*)();
