// library_identity.cpp -- asks the loader which file this code came from.

#include "support/library_identity.h"

#include <dlfcn.h>
#include <sys/stat.h>

namespace softcuda {

std::string library_identity() {
    Dl_info info{};
    struct stat file{};
    if (dladdr(reinterpret_cast<const void *>(&library_identity), &info) == 0 ||
        stat(info.dli_fname, &file) != 0)
        return {};
    return std::to_string(file.st_size) + '.' + std::to_string(file.st_mtim.tv_sec) + '.' +
           std::to_string(file.st_mtim.tv_nsec);
}

} // namespace softcuda
