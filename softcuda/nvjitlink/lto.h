// lto.h -- converts LTO-IR to PTX by NVIDIA's nvJitLink, if there is one.
#pragma once

#include "nvjitlink_api.h"

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace softlink {

/// NVIDIA's nvJitLink. Its `-lto -ptx` compiles LTO-IR to PTX, which needs no GPU.
struct Nvidia;

/// The library beside the compiler that this process has loaded (NVRTC, libNVVM), of
/// SOFTCUDA_NVJITLINK, or of CUDA_PATH, CUDA_HOME and /usr/local/cuda. Null if there is none.
[[nodiscard]] const Nvidia *nvidia();

/// What to install or change if there is none.
extern const char *const kNoNvidia;

/// The functions of LTO-IR that other programs call by name: NVIDIA's library removes all others.
struct Needed {
    std::set<std::string> names;
    bool all = false; ///< the result will be linked again, with unknown programs
};

/// A link of LTO-IR by NVIDIA's library.
class LtoLink {
  public:
    /// The options of the client, with -ptx. Throws Failure with NVIDIA's result and message.
    LtoLink(const Nvidia &library, std::span<const std::string> options);
    ~LtoLink();
    LtoLink(const LtoLink &) = delete;
    LtoLink &operator=(const LtoLink &) = delete;

    /// Throw like the constructor.
    void add(nvJitLinkInputType type, std::span<const std::byte> data, const std::string &name);
    [[nodiscard]] std::string complete(const Needed &needed);
    /// NVIDIA's LTO-IR of the whole link.
    [[nodiscard]] std::string lto_ir() const;
    [[nodiscard]] std::string info_log() const;

  private:
    struct Input {
        nvJitLinkInputType type;
        std::string data, name;
    };

    void create();
    void destroy() noexcept;
    void keep(const Needed &needed);
    void add(const Input &input);
    void check(int result) const;

    const Nvidia &library_;
    std::vector<std::string> options_;
    std::vector<Input> inputs_;
    nvJitLinkHandle handle_ = nullptr;
};

} // namespace softlink
