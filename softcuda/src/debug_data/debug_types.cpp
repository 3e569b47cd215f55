// debug_types.cpp -- structures may contain pointers to themselves: they are made in two steps.
#include "debug_data/debug_types.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DIBuilder.h>

namespace softcuda::debug_data {

using ir::DebugType;
using Kind = ir::DebugType::Kind;

llvm::DIType *DebugTypes::type(const ir::DebugTypes &types, std::uint32_t number,
                               llvm::DIFile *file) {
    if (number >= types.size())
        return nullptr;
    if (const auto found = made_.find(number); found != made_.end())
        return found->second.get();
    const DebugType &type = types[number];
    if (type.kind == Kind::Structure || type.kind == Kind::Union)
        return make_composite(types, number, file);
    made_[number].reset(nullptr); // a type that contains only itself is nothing
    llvm::DIType *made = make(types, type, file);
    made_[number].reset(made);
    return made;
}

llvm::DIType *DebugTypes::make(const ir::DebugTypes &types, const DebugType &type,
                               llvm::DIFile *file) {
    const auto target = [&] { return this->type(types, type.target, file); };
    switch (type.kind) {
    case Kind::Base:
        return builder_.createBasicType(type.name, type.bytes * 8, type.encoding);
    case Kind::Pointer:
        return builder_.createPointerType(target(), type.bytes * 8);
    case Kind::Reference: {
        llvm::DIType *to = target();
        return to ? builder_.createReferenceType(llvm::dwarf::DW_TAG_reference_type, to,
                                                 type.bytes * 8)
                  : builder_.createPointerType(nullptr, 64);
    }
    case Kind::Array: {
        llvm::DIType *element = target();
        if (!element)
            return nullptr;
        llvm::SmallVector<llvm::Metadata *, 4> extents;
        std::uint64_t count = 1;
        for (std::uint64_t extent : type.extents) {
            extents.push_back(builder_.getOrCreateSubrange(0, static_cast<std::int64_t>(extent)));
            count *= extent;
        }
        return builder_.createArrayType(count * element->getSizeInBits(), 0, element,
                                        builder_.getOrCreateArray(extents));
    }
    case Kind::Enumeration: {
        llvm::SmallVector<llvm::Metadata *, 8> values;
        for (const ir::DebugEnumerator &value : type.enumerators)
            values.push_back(builder_.createEnumerator(
                value.name, static_cast<std::uint64_t>(value.value), false));
        return builder_.createEnumerationType(file, type.name, file, 0, type.bytes * 8, 0,
                                              builder_.getOrCreateArray(values), nullptr);
    }
    case Kind::Typedef: {
        llvm::DIType *to = target();
        return to ? builder_.createTypedef(to, type.name, file, 0, file) : nullptr;
    }
    case Kind::Const:
        return builder_.createQualifiedType(llvm::dwarf::DW_TAG_const_type, target());
    case Kind::Volatile:
        return builder_.createQualifiedType(llvm::dwarf::DW_TAG_volatile_type, target());
    default:
        return type.name.empty() || type.name == "void" ? nullptr
                                                        : builder_.createUnspecifiedType(type.name);
    }
}

llvm::DIType *DebugTypes::make_composite(const ir::DebugTypes &types, std::uint32_t number,
                                         llvm::DIFile *file) {
    const DebugType &type = types[number];
    const unsigned tag = type.kind == Kind::Union ? llvm::dwarf::DW_TAG_union_type
                                                  : llvm::dwarf::DW_TAG_structure_type;
    llvm::DICompositeType *placeholder =
        builder_.createReplaceableCompositeType(tag, type.name, file, file, 0);
    made_[number].reset(placeholder);
    llvm::SmallVector<llvm::Metadata *, 8> members;
    for (const ir::DebugMember &member : type.members)
        if (llvm::DIType *of = this->type(types, member.type, file))
            members.push_back(builder_.createMemberType(placeholder, member.name, file, 0,
                                                        of->getSizeInBits(), 0, member.offset * 8,
                                                        llvm::DINode::FlagZero, of));
    const llvm::DINodeArray elements = builder_.getOrCreateArray(members);
    llvm::DICompositeType *made =
        type.kind == Kind::Union
            ? builder_.createUnionType(file, type.name, file, 0, type.bytes * 8, 0,
                                       llvm::DINode::FlagZero, elements)
            : builder_.createStructType(file, type.name, file, 0, type.bytes * 8, 0,
                                        llvm::DINode::FlagZero, nullptr, elements);
    made_[number].reset(made);
    builder_.replaceTemporary(llvm::TempDICompositeType(placeholder), made);
    return made_[number].get();
}

llvm::DIType *DebugTypes::unsigned_integer(std::uint64_t bytes) {
    const char *name = bytes == 8   ? "unsigned long"
                       : bytes == 4 ? "unsigned int"
                       : bytes == 2 ? "unsigned short"
                                    : "unsigned char";
    return builder_.createBasicType(name, bytes * 8,
                                    bytes == 1 ? llvm::dwarf::DW_ATE_unsigned_char
                                               : llvm::dwarf::DW_ATE_unsigned);
}

llvm::DIType *DebugTypes::words(llvm::StringRef name, llvm::ArrayRef<const char *> members,
                                llvm::DIFile *file) {
    llvm::SmallVector<llvm::Metadata *, 4> made;
    llvm::DIType *word = unsigned_integer(4);
    for (std::size_t i = 0; i < members.size(); ++i)
        made.push_back(builder_.createMemberType(file, members[i], file, 0, 32, 0, 32 * i,
                                                 llvm::DINode::FlagZero, word));
    return builder_.createStructType(file, name, file, 0, 32 * members.size(), 0,
                                     llvm::DINode::FlagZero, nullptr,
                                     builder_.getOrCreateArray(made));
}

llvm::DIType *DebugTypes::bytes(std::uint64_t count) {
    llvm::Metadata *extent = builder_.getOrCreateSubrange(0, static_cast<std::int64_t>(count));
    return builder_.createArrayType(count * 8, 0, unsigned_integer(1),
                                    builder_.getOrCreateArray({extent}));
}

} // namespace softcuda::debug_data
