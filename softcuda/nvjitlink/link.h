// link.h -- a link in progress, which a handle represents.
#pragma once

#include "lto.h"
#include "nvjitlink_api.h"
#include "options.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace softlink {

/// PTX to link, and its name in messages.
struct Program {
    std::string name, ptx;
};

/// The inputs, the result and the logs. The caller holds mutex() during each call.
class Link {
  public:
    /// Parses the options. After a failure the link exists, with a message in its log, as in
    /// NVIDIA's library.
    nvJitLinkResult start(std::span<const char *const> options, int major);

    /// Throw Failure.
    void add(nvJitLinkInputType type, std::span<const std::byte> data, const std::string &name);
    void add_file(nvJitLinkInputType type, const char *path);
    void complete();

    /// Adds lines to the error log.
    void log_error(const std::string &message);

    /// PTX with the final NUL, which softcuda loads in the place of a cubin. Throws Failure before
    /// complete().
    [[nodiscard]] const std::string &cubin() const;
    /// The same if the options ask for PTX. Throws Failure if they do not.
    [[nodiscard]] const std::string &ptx() const;
    [[nodiscard]] std::string lto_ir() const;
    [[nodiscard]] const std::string &error_log() const noexcept { return errors_; }
    [[nodiscard]] const std::string &info_log() const noexcept { return infos_; }
    [[nodiscard]] std::mutex &mutex() noexcept { return mutex_; }

  private:
    void require_inputs_allowed() const;
    void add_programs(nvJitLinkInputType type, std::span<const std::byte> data,
                      const std::string &name);
    void add_lto_ir(nvJitLinkInputType type, std::span<const std::byte> data,
                    const std::string &name);
    void link_lto_ir();
    void link_programs();
    void log_info(const std::string &line);

    std::mutex mutex_;
    Options options_;
    std::vector<Program> programs_;
    std::unique_ptr<LtoLink> lto_; ///< if there is LTO-IR
    bool is_complete_ = false;
    std::optional<std::string> linked_;
    std::string errors_, infos_;
};

} // namespace softlink
