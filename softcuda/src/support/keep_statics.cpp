// keep_statics.cpp -- static objects of libsoftcuda are never destroyed.
//
// Threads of the worker pool run kernels and compile while exit() destroys static objects, LLVM's
// among them. No object here needs its destructor at the end of a process. This file is linked into
// the shared library alone, whose code then calls this function instead of the C library's.
#include <dlfcn.h>

extern "C" int __cxa_atexit(void (*function)(void *), void *object, void *library) {
    if (object != nullptr) // the destructor of a static object
        return 0;
    using Register = int (*)(void (*)(void *), void *, void *);
    static const auto next = reinterpret_cast<Register>(dlsym(RTLD_DEFAULT, "__cxa_atexit"));
    return next(function, object, library); // of atexit()
}
