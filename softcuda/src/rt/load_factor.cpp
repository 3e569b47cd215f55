// load_factor.cpp -- the fragments of mma.m16n8: lane 4 * i + j has bytes 4 * j to 4 * j + 3, of
// 16, of row i, and of row i + 8 of A.
#include "rt/load_factor.h"

#include "rt/matrix_descriptor.h"
#include "rt/resident_block.h"

#include <cstring>

namespace softcuda::rt {
namespace {

constexpr std::uint32_t kWarpRows = 16, kWarpsOfGroup = 4;

class SharedMatrix {
  public:
    SharedMatrix(const LaneCaller &caller, std::uint64_t descriptor)
        : caller_(caller), block_(ResidentBlock::of(caller.worker())), places_(descriptor) {}

    /// Four bytes of a row.
    [[nodiscard]] std::uint32_t word(std::uint32_t row, std::uint32_t k) const {
        return read<std::uint32_t>(places_.place(row, k));
    }
    /// Two elements of a row of a transposed matrix.
    [[nodiscard]] std::uint32_t pair(std::uint32_t row, std::uint32_t k) const {
        const std::uint32_t low = read<std::uint16_t>(places_.transposed_place(row, k));
        return low | std::uint32_t{read<std::uint16_t>(places_.transposed_place(row, k + 1))} << 16;
    }

  private:
    template <class Word> [[nodiscard]] Word read(std::uint64_t offset) const {
        const auto begin = reinterpret_cast<std::uint64_t>(block_.shared());
        if (offset + sizeof(Word) > block_.shared_bytes())
            caller_.fail(Fault::IllegalAddress, begin + offset,
                         "a matrix descriptor addresses byte %llu of %llu in shared memory",
                         static_cast<unsigned long long>(offset),
                         static_cast<unsigned long long>(block_.shared_bytes()));
        Word word;
        std::memcpy(&word, block_.shared() + offset, sizeof word);
        return word;
    }

    const LaneCaller &caller_;
    const ResidentBlock &block_;
    MatrixDescriptor places_;
};

} // namespace

void load_factor(const LaneCaller &caller, const FactorForm &form, std::uint64_t descriptor,
                 FactorRegisters &registers) {
    const SharedMatrix matrix(caller, descriptor);
    const std::uint32_t in_group = caller.lane() / 4, column = caller.lane() % 4 * 4;
    const std::uint32_t warp = caller.worker()->warp_index % kWarpsOfGroup;
    for (unsigned r = 0; r < form.registers; r++) {
        const std::uint32_t row =
            in_group + (form.is_a ? warp * kWarpRows + r % 2 * 8 : (form.first + r / 2) * 8);
        const std::uint32_t k = column + (form.is_a ? r / 2 : r % 2) * 16;
        registers[r] = form.transposed ? matrix.pair(row, k / 2) : matrix.word(row, k);
    }
}

} // namespace softcuda::rt
