// access_marks.cpp -- moves the accesses of a line to the cells of its words.
#include "check/access_marks.h"

#include <bit>

namespace softcuda::check {

void LineMarks::expand(Cell *cells) {
    if (by_words)
        return;
    by_words = true;
    for (unsigned word = 0; word < kLineWords; ++word)
        cells[word] = {run, {}, {}, {}, {}};
    for (std::uint32_t each = used; each != 0; each &= each - 1) {
        const auto number = static_cast<unsigned>(std::countr_zero(each));
        const LinePart &access = accesses[number].part;
        const PlacesInLine places = places_of(access, lists[number]);
        std::uint32_t fresh = access.words;
        for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
            const auto lane = static_cast<unsigned>(std::countr_zero(left));
            for_each_word(places[lane], access.bytes, [&](auto at, std::uint32_t bytes) {
                const std::uint64_t word = at / kWordBytes;
                if ((access.words >> word & 1) == 0)
                    return;
                Cell &cell = cells[word];
                Mark &mark = access.writes ? cell.write : cell.read;
                if ((fresh >> word & 1) && !(access.writes && mark.site != 0)) {
                    if (mark.site != 0)
                        cell.other_read = mark;
                    mark = accesses[number].mark;
                }
                fresh &= ~(1u << word);
                mark.add(lane, bytes);
            });
        }
    }
}

} // namespace softcuda::check
