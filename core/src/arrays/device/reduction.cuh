// reduction.cuh -- the kernel of a reduction: a team of threads reduces a chunk of one output.
//
// Each thread keeps several states, so that additions are independent and few are sequential. Then
// states are combined as a tree, first within the thread, then over the team.
//
// The generated text before this file defines, for inputs called p0, p1 and the mask:
//
//   type_p0, type_mask        types in memory
//   WALKERS(X)                X(p0) X(p1) X(mask)
//   MAP(x, index)             map() of elements with the text x(p0), x(p1) ...
//   S, O, Index               types of a state, of the output and of indices
//   identity(), map(), combine(), append()
//   FINISH(s)                 the result of a state
//   PARAMETERS                of the kernel, except the last one
//   TEAM_BLOCK, TEAM_WARP, TEAM_COLUMNS, TEAM_THREAD    1 for one of them (Team)
//   EXTENT_0, EXTENT_1        of TEAM_THREAD: the extents of the reduced axes; 1 for no axis
//   ADJACENT_ROWS             of TEAM_THREAD: 1 if output m has the elements m * EXTENT_1 and on
//   ADJACENT_COLUMNS          of TEAM_THREAD: 1 if neighbouring outputs have neighbouring elements
//   KEPT_AXES, REDUCED_AXES   the numbers of axes
//   DENSE_COLUMNS             1 if neighbouring outputs have elements that are STEP elements apart
//   DENSE                     1 if a team's elements are STEP elements apart; with several axes, in
//                             each row. STEP is 1 with VECTORS, WORDS and PIECES
//   GROUPED                   1 if elements are combined in groups, by array_group()
//   VECTORS, WORDS            1 for accesses of 16 bytes, 1 for bytes in words of eight
//   STOPS                     1 with WORDS for tests: a warp stops when it knows the result
//   LENGTH, STEPS, GROUP, TURN    elements of an access, accesses in flight, accesses of a group,
//                             elements in flight
//   STATES                    of a thread; TURN is a multiple
//   WHOLE_COLUMNS             1 if the outputs are a multiple of the 32 columns: each thread has
//                             work, and the compiler knows that warps do not diverge
//   COLUMN_GROUPS             the columns of a thread of TEAM_COLUMNS, 32 apart. More than 1 with
//                             WHOLE_COLUMNS and DENSE_COLUMNS: a CPU fetches long pieces of a row
//   THREADS                   of a block
//   ONE_WARP                  1 for a TEAM_BLOCK whose one warp has the states of all 256
//                             threads. A CPU runs the warps of a block one after another, so
//                             several warps would read memory in pieces that are far apart
//   PIECES                    1 if the order does not matter: each warp has one piece of the chunk
//   ROLLED                    1 if the loops over accesses in flight are rolled
//   ROLLED_JOIN               1 if the loops of the tree are rolled
#pragma once

#define WALKER(name) walker_##name,
enum Walker { WALKERS(WALKER) walkers };

constexpr int kept_axes = KEPT_AXES > 0 ? KEPT_AXES : 1;
struct Geometry {
    Index outputs, length, chunk, kept[kept_axes], reduced[REDUCED_AXES],
        kept_stride[kept_axes][walkers], stride[REDUCED_AXES][walkers];
};

#define STEP_OF(name) (STEP * int(sizeof(type_##name)))
#define BASE(name) const char *base_##name = reinterpret_cast<const char *>(name);
#define MOVE_BASE(name) base_##name += at * g.kept_stride[axis][walker_##name];
#define MOVE_COLUMN(name) base_##name += column * Index(STEP_OF(name));

#define BEGIN_AT(name) const char *at_##name = base_##name;
#define ADD_DENSE(name) at_##name += r * Index(STEP_OF(name));
#define ADD_ONE_AXIS(name) at_##name += r * g.stride[0][walker_##name];
#define ADD_AXIS(name) at_##name += at * g.stride[axis][walker_##name];
#define ADD_LANE(name) at_##name += lane * Index(STEP_OF(name));
#define BEGIN_ROW(name) const char *at_##name = base_##name + r * g.stride[0][walker_##name];
#define MOVE_ROWS(name) base_##name += m * Index(EXTENT_1 * sizeof(type_##name));
#define MOVE_COLUMNS(name) base_##name += m * Index(sizeof(type_##name));
#if ADJACENT_ROWS
#define BEGIN_CELL(name) const char *at_##name = base_##name + k * int(sizeof(type_##name));
#elif REDUCED_AXES == 1
#define BEGIN_CELL(name) const char *at_##name = base_##name + k * g.stride[0][walker_##name];
#else
#define BEGIN_CELL(name)                                                                           \
    const char *at_##name = base_##name + i * g.stride[0][walker_##name] +                         \
                            k * g.stride[REDUCED_AXES - 1][walker_##name];
#endif
#define NEXT_COLUMN(name) at_##name += 32 * STEP_OF(name);
#define ELEMENT(name) *reinterpret_cast<const type_##name *>(at_##name)

#define BEGIN_ROUND(name) const char *round_##name = base_##name;
#define ADD_DENSE_ROUND(name) round_##name += first * Index(STEP_OF(name));
#define ADD_STRIDED_ROUND(name) round_##name += first * g.stride[0][walker_##name];
#define ADD_ROUND_AXIS(name) round_##name += at * g.stride[axis][walker_##name];
#define AT_DENSE(name) const char *at_##name = round_##name + within * STEP_OF(name);
#define AT_STRIDED(name) const char *at_##name = round_##name + within * g.stride[0][walker_##name];

#define FIRST_OF_PIECE(name)                                                                       \
    const type_##name *piece_##name = reinterpret_cast<const type_##name *>(base_##name) + at;
#define IN_PIECE(name) piece_##name[32 * u]
#define NEXT_OF_PIECE(name) piece_##name += step;
#define IN_ROW(name) piece_##name[32 * q]
#define NEXT_OF_ROWS(name) piece_##name += LENGTH * team_size;

#define PACK(name) Pack<type_##name, LENGTH>
#define PACKS(name) PACK(name) packs_##name[STEPS];
#define LOAD_PACKS(name)                                                                           \
    packs_##name[u] = reinterpret_cast<const PACK(name) *>(base_##name)[r / LENGTH + u * team_size];
#define LOAD_PACK(name)                                                                            \
    const PACK(name) pack_##name = reinterpret_cast<const PACK(name) *>(base_##name)[at];
#define IN_PACKS(name) packs_##name[u].v[k]
#define IN_PACK(name) pack_##name.v[k]

#if ROLLED_JOIN
#define UNROLL_JOIN 1
#else
#define UNROLL_JOIN 8
#endif

extern "C" __global__ void __launch_bounds__(THREADS) KERNEL(PARAMETERS, Geometry g) {
#if TEAM_BLOCK
    const int team_size = 256, lane = threadIdx.x, distance = 1;
    const Index m = blockIdx.x;
#elif TEAM_WARP
    const int team_size = 32, lane = threadIdx.x & 31, distance = 1;
    const Index m = Index(blockIdx.x) * 8 + (threadIdx.x >> 5);
#elif TEAM_THREAD
    const Index m = Index(blockIdx.x) * 256 + threadIdx.x;
    if (m >= g.outputs)
        return;
#else
    const int team_size = 8, lane = threadIdx.x >> 5, distance = 32;
    const Index m = Index(blockIdx.x) * (32 * COLUMN_GROUPS) + (threadIdx.x & 31);
#endif

    // The first element of output m.
    WALKERS(BASE);
#if DENSE_COLUMNS
    const Index column = threadIdx.x & 31;
    FOR_EACH_AXIS(m - column, KEPT_AXES - 1, g.kept, WALKERS(MOVE_BASE))
    WALKERS(MOVE_COLUMN);
#elif ADJACENT_ROWS
    WALKERS(MOVE_ROWS);
#elif ADJACENT_COLUMNS
    WALKERS(MOVE_COLUMNS);
#elif KEPT_AXES > 0
    FOR_EACH_AXIS(m, KEPT_AXES - 1, g.kept, WALKERS(MOVE_BASE))
#endif
#if TEAM_THREAD
    S total = identity();
#pragma unroll
    for (int i = 0; i < EXTENT_0; ++i)
#pragma unroll
        for (int k = 0; k < EXTENT_1; ++k) {
            WALKERS(BEGIN_CELL);
            total = append(total, MAP(ELEMENT, Index(i * EXTENT_1 + k)));
        }
    out[m] = FINISH(total);
#else
    const int apart = TEAM_COLUMNS ? 1 : team_size; // of a thread's elements
#if GROUPED
    T origin = T(0);
    if (m < g.outputs)
        origin = map(*reinterpret_cast<const type_p0 *>(base_p0), 0).mean;
    auto centred = [&](type_p0 x) { return T(map(x, 0).mean - origin); };
#endif

    // The state of the reduction's element r.
    auto element = [&](Index r) {
        WALKERS(BEGIN_AT);
#if REDUCED_AXES == 1 && DENSE
        WALKERS(ADD_DENSE);
#elif REDUCED_AXES == 1
        WALKERS(ADD_ONE_AXIS);
#else
        FOR_EACH_AXIS(DENSE ? r - lane : r, REDUCED_AXES - 1, g.reduced, WALKERS(ADD_AXIS))
#if DENSE
        WALKERS(ADD_LANE);
#endif
#endif
#if GROUPED
        return S{centred(ELEMENT(p0)), R(0), R(1)};
#else
        return MAP(ELEMENT, r);
#endif
    };

    // The tree: within the thread; over the team through shared memory, down to one warp, or for
    // columns to one of the block's eight rows; over the lanes of the warp by shuffles.
    auto join_lanes = [&](S total, Index m) {
#if !TEAM_COLUMNS
#pragma unroll UNROLL_JOIN
        for (int half = 16; half > 0; half /= 2)
            total = combine(total, array_from_above(total, half));
#endif
        if (lane == 0 && m < g.outputs)
            out[m * gridDim.y + blockIdx.y] = FINISH(total);
    };
#if !ONE_WARP
    auto join_team = [&](S(&state)[STATES], Index m) {
#pragma unroll
        for (int half = STATES / 2; half > 0; half /= 2)
#pragma unroll
            for (int u = 0; u < half; ++u)
                state[u] = combine(state[u], state[u + half]);
        S total = state[0];
#if !TEAM_WARP
        __shared__ array_states<S>::Unit memory[256 * sizeof(S) / sizeof(array_states<S>::Unit)];
        const array_states<S> shared{memory};
        shared.put(threadIdx.x, total);
#pragma unroll UNROLL_JOIN
        for (int half = team_size / 2; half * distance >= 32; half /= 2) {
            __syncthreads();
            if (lane < half)
                shared.put(threadIdx.x, combine(shared.get(threadIdx.x, total),
                                                shared.get(threadIdx.x + half * distance, total)));
        }
        if (TEAM_COLUMNS ? lane > 0 : threadIdx.x >= 32)
            return;
        total = shared.get(threadIdx.x, total);
#endif
        join_lanes(total, m);
    };
#endif

    Index begin = Index(blockIdx.y) * g.chunk;
#if WHOLE_COLUMNS
    Index end = min(begin + g.chunk, g.length);
#else
    Index end = m < g.outputs ? begin + g.chunk : begin;
    if (end > g.length)
        end = m < g.outputs ? g.length : begin;
#endif
#if TEAM_COLUMNS
    // Each thread of a column has consecutive rows, which a CPU reads in the order of memory.
    const Index piece = (end - begin + team_size - 1) / team_size;
    const Index first_row = min(begin + lane * piece, end);
    end = min(first_row + piece, end);
#endif
#if ONE_WARP
    constexpr int warps = team_size / 32;
    S state[warps][STATES];
#pragma unroll 1
    for (int w = 0; w < warps; ++w)
#pragma unroll
        for (int u = 0; u < STATES; ++u)
            state[w][u] = identity();
    // One element of each thread of the team, the first of which has element `first`, is added to
    // the state with the number place(r).
    auto add_round = [&](Index first, auto includes, auto place) {
        WALKERS(BEGIN_ROUND);
#if REDUCED_AXES == 1 && DENSE
        WALKERS(ADD_DENSE_ROUND);
#elif REDUCED_AXES == 1
        WALKERS(ADD_STRIDED_ROUND);
#elif DENSE
        FOR_EACH_AXIS(first, REDUCED_AXES - 1, g.reduced, WALKERS(ADD_ROUND_AXIS))
#endif
#pragma unroll 1
        for (int w = 0; w < warps; ++w) {
            const int within = 32 * w + lane;
            const Index r = first + within;
            if (!includes(r))
                continue;
#if DENSE
            WALKERS(AT_DENSE);
#elif REDUCED_AXES == 1
            WALKERS(AT_STRIDED);
#else
            WALKERS(BEGIN_AT);
            FOR_EACH_AXIS(r, REDUCED_AXES - 1, g.reduced, WALKERS(ADD_AXIS))
#endif
            const int u = place(r);
            state[w][u] = append(state[w][u], MAP(ELEMENT, r));
        }
    };
    const Index length = end - begin, rounds = length / team_size / TURN * TURN;
#pragma unroll 1
    for (Index i = 0; i < rounds; ++i)
        add_round(
            begin + i * team_size, [](Index) { return true; },
            [&](Index) { return int(i % STATES); });
    // Threads with TURN more elements add them to the states in turn, the other threads to the
    // first.
#pragma unroll 1
    for (Index i = rounds; i * team_size < length; ++i)
        add_round(
            begin + i * team_size, [&](Index r) { return r < end; },
            [&](Index r) {
                return r + (rounds + TURN - 1 - i) * team_size < end ? int(i % STATES) : 0;
            });
#pragma unroll 1
    for (int w = 0; w < warps; ++w)
#pragma unroll
        for (int half = STATES / 2; half > 0; half /= 2)
#pragma unroll
            for (int u = 0; u < half; ++u)
                state[w][u] = combine(state[w][u], state[w][u + half]);
#pragma unroll 1
    for (int half = warps / 2; half > 0; half /= 2)
#pragma unroll 1
        for (int w = 0; w < half; ++w)
            state[w][0] = combine(state[w][0], state[w + half][0]);
    join_lanes(state[0][0], m);
#elif COLUMN_GROUPS > 1
    S wide[COLUMN_GROUPS][STATES];
    const int columns = min(Index(COLUMN_GROUPS), g.outputs / 32 - blockIdx.x * COLUMN_GROUPS);
#pragma unroll 1
    for (int k = 0; k < columns; ++k)
#pragma unroll
        for (int u = 0; u < STATES; ++u)
            wide[k][u] = identity();
    auto add_row = [&](Index r, int u) {
        WALKERS(BEGIN_ROW);
#pragma unroll 1
        for (int k = 0; k < columns; ++k) {
            wide[k][u] = append(wide[k][u], MAP(ELEMENT, r));
            WALKERS(NEXT_COLUMN);
        }
    };
    Index r = first_row;
    // The states in turn, as below.
    const Index turns = r + (end - r) / TURN * TURN;
#pragma unroll 1
    for (; r < turns; r += STATES)
#pragma unroll
        for (int u = 0; u < STATES; ++u)
            add_row(r + u, u);
    for (; r < end; ++r)
        add_row(r, 0);
#pragma unroll 1
    for (int k = 0; k < columns; ++k) {
        __syncthreads(); // the states of the column before have been read
        join_team(wide[k], m + 32 * k);
    }
#else
    S state[STATES];
#pragma unroll
    for (int u = 0; u < STATES; ++u)
        state[u] = identity();

#if PIECES
    {
        const Index step = 32 * STATES, warps = team_size / 32;
        const Index piece = (end - begin) / (step * warps) * step;
        Index at = begin + lane / 32 * piece + lane % 32;
        WALKERS(FIRST_OF_PIECE);
#pragma unroll 1
        for (Index left = piece; left > 0; left -= step) {
#pragma unroll
            for (int u = 0; u < STATES; ++u)
                state[u] = append(state[u], MAP(IN_PIECE, at + 32 * u));
            WALKERS(NEXT_OF_PIECE);
            at += step;
        }
        begin += piece * warps;
    }
#elif WORDS
    // Single elements up to the beginning of a word, then words.
    {
        Index first = begin + Index(-reinterpret_cast<long long>(base_p0 + begin) & 7);
        if (first > end)
            first = end;
        if (lane < first - begin)
            state[0] = append(state[0], element(begin + lane));
        const Index count = (end - first) / 8;
        const Word *words = reinterpret_cast<const Word *>(base_p0 + first);
        // Each warp has one piece of the words.
        const Index piece = (count + team_size - 1) / team_size * 32;
        const Index last = min(count, (lane / 32 + 1) * piece);
        constexpr Index step = (STOPS ? 64 : 255) * 32; // a byte of a sum stays below 256
#pragma unroll 1
        for (Index from = lane / 32 * piece + lane % 32; from - lane % 32 < last; from += step) {
            const Index to = min(last, from + step);
            Word even = 0, odd = 0;
#pragma unroll 4
            for (Index at = from; at < to; at += 32) {
                const Word x = WORD(words[at]);
                ADD_WORD;
            }
            state[0] = append(state[0], OF_WORDS);
#if STOPS
            if (__any_sync(0xffffffffu, state[0] != identity()))
                break;
#endif
        }
        begin = first + count * 8;
    }
#elif VECTORS && GROUPED && ROLLED
    // The loops of array_group() around the accesses: the second loop finds the elements in the
    // cache.
    {
        const PACK(p0) *packed = reinterpret_cast<const PACK(p0) *>(base_p0);
        const Index step = STEPS * LENGTH * team_size;
        const Index stop = begin + (end - begin) / step * step;
#pragma unroll 1
        for (Index at = begin / LENGTH + lane; at < stop / LENGTH; at += GROUP * team_size) {
            auto each = [&](const auto &use) {
#pragma unroll 1
                for (int u = 0; u < GROUP; ++u) {
                    const PACK(p0) v = packed[at + u * team_size];
#pragma unroll
                    for (int k = 0; k < LENGTH; ++k)
                        use(centred(v.v[k]));
                }
            };
            T sum = T(0);
            each([&](T x) { sum = sum + x; });
            const T mean = array_part(sum, R(1) / (GROUP * LENGTH));
            R squares = R(0);
            each([&](T x) { squares = squares + array_square_of(T(x - mean)); });
            state[0] = append(state[0], S{mean, squares, R(GROUP * LENGTH)});
        }
        begin = stop;
    }
#elif VECTORS && ROLLED && LENGTH <= STATES
    // The accesses of a warp are rows of neighbouring elements. Lane l of row q has element 32 q +
    // l of the warp's packs, which belongs to thread (32 q + l) / LENGTH. After the loop each
    // thread gets its states, so no element passes from lane to lane.
    {
        const Index step = STEPS * LENGTH * team_size;
        const Index stop = begin + (end - begin) / step * step;
        constexpr int threads = 32 / LENGTH; // of a row
        S row[LENGTH];
#pragma unroll
        for (int q = 0; q < LENGTH; ++q)
            row[q] = identity();
        Index at = begin + lane / 32 * (32 * LENGTH) + lane % 32;
        WALKERS(FIRST_OF_PIECE);
#pragma unroll 1
        for (Index left = stop - begin; left > 0; left -= LENGTH * team_size) {
#pragma unroll
            for (int q = 0; q < LENGTH; ++q)
                row[q] = append(row[q], MAP(IN_ROW, at + 32 * q));
            WALKERS(NEXT_OF_ROWS);
            at += LENGTH * team_size;
        }
#pragma unroll
        for (int k = 0; k < LENGTH; ++k)
#pragma unroll
            for (int q = 0; q < LENGTH; ++q) {
                const S moved = array_from_lane(row[q], lane % threads * LENGTH + k);
                if (lane % 32 / threads == q)
                    state[k] = moved;
            }
        begin = stop;
    }
#elif VECTORS && ROLLED
    // One access in the loop, which ends before the last incomplete step of several accesses.
    {
        const Index step = STEPS * LENGTH * team_size;
        const Index stop = begin + (end - begin) / step * step;
#pragma unroll 1
        for (Index at = begin / LENGTH + lane; at < stop / LENGTH; at += team_size) {
            WALKERS(LOAD_PACK);
#pragma unroll
            for (int k = 0; k < LENGTH; ++k)
                state[k % STATES] = append(state[k % STATES], MAP(IN_PACK, at * LENGTH + k));
        }
        begin = stop;
    }
#elif VECTORS
    {
        Index r = begin + lane * LENGTH;
        const Index stride = STEPS * LENGTH * team_size;
        for (; r + stride - lane * LENGTH <= end; r += stride) {
            WALKERS(PACKS);
#pragma unroll
            for (int u = 0; u < STEPS; ++u) {
                WALKERS(LOAD_PACKS);
            }
#if GROUPED
#pragma unroll
            for (int u = 0; u < STEPS; u += GROUP) {
                T x[GROUP * LENGTH];
#pragma unroll
                for (int k = 0; k < GROUP * LENGTH; ++k)
                    x[k] = centred(packs_p0[u + k / LENGTH].v[k % LENGTH]);
                state[0] = append(state[0], array_group(x));
            }
#else
#pragma unroll
            for (int u = 0; u < STEPS; ++u)
#pragma unroll
                for (int k = 0; k < LENGTH; ++k)
                    state[k % STATES] =
                        append(state[k % STATES], MAP(IN_PACKS, r + u * LENGTH * team_size + k));
#endif
        }
        begin = r - lane * LENGTH;
    }
#endif

    // The remaining elements, one at a time: as long as there are enough, added to each of the
    // states in turn, or combined as groups; then added to the first state.
#if TEAM_COLUMNS
    Index r = first_row;
#else
    Index r = begin + lane;
#endif
#if ROLLED && (GROUPED || STATES > 1)
    // One copy of the code for an element. The states rotate after each element, so that the code
    // always uses the first. Elements of a group are kept until the group is complete.
    const Index own = r < end ? (end - r + team_size - 1) / team_size : 0;
    const Index turns = r + own / TURN * TURN * team_size;
#if GROUPED
    int waiting = 0;
    T x[TURN];
#pragma unroll
    for (int u = 0; u < TURN; ++u)
        x[u] = T(0);
#pragma unroll 1
    for (; r < end; r += team_size) {
        S next = element(r);
        if (r < turns) {
#pragma unroll
            for (int u = 0; u + 1 < TURN; ++u)
                x[u] = x[u + 1];
            x[TURN - 1] = next.mean;
            waiting = (waiting + 1) % TURN;
            if (waiting > 0)
                continue;
            next = array_group(x);
        }
        state[0] = append(state[0], next);
    }
#else
#pragma unroll 1
    for (; r < end; r += team_size) {
        const S next = append(state[0], element(r));
        if (r < turns) {
#pragma unroll
            for (int u = 0; u + 1 < STATES; ++u)
                state[u] = state[u + 1];
            state[STATES - 1] = next;
        } else {
            state[0] = next;
        }
    }
#endif
#else
#if GROUPED
    for (; r + (TURN - 1) * apart < end; r += TURN * apart) {
        T x[TURN];
#pragma unroll
        for (int u = 0; u < TURN; ++u)
            x[u] = element(r + u * apart).mean;
        state[0] = append(state[0], array_group(x));
    }
#elif STATES > 1
    for (; r + (TURN - 1) * apart < end; r += TURN * apart) {
#pragma unroll
        for (int u = 0; u < TURN; ++u)
            state[u % STATES] = append(state[u % STATES], element(r + u * apart));
    }
#endif
#pragma unroll 1
    for (; r < end; r += apart)
        state[0] = append(state[0], element(r));
#endif

    join_team(state, m);
#endif
#endif
}
