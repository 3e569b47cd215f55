// per_thread.cpp -- the per-thread versions of functions in cudart.def.
#include "per_thread.h"
#include "older_api.h"

extern "C" {
#define CUDART_PER_THREAD(plain, form) CUDART_DEFINE_PER_THREAD(plain, form)
#define CUDART_PER_THREAD_13(plain, form) CUDART_DEFINE_PER_THREAD(plain, form)
#include "cudart.def"
}
