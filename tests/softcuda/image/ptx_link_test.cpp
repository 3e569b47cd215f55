// ptx_link_test.cpp -- links several PTX modules to one module that parses.
#include "ptx/link.h"
#include "ptx/parse.h"

#include <gtest/gtest.h>

#include <map>

using softcuda::ptx::link;
using softcuda::ptx::LinkInput;

namespace {

constexpr const char *kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Linked {
    std::optional<std::string> text;
    std::vector<std::string> undefined;
    std::string log;
};

Linked link_all(const std::vector<std::string> &bodies, std::uint32_t most_registers = 0) {
    std::vector<LinkInput> inputs;
    for (const std::string &body : bodies)
        inputs.push_back(
            {std::string(1, static_cast<char>('a' + inputs.size())) + ".ptx", kHead + body});
    Linked linked;
    if (auto done = link(inputs, linked.log, most_registers)) {
        linked.text = std::move(done->text);
        linked.undefined = std::move(done->undefined);
    }
    return linked;
}

/// The linked module, parsed. The test fails if it does not parse.
std::optional<softcuda::ptx::Module> parse(const Linked &linked) {
    EXPECT_TRUE(linked.text.has_value()) << linked.log;
    if (!linked.text)
        return std::nullopt;
    auto source = std::make_shared<softcuda::SourceText>("linked.ptx", *linked.text);
    softcuda::Diagnostics diagnostics(*source);
    auto module = softcuda::ptx::parse(source, diagnostics);
    EXPECT_TRUE(module.has_value()) << diagnostics.render() << *linked.text;
    return module;
}

constexpr const char *kCaller = R"(
.extern .func (.param .b32 r) twice (.param .b32 x);
.extern .global .align 4 .b32 total;
.visible .entry k(.param .u64 p) {
    .reg .b32 %r<4>; .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    ld.global.u32 %r1, [total];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), twice, (a);
      ld.param.b32 %r2, [b]; }
    st.global.u32 [%d1], %r2;
    ret;
})";
constexpr const char *kCallee = R"(
.visible .global .align 4 .b32 total = 21;
.visible .func (.param .b32 r) twice (.param .b32 x) {
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
})";

TEST(PtxLinkTest, ExternalSymbolsAreFoundInEitherOrder) {
    for (const auto &order :
         {std::vector<std::string>{kCaller, kCallee}, std::vector<std::string>{kCallee, kCaller}}) {
        const auto module = parse(link_all(order));
        ASSERT_TRUE(module.has_value());
        const auto *function = module->find_function("twice");
        ASSERT_NE(function, nullptr);
        EXPECT_TRUE(function->has_body);
        ASSERT_NE(module->find_variable("total"), nullptr);
        EXPECT_EQ(module->variables.size(), 1U);
        EXPECT_EQ(module->find_variable("total")->linkage, softcuda::ptx::Linkage::Visible);
    }
}

TEST(PtxLinkTest, NamesWithoutADefinitionAreListed) {
    const Linked linked = link_all({".extern .func f;\n.extern .func g;\n.extern .global .u32 x;\n",
                                    ".visible .func f { ret; }\n.global .u32 y;\n"});
    EXPECT_EQ(linked.undefined, (std::vector<std::string>{"g", "x"})) << linked.log;
}

TEST(PtxLinkTest, InternalSymbolsStaySeparate) {
    const std::string one = ".global .align 4 .b32 own = 1;\n"
                            ".visible .entry first(.param .u64 p) { .reg .b32 %r<2>;"
                            " ld.global.u32 %r1, [own]; st.global.u32 [own], %r1; ret; }\n";
    const std::string two = ".global .align 4 .b32 own = 2;\n"
                            ".visible .entry second(.param .u64 p) { .reg .b32 %r<2>;"
                            " ld.global.u32 %r1, [own]; st.global.u32 [own], %r1; ret; }\n";
    const auto module = parse(link_all({one, two}));
    ASSERT_TRUE(module.has_value());
    ASSERT_EQ(module->variables.size(), 2U);
    EXPECT_NE(module->variables[0].name, module->variables[1].name);
    EXPECT_EQ(module->variables[0].initial[0].bits, 1U);
    EXPECT_EQ(module->variables[1].initial[0].bits, 2U);
}

TEST(PtxLinkTest, AVisibleSymbolReplacesAnInternalOne) {
    const auto module = parse(link_all({".global .b32 total;\n", kCallee, kCaller}));
    ASSERT_TRUE(module.has_value());
    EXPECT_EQ(module->find_variable("total")->linkage, softcuda::ptx::Linkage::Visible);
    EXPECT_EQ(module->variables.size(), 2U);
}

TEST(PtxLinkTest, WeakSymbolsAreLinkedOnce) {
    const std::string weak = ".weak .func helper () { ret; }\n";
    const auto module = parse(link_all({weak, weak, ".visible .func helper () { trap; ret; }\n"}));
    ASSERT_TRUE(module.has_value());
    const auto *helper = module->find_function("helper");
    ASSERT_NE(helper, nullptr);
    EXPECT_EQ(helper->linkage, softcuda::ptx::Linkage::Visible);
    EXPECT_EQ(helper->body.size(), 2U) << "the strong one";
}

TEST(PtxLinkTest, ClashesAndErrorsNameTheModules) {
    const Linked twice = link_all({kCallee, kCallee});
    EXPECT_FALSE(twice.text.has_value());
    EXPECT_NE(twice.log.find("'twice' is defined in 'a.ptx' and again in 'b.ptx'"),
              std::string::npos)
        << twice.log;
    const Linked wrong = link_all({kCallee, ".visible .entry broken( {"});
    EXPECT_FALSE(wrong.text.has_value());
    EXPECT_NE(wrong.log.find("b.ptx:"), std::string::npos) << wrong.log;
    const Linked mixed = link_all({kCallee, ".visible .global .b32 twice;\n"});
    EXPECT_NE(mixed.log.find("a function in one"), std::string::npos) << mixed.log;
    EXPECT_FALSE(link_all({}).text.has_value());
}

TEST(PtxLink, KernelsGetTheLimitOfRegisters) {
    const auto module = parse(link_all({".entry a { ret; } .entry b .maxnreg 24 { ret; }",
                                        ".visible .func f { ret; } .entry c .maxnreg 64 { ret; }"},
                                       40));
    ASSERT_TRUE(module.has_value());
    std::map<std::string, unsigned> limits;
    for (const softcuda::ptx::Function &function : module->functions)
        limits[std::string(function.name)] = function.max_registers;
    EXPECT_EQ(limits.at("a"), 40U);
    EXPECT_EQ(limits.at("b"), 24U);
    EXPECT_EQ(limits.at("c"), 40U);
    EXPECT_EQ(limits.at("f"), 0U);
}

TEST(PtxLink, ResultsThatAFunctionDoesNotHaveAreDropped) {
    const Linked linked = link_all({R"(
.extern .func (.param .b32 r) quiet (.param .b64 x);
.visible .entry k(.param .u64 p) {
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [p];
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; call.uni (b), quiet, (a); }
    ret;
})",
                                    R"(
.visible .func quiet (.param .b64 x) { ret; })"});
    ASSERT_TRUE(parse(linked).has_value());
    EXPECT_NE(linked.text->find("call.uni quiet, (a)"), std::string::npos) << *linked.text;
}

} // namespace
