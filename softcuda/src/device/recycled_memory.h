// recycled_memory.h -- an allocator for objects that a thread makes and drops again and again.
//
// A launch of a small kernel makes an object, runs the kernel and drops the object. The object is
// larger than the blocks that malloc keeps for each thread, so malloc would search for it.
#pragma once

#include "rt/thread_owned.h"

#include <array>
#include <cstddef>
#include <new>

namespace softcuda::device {

/// Gives memory of one T. Each thread keeps some blocks that it has freed, until it ends.
template <class T> class RecycledMemory {
  public:
    using value_type = T;
    RecycledMemory() = default;
    template <class U> explicit RecycledMemory(const RecycledMemory<U> &) noexcept {}

    T *allocate(std::size_t count) {
        Blocks &mine = blocks();
        if (mine.state == State::New) {
            static_cast<void>(rt::thread_owned<Owner>());
            mine.state = State::Open;
        }
        if (count == 1 && mine.count > 0)
            return static_cast<T *>(mine.free[--mine.count]);
        return static_cast<T *>(::operator new(count * sizeof(T), kAlignment));
    }

    void deallocate(T *memory, std::size_t count) noexcept {
        Blocks &mine = blocks();
        if (count == 1 && mine.state == State::Open && mine.count < mine.free.size())
            mine.free[mine.count++] = memory;
        else
            ::operator delete(memory, kAlignment);
    }

    friend bool operator==(const RecycledMemory &, const RecycledMemory &) noexcept { return true; }

  private:
    static constexpr std::align_val_t kAlignment{alignof(T)};
    enum class State { New, Open, Ended };

    /// Has no destructor: the destructors of other objects of the thread may free memory later.
    struct Blocks {
        std::array<void *, 8> free;
        std::size_t count;
        State state;
    };
    static Blocks &blocks() noexcept {
        static thread_local constinit Blocks mine{};
        return mine;
    }

    /// Frees the blocks when the thread ends.
    struct Owner {
        Owner() = default;
        Owner(const Owner &) = delete;
        ~Owner() {
            Blocks &mine = blocks();
            mine.state = State::Ended;
            while (mine.count > 0)
                ::operator delete(mine.free[--mine.count], kAlignment);
        }
    };
};

} // namespace softcuda::device
