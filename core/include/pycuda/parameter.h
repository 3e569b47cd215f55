// parameter.h -- a kernel's parameters: offset, size and kind of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pycuda {

/// The kind of a parameter or argument. The driver knows sizes only; the kinds come from the
/// kernel's source or PTX (see Module::describe), and are Unknown without one.
enum class ValueKind : std::uint8_t {
    Unknown,
    Pointer,
    Signed,   ///< integers and enums
    Unsigned, ///< integers and bool
    Float,    ///< of 2 bytes: half
    BFloat16,
    Bytes, ///< structs, vectors, unions
};

/// One parameter, as the launch path needs it.
struct Parameter {
    std::uint32_t offset = 0;            ///< in the argument block, in bytes
    std::uint32_t size = 0;              ///< in bytes
    ValueKind kind = ValueKind::Unknown; ///< of the value
    /// The type that a pointer points to, if known.
    ValueKind element_kind = ValueKind::Unknown;
    std::uint16_t element_size = 0; ///< of the type that a pointer points to, in bytes; 0: unknown
};

/// One parameter, as the kernel's source declares it.
struct ParameterDescription {
    std::string type;                            ///< as written, for messages: "const float *"
    std::uint32_t size = 0;                      ///< in bytes; 0: unknown
    std::uint32_t alignment = 0;                 ///< in bytes; 0: unknown
    ValueKind kind = ValueKind::Unknown;         ///< of the value
    ValueKind element_kind = ValueKind::Unknown; ///< of the type that a pointer points to
    std::uint16_t element_size = 0;              ///< of that type, in bytes; 0: unknown
};

/// The parameters of one kernel and their offsets in the argument block.
class ParameterLayout {
  public:
    /// An unknown layout: the driver is too old to describe it, and there is no description of the
    /// kernel.
    ParameterLayout() = default;
    /// A known layout. The parameters are in the order of their offsets.
    explicit ParameterLayout(std::vector<Parameter> parameters);
    /// From a description only: the offsets follow from C's alignment rules.
    static ParameterLayout from_description(const std::vector<ParameterDescription> &description);

    /// False if the number of parameters is unknown. Arguments are then laid out by their own
    /// sizes, and only the driver can check them.
    bool known() const noexcept { return known_; }
    /// The number of parameters; 0 for an unknown layout.
    std::size_t count() const noexcept { return parameters_.size(); }
    /// Parameter number `index`, which must exist.
    const Parameter &operator[](std::size_t index) const noexcept { return parameters_[index]; }
    /// The first parameter; count() of them follow each other.
    const Parameter *data() const noexcept { return parameters_.data(); }
    /// The size of the argument block in bytes.
    std::size_t block_size() const noexcept { return block_size_; }
    /// The declared type of a parameter; "" if unknown.
    const std::string &type(std::size_t index) const noexcept;

    /// Adds kinds and types. Ignored if the count or the sizes differ from those of the driver.
    void describe(const std::vector<ParameterDescription> &description);

  private:
    std::vector<Parameter> parameters_;
    std::vector<std::string> types_;
    std::size_t block_size_ = 0;
    bool known_ = false;
};

} // namespace pycuda
