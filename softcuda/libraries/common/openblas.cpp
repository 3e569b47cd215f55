// openblas.cpp -- finds and loads OpenBLAS.
//
// The first of these that can be loaded: the file in SOFTCUDA_OPENBLAS, the Python package
// scipy-openblas32 in the same site-packages, the one that the build found, and the system's.
#include "openblas.h"

#include "failure.h"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string>
#include <vector>

namespace softlib {
namespace {

struct OpenBlas {
    void *handle = nullptr;
    std::string prefix; ///< of all names: "scipy_" in the Python package
    std::string reason; ///< why there is none

    static const OpenBlas &get() {
        static const OpenBlas found;
        return found;
    }

  private:
    OpenBlas();
};

std::vector<std::string> candidates() {
    if (const char *chosen = std::getenv("SOFTCUDA_OPENBLAS"))
        return {chosen};
    std::vector<std::string> paths;
    Dl_info own = {};
    if (dladdr(reinterpret_cast<void *>(&candidates), &own) != 0 && own.dli_fname != nullptr) {
        std::error_code error; // the libraries may have been loaded by links to them
        const std::filesystem::path file = std::filesystem::canonical(own.dli_fname, error);
        if (!error)
            paths.push_back(file.parent_path().parent_path() /
                            "scipy_openblas32/lib/libscipy_openblas.so");
    }
#ifdef SOFTLIB_OPENBLAS
    paths.emplace_back(SOFTLIB_OPENBLAS);
#endif
    paths.emplace_back("libopenblas.so.0");
    return paths;
}

OpenBlas::OpenBlas() {
    for (const std::string &path : candidates()) {
        handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) {
            const char *error = dlerror();
            reason += std::string(reason.empty() ? "" : "; ") + (error != nullptr ? error : "?");
            continue;
        }
        prefix = dlsym(handle, "scipy_cblas_sgemm") != nullptr ? "scipy_" : "";
        return;
    }
}

} // namespace

void require_openblas() {
    const OpenBlas &library = OpenBlas::get();
    if (library.handle == nullptr)
        throw Failure(statuses.not_initialized,
                      "there is no OpenBLAS: pip install scipy-openblas32, or set "
                      "SOFTCUDA_OPENBLAS to its path (" +
                          library.reason + ")");
}

void *find_in_openblas(const char *start, char letter, const char *name, const char *end) {
    require_openblas();
    const OpenBlas &library = OpenBlas::get();
    std::string symbol = library.prefix + start + name + end;
    if (const std::size_t mark = symbol.find('?'); mark != std::string::npos)
        symbol[mark] = letter;
    void *const address = dlsym(library.handle, symbol.c_str());
    if (address == nullptr)
        throw Failure(statuses.not_supported, "OpenBLAS has no function " + symbol);
    return address;
}

} // namespace softlib
