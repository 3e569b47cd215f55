// nvjitlink_library.h -- NVIDIA's linker of device code, opened when it is first used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pycuda::compile_detail {

/// An opened libnvJitLink and its functions, whose names contain the library's version.
class NvJitLinkLibrary {
  public:
    using Handle = struct nvJitLink *;
    using Result = int;
    static constexpr Result success = 0;

    /// Opens the library, once for the process. Throws JitLinkerNotFound.
    static const NvJitLinkLibrary &open();

    /// "nvJitLink 13.5"
    [[nodiscard]] const std::string &name() const noexcept { return name_; }

    Result (*create)(Handle *, std::uint32_t, const char **) = nullptr;
    Result (*destroy)(Handle *) = nullptr;
    Result (*add_data)(Handle, int, const void *, std::size_t, const char *) = nullptr;
    Result (*add_file)(Handle, int, const char *) = nullptr;
    Result (*complete)(Handle) = nullptr;
    Result (*cubin_size)(Handle, std::size_t *) = nullptr;
    Result (*cubin)(Handle, void *) = nullptr;
    Result (*ptx_size)(Handle, std::size_t *) = nullptr;
    Result (*ptx)(Handle, char *) = nullptr;
    Result (*error_log_size)(Handle, std::size_t *) = nullptr;
    Result (*error_log)(Handle, char *) = nullptr;
    Result (*info_log_size)(Handle, std::size_t *) = nullptr;
    Result (*info_log)(Handle, char *) = nullptr;

  private:
    explicit NvJitLinkLibrary(const std::string &path);
    std::string name_;
};

/// The text for a result.
[[nodiscard]] const char *describe_nvjitlink(NvJitLinkLibrary::Result result) noexcept;

} // namespace pycuda::compile_detail
