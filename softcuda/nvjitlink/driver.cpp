// driver.cpp -- opens libsoftcuda.so.
#include "driver.h"

#include "failure.h"

#include <dlfcn.h>

namespace softlink {
namespace {

Driver open() {
    // The library's RUNPATH is its own folder.
    void *library = dlopen("libsoftcuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        throw Failure(NVJITLINK_ERROR_INTERNAL, reason ? reason : "libsoftcuda.so was not found");
    }
    const Driver found = {
        reinterpret_cast<PFN_scuReadLinkInput>(dlsym(library, "scuReadLinkInput")),
        reinterpret_cast<PFN_scuLinkPtx>(dlsym(library, "scuLinkPtx"))};
    if (!found.read_input || !found.link)
        throw Failure(NVJITLINK_ERROR_INTERNAL, "libsoftcuda.so is of another version");
    return found;
}

} // namespace

const Driver &driver() {
    static const Driver opened = open();
    return opened;
}

} // namespace softlink
