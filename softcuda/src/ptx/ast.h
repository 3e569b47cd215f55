// ast.h -- the syntax tree of a PTX module: names are resolved, scopes are flattened.
//
// Module owns all objects. References are indices, not pointers:
//
//   Module ── variables[]    .global .const .shared at module scope
//          └─ functions[]    .entry and .func, prototypes and definitions merged into one
//               ├─ parameters[], returns[]
//               ├─ registers[]     only those used; a name `%r<100>` makes none by itself
//               ├─ variables[]     .local .shared .param ... declared in the body
//               ├─ labels[]        each with its place in body[]
//               └─ body[]          labels, instructions and pragmas in order
//
// Nested scopes `{ ... }` are flattened: each register, variable and label of an inner scope has
// its own index, and several may have the same name. So the index is the identity; the name is for
// messages only.
//
// Names and texts are views into Module::source; spans into Module::arena.
#pragma once

#include "ptx/modifiers.h"
#include "ptx/operand.h"
#include "support/arena.h"
#include "support/source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace softcuda::ptx {

// ---- instructions ---------------------------------------------------------------------------

/// An instruction. Operands stand in the order in which they are written, but for
///   call      always four: List of results, callee (Symbol or Register), List of arguments,
///             Prototype, CallTargets or None.
/// Operands that were left out at the end are not there.
struct Instruction {
    Opcode opcode{};
    std::uint16_t form = 0; ///< which row of instructions.def it matched: see forms.h
    Guard guard;
    Modifiers modifiers;
    SourceLocation location;       ///< of the opcode
    std::uint32_t line = no_index; ///< the current .loc: index in Function::lines
    std::string_view spelling;     ///< "add.s32", as written
    std::span<const Operand> operands;

    const Operand &operand(std::size_t i) const { return operands[i]; }
};

// ---- variables ------------------------------------------------------------------------------

enum class Linkage : std::uint8_t { Internal, Visible, Extern, Weak, Common };

/// One scalar of an initialiser that is not zero: a number or the address of something.
struct InitialValue {
    std::uint64_t offset = 0; ///< in bytes, in the variable
    std::uint64_t bits =
        0; ///< the bits of a number; with a symbol, the offset that is added to its address
    SymbolRef symbol; ///< set: its address (never Local, Parameter, Return)
    bool generic =
        false; ///< generic(symbol): the generic address, not the address in the state space
    std::uint8_t mask_byte = no_mask; ///< mask(): only this byte (0 lowest) of the value is stored

    static constexpr std::uint8_t no_mask = 0xff;
};

/// The `.ptr` attribute of a parameter: the state space and alignment of its target.
struct PointerInfo {
    Space space = Space::None; ///< None: generic
    std::uint32_t alignment = 4;
};

/// `filter_mode = nearest` in the initialiser of a .samplerref or .texref.
struct Property {
    std::string_view name;
    std::string_view value;
};

struct Variable {
    std::string_view name;
    SourceLocation location;
    Space space = Space::None;
    ScalarType type = ScalarType::None;
    std::uint8_t vector = 1;     ///< elements of a .v2 or .v4 variable
    std::uint32_t alignment = 0; ///< in bytes; by default that of the type
    bool explicit_alignment = false;
    Linkage linkage = Linkage::Internal;
    bool managed = false;
    /// Array dimensions, outermost first; empty for a scalar. An outermost 0 is `[]`: the size is
    /// elsewhere (.extern .shared).
    std::vector<std::uint64_t> dimensions;
    bool initialized = false;
    std::vector<InitialValue> initial;  ///< all other bytes are zero; scalars of bytes_of(type)
    std::vector<Property> properties;   ///< of an opaque variable
    std::optional<PointerInfo> pointer; ///< parameters of kernels only
    std::uint32_t reg = no_index; ///< space Reg (a .func's parameters only): the register it is

    /// Bytes of one element, vector included.
    std::uint64_t element_bytes() const { return std::uint64_t{bytes_of(type)} * vector; }
    /// The size in bytes; 0 if incomplete.
    std::uint64_t bytes() const;
    /// `.param .align 8 .b8 rest[]`, C's `...`: each call determines the size.
    bool is_open() const { return space == Space::Param && !dimensions.empty() && !dimensions[0]; }
};

// ---- functions ------------------------------------------------------------------------------

struct Register {
    std::string_view stem;           ///< "%r" of `%r<100>`, else the whole name
    std::uint32_t number = no_index; ///< 12 for `%r12` of a range
    ScalarType type = ScalarType::None;
    std::uint8_t vector = 1;
    std::uint32_t scope = 0; ///< 0: the function's own; others: some inner scope
    SourceLocation location; ///< of its declaration

    std::string name() const;
};

struct Label {
    std::string_view name;
    SourceLocation location;
    std::uint32_t statement = no_index; ///< its place in Function::body
    std::uint32_t scope = 0;
};

/// `.callprototype`: the type of an indirectly called function.
struct CallPrototype {
    std::string_view name;
    SourceLocation location;
    std::vector<Variable> returns;
    std::vector<Variable> parameters;
    bool no_return = false;
};

/// `.branchtargets` (labels) or `.calltargets` (functions).
struct TargetList {
    enum class Kind : std::uint8_t { Labels, Functions };
    Kind kind = Kind::Labels;
    std::string_view name;
    SourceLocation location;
    std::vector<std::uint32_t> targets; ///< indices in Function::labels or Module::functions
};

/// `.loc`: the location in the program's source.
struct LineInfo {
    std::uint32_t file = 0; ///< the number given in .file
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    std::string_view function_name; ///< of an inlined function; empty for the kernel's own lines
    bool inlined = false;
    std::uint32_t inlined_file = 0, inlined_line = 0,
                  inlined_column = 0; ///< the location of the call
};

struct LabelStatement {
    std::uint32_t label;
};
struct PragmaStatement {
    std::string_view text; ///< "nounroll"
    SourceLocation location;
};
using Statement = std::variant<Instruction, LabelStatement, PragmaStatement>;

enum class FunctionKind : std::uint8_t { Entry, Device };

/// Up to three numbers of .maxntid and similar directives; 0 if absent.
struct Extent {
    std::uint32_t x = 0, y = 0, z = 0;
    explicit operator bool() const { return x != 0; }
};

struct Function {
    std::string_view name;
    SourceLocation location;
    FunctionKind kind = FunctionKind::Device;
    Linkage linkage = Linkage::Internal;
    bool has_body = false; ///< false: declared only, defined elsewhere (vprintf, malloc)
    bool no_return = false;
    std::vector<Variable> returns;
    std::vector<Variable> parameters;

    Extent max_threads;                 ///< .maxntid
    Extent required_threads;            ///< .reqntid
    Extent cluster;                     ///< .reqnctapercluster
    bool explicit_cluster = false;      ///< .explicitcluster: a launch must have clusters
    std::uint32_t max_cluster_rank = 0; ///< .maxclusterrank: the most blocks of a cluster
    std::uint32_t min_blocks_per_sm = 0;
    std::uint32_t max_registers = 0;
    std::vector<std::string_view> pragmas; ///< those before the body

    std::vector<Register> registers;
    std::vector<Variable> variables;
    std::vector<Label> labels;
    std::vector<CallPrototype> prototypes;
    std::vector<TargetList> target_lists;
    std::vector<LineInfo> lines;
    std::vector<Statement> body;

    bool is_entry() const { return kind == FunctionKind::Entry; }
};

// ---- module ---------------------------------------------------------------------------------

struct Target {
    unsigned sm = 0; ///< 86 of sm_86
    char suffix = 0; ///< 'a' or 'f' of sm_90a, sm_100f
    bool debug = false;
    bool texmode_independent = false;
    bool map_f64_to_f32 = false;
};

/// `.file 1 "kernel.cu"`.
struct DebugFile {
    std::uint32_t index;
    std::string_view name;
};

/// A number in a debug section that is the address of a label or variable, or an offset in a
/// section.
struct DebugReference {
    std::uint64_t offset = 0; ///< of the number in the section
    std::uint32_t bytes = 0;  ///< of the number
    std::string_view symbol;  ///< `$L__tmp4`, `table`, `.debug_loc`
    std::uint64_t addend = 0;
};

/// `.section .debug_info { .b8 1 ... }`, of a module whose target says `debug`.
struct DebugSection {
    std::string_view name;
    std::string bytes; ///< zero at references
    std::vector<DebugReference> references;
    std::unordered_map<std::string_view, std::uint64_t> labels; ///< places in the section
};

/// `.alias a, b;`: a is another name of the function b.
struct Alias {
    std::uint32_t name;
    std::uint32_t aliasee;
};

struct Module {
    std::shared_ptr<const SourceText> source;
    Arena arena;

    unsigned version_major = 0, version_minor = 0;
    Target target;
    unsigned address_bits = 64; ///< 32 or 64
    std::vector<Variable> variables;
    std::vector<Function> functions;
    std::vector<Alias> aliases;
    std::vector<DebugFile> files;
    std::vector<DebugSection> debug_sections; ///< empty unless target.debug
    std::vector<std::string_view> pragmas;

    /// The variable of a symbol of `function`; null for functions and None.
    const Variable *variable(const Function &function, SymbolRef symbol) const;
    /// Null if there is no function of this name.
    const Function *find_function(std::string_view name) const;
    const Variable *find_variable(std::string_view name) const;
};

} // namespace softcuda::ptx
