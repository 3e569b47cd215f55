// preload.cpp -- libsoftcuda_preload.so: loads softcuda's nvJitLink before the program starts.
//
// Other libraries of CUDA are found by their names, in the folder that softcuda-exec puts on the
// loader's path. Python packages look for nvJitLink in their own environment first, by a path; but
// before this they ask whether a library of its name is loaded already (cuda.pathfinder's step 0).
// softcuda-exec names this file in LD_PRELOAD. The libraries themselves are not named there,
// because then their functions would be found by programs that look for them in no library in
// particular, and of two libraries with the same functions only the first would be found.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

namespace {

void load(const char *folder, int length, const char *name) {
    char path[4096];
    if (snprintf(path, sizeof path, "%.*s%s", length, folder, name) < static_cast<int>(sizeof path))
        dlopen(path, RTLD_LAZY | RTLD_LOCAL); // on failure the program finds another one, or none
}

__attribute__((constructor)) void load_libraries() {
    Dl_info here;
    if (!dladdr(reinterpret_cast<void *>(load_libraries), &here) || !here.dli_fname)
        return;
    const char *slash = strrchr(here.dli_fname, '/');
    const int length = slash ? static_cast<int>(slash + 1 - here.dli_fname) : 0;
    load(here.dli_fname, length, "libnvJitLink.so.13");
    load(here.dli_fname, length, "libnvJitLink.so.12");
}

} // namespace
