// thread_owned.h -- one object for each thread, freed when the thread ends, but not at the end of
// the process.
#pragma once

#include <pthread.h>

namespace softcuda::rt {

/// The calling thread's T, created at its first use. Unlike a thread_local object it outlives the
/// main thread's destructors: a client's static objects may call the driver while the process
/// exits.
template <class T> T &thread_owned() {
    static thread_local T *mine = nullptr;
    if (!mine) {
        static const pthread_key_t key = [] {
            pthread_key_t made{};
            pthread_key_create(&made, [](void *object) { delete static_cast<T *>(object); });
            return made;
        }();
        mine = new T;
        pthread_setspecific(key, mine);
    }
    return *mine;
}

} // namespace softcuda::rt
