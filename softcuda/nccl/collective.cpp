// collective.cpp -- calls of all ranks, implemented with messages between two ranks.
//
// Sums are computed in the order of the ranks, so a result has the same bits in each run and on
// each rank.
//
//     all-reduce, 3 ranks     rank 0: a0 a1 a2        every rank sends part k to rank k, which adds
//                             rank 1: b0 b1 b2   -->  the parts: rank 0 has a0+b0+c0, ... and sends
//                             rank 2: c0 c1 c2        its sum to all
//
// Long arrays are processed in pieces, so that a rank stores only small parts.
#include "collective.h"

#include "element.h"

#include <algorithm>
#include <cstring>

namespace softnccl {
namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;

/// The common part of all messages of one collective call.
class Collective {
  public:
    Collective(Segment &segment, const Request &request, std::uint64_t number)
        : segment_(segment), request_(request), size_(size_of(request.type)),
          label_{request.call,
                 static_cast<std::uint32_t>(request.type),
                 static_cast<std::uint32_t>(request.operation),
                 request.root,
                 request.count,
                 number,
                 0},
          ranks_(segment.ranks()), rank_(segment.rank()) {}

    void run();

  private:
    [[nodiscard]] const std::byte *from(std::size_t element) const {
        return static_cast<const std::byte *>(request_.from) + element * size_;
    }
    [[nodiscard]] std::byte *to(std::size_t element) const {
        return static_cast<std::byte *>(request_.to) + element * size_;
    }
    [[nodiscard]] Label labelled(std::size_t count) const {
        Label label = label_;
        label.bytes = count * size_;
        return label;
    }
    void send(Exchange &exchange, int peer, const void *data, std::size_t count) const {
        exchange.send(peer, labelled(count), data);
    }
    void receive(Exchange &exchange, int peer, void *data, std::size_t count) const {
        exchange.receive(peer, labelled(count), data);
    }
    template <class Each> void each_peer(Each each) const {
        for (int peer = 0; peer < ranks_; ++peer)
            if (peer != rank_)
                each(peer);
    }
    template <class Each> void each_piece(std::size_t count, std::size_t most, Each each) const {
        std::size_t first = 0;
        do { // also once for no elements, to compare the labels
            const std::size_t length = std::min(most, count - first);
            each(first, length);
            first += length;
        } while (first < count);
    }
    [[nodiscard]] std::size_t elements_of_piece() const { return piece_bytes / size_; }

    /// Combines parts[rank], of `count` elements each, to `total`.
    void join(std::byte *total, const std::byte *own, std::size_t count) const;

    void broadcast();
    void all_gather();
    void reduce();
    void reduce_scatter();
    void all_reduce();

    Segment &segment_;
    const Request &request_;
    std::size_t size_;
    Label label_;
    int ranks_, rank_;
    std::vector<std::byte> parts_; ///< received from each rank
};

void Collective::join(std::byte *total, const std::byte *own, std::size_t count) const {
    const std::size_t bytes = count * size_;
    std::vector<std::byte> sum(bytes);
    for (int rank = 0; rank < ranks_; ++rank) {
        const std::byte *part =
            rank == rank_ ? own : parts_.data() + static_cast<std::size_t>(rank) * bytes;
        if (rank == 0)
            std::memcpy(sum.data(), part, bytes);
        else
            reduce_into(sum.data(), part, count, request_.type, request_.operation);
    }
    if (request_.operation == ncclAvg)
        finish_average(sum.data(), count, request_.type, ranks_);
    std::memcpy(total, sum.data(), bytes);
}

void Collective::broadcast() {
    each_piece(request_.count, elements_of_piece(), [&](std::size_t first, std::size_t count) {
        Exchange exchange(segment_);
        if (rank_ == request_.root)
            each_peer([&](int peer) { send(exchange, peer, from(first), count); });
        else
            receive(exchange, request_.root, to(first), count);
        exchange.run();
    });
    if (rank_ == request_.root && request_.from != request_.to)
        std::memmove(request_.to, request_.from, request_.count * size_);
}

void Collective::all_gather() {
    const std::size_t own = static_cast<std::size_t>(rank_) * request_.count;
    if (to(own) != request_.from)
        std::memmove(to(own), request_.from, request_.count * size_);
    each_piece(request_.count, elements_of_piece(), [&](std::size_t first, std::size_t count) {
        Exchange exchange(segment_);
        each_peer([&](int peer) {
            send(exchange, peer, to(own + first), count);
            receive(exchange, peer, to(static_cast<std::size_t>(peer) * request_.count + first),
                    count);
        });
        exchange.run();
    });
}

void Collective::reduce() {
    const bool is_root = rank_ == request_.root;
    each_piece(request_.count, elements_of_piece(), [&](std::size_t first, std::size_t count) {
        Exchange exchange(segment_);
        if (is_root)
            parts_.resize(static_cast<std::size_t>(ranks_) * count * size_);
        if (is_root)
            each_peer([&](int peer) {
                receive(exchange, peer,
                        parts_.data() + static_cast<std::size_t>(peer) * count * size_, count);
            });
        else
            send(exchange, request_.root, from(first), count);
        exchange.run();
        if (is_root)
            join(to(first), from(first), count);
    });
}

void Collective::reduce_scatter() {
    // In place, a rank's result overwrites its own part of the input, which no other rank reads.
    each_piece(request_.count, elements_of_piece(), [&](std::size_t first, std::size_t count) {
        auto place = [&](int rank) {
            return static_cast<std::size_t>(rank) * request_.count + first;
        };
        Exchange exchange(segment_);
        parts_.resize(static_cast<std::size_t>(ranks_) * count * size_);
        each_peer([&](int peer) {
            send(exchange, peer, from(place(peer)), count);
            receive(exchange, peer, parts_.data() + static_cast<std::size_t>(peer) * count * size_,
                    count);
        });
        exchange.run();
        join(to(first), from(place(rank_)), count);
    });
}

void Collective::all_reduce() {
    each_piece(request_.count, elements_of_piece(), [&](std::size_t first, std::size_t count) {
        auto begin = [&](int rank) {
            return first +
                   count * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks_);
        };
        auto length = [&](int rank) { return begin(rank + 1) - begin(rank); };
        const std::size_t own = length(rank_);
        parts_.resize(static_cast<std::size_t>(ranks_) * own * size_);
        Exchange scatter(segment_);
        each_peer([&](int peer) {
            send(scatter, peer, from(begin(peer)), length(peer));
            receive(scatter, peer, parts_.data() + static_cast<std::size_t>(peer) * own * size_,
                    own);
        });
        scatter.run();
        join(to(begin(rank_)), from(begin(rank_)), own);
        Exchange gather(segment_);
        each_peer([&](int peer) {
            send(gather, peer, to(begin(rank_)), own);
            receive(gather, peer, to(begin(peer)), length(peer));
        });
        gather.run();
    });
}

void Collective::run() {
    switch (request_.call) {
    case Call::AllReduce:
        return all_reduce();
    case Call::Reduce:
        return reduce();
    case Call::Broadcast:
        return broadcast();
    case Call::AllGather:
        return all_gather();
    case Call::ReduceScatter:
        return reduce_scatter();
    case Call::SendRecv:
        break;
    }
}

} // namespace

void run_collective(Segment &segment, const Request &request, std::uint64_t number) {
    Collective(segment, request, number).run();
}

void run_messages(Segment &segment, const std::vector<Request> &requests) {
    Exchange exchange(segment);
    for (const Request &one : requests) {
        const std::size_t bytes = one.count * size_of(one.type);
        const Label label{one.call, static_cast<std::uint32_t>(one.type), 0, -1, one.count, 0,
                          bytes};
        if (one.sends)
            exchange.send(one.peer, label, one.from);
        else
            exchange.receive(one.peer, label, one.to);
    }
    exchange.run();
}

} // namespace softnccl
