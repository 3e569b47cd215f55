// per_thread.cpp -- the forms of functions that the rows of cudart.def name as per-thread ones.
#include "per_thread.h"
#include "older_api.h"

extern "C" {
#define CUDART_PER_THREAD(plain, form) CUDART_DEFINE_PER_THREAD(plain, form)
#define CUDART_PER_THREAD_13(plain, form) CUDART_DEFINE_PER_THREAD(plain, form)
#include "cudart.def"
}
