// lto.h -- converts LTO-IR to PTX by NVIDIA's nvJitLink, if there is one.
#pragma once

#include "nvjitlink_api.h"

#include <memory>
#include <span>
#include <string>

namespace softlink {

/// NVIDIA's nvJitLink. Its `-lto -ptx` compiles LTO-IR to PTX, which needs no GPU.
struct Nvidia;

/// The library beside the compiler that this process has loaded (NVRTC, libNVVM), of
/// SOFTCUDA_NVJITLINK, or of CUDA_PATH, CUDA_HOME and /usr/local/cuda. Null if there is none.
[[nodiscard]] const Nvidia *nvidia();

/// What to install or change if there is none.
extern const char *const kNoNvidia;

/// A link of LTO-IR by NVIDIA's library.
class LtoLink {
  public:
    /// The options of the client, with -ptx. Throws Failure with NVIDIA's result and message.
    LtoLink(const Nvidia &library, std::span<const std::string> options);
    ~LtoLink();
    LtoLink(const LtoLink &) = delete;
    LtoLink &operator=(const LtoLink &) = delete;

    /// Throws like the constructor.
    void add(nvJitLinkInputType type, std::span<const std::byte> data, const std::string &name);
    [[nodiscard]] std::string complete();
    /// NVIDIA's LTO-IR of the whole link.
    [[nodiscard]] std::string lto_ir() const;
    [[nodiscard]] std::string info_log() const;

  private:
    void check(int result) const;

    const Nvidia &library_;
    nvJitLinkHandle handle_ = nullptr;
};

} // namespace softlink
