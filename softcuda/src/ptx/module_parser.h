// module_parser.h -- the outermost level of a PTX text.
#pragma once

#include "ptx/context.h"
#include "ptx/debug_parser.h"

namespace softcuda::ptx {

class ModuleParser {
  public:
    explicit ModuleParser(Context &context)
        : context_(context), tokens_(context.tokens), module_(context.module), debug_(context) {}

    void parse();

  private:
    void statement();
    void version();
    void target();
    void target_word(const Token &word);
    void address_size();
    void pragma();
    void alias();
    Linkage linkage();
    void declare_variable(Variable &&variable);
    bool redeclares(const Variable &variable);
    void function(Linkage linkage);
    Function header(Linkage linkage);
    void performance_directives(Function &function);
    bool performance_directive(Function &function);
    Extent extent();
    void cluster_directive(Function &function);
    std::uint32_t declare_function(const Function &function, bool is_definition);
    bool same_signature(const Function &a, const Function &b) const;

    Context &context_;
    TokenStream &tokens_;
    Module &module_;
    DebugParser debug_;
};

} // namespace softcuda::ptx
