// compile_source_test.cpp -- parses and wraps source text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/source/gnu_extensions.h"
#include "compile/source/sha256.h"
#include "compile/source/source_text.h"
#include "compile/source/source_wrap.h"

using namespace pycuda::compile_detail;
using testing::ElementsAre;

TEST(SourceText, CommentsAndStringsAreBlanked) {
    EXPECT_EQ(blank_comments_and_strings("a/*{*/b\"{\"c'{'d//{\ne"), "a     b\" \"c' 'd   \ne");
    EXPECT_EQ(blank_comments_and_strings("\"a\\\"{\" x"), "\"    \" x");
    EXPECT_EQ(blank_comments_and_strings("1'000'000 {"), "1'000'000 {");
    EXPECT_EQ(blank_comments_and_strings("R\"x(a)\" {)x\" b"), "R\"         \" b");
    EXPECT_EQ(blank_comments_and_strings("// a \\\n {\nb"), "      \n  \nb");
    EXPECT_EQ(blank_comments_and_strings("/* never closed"), std::string(15, ' '));
}

TEST(SourceText, FindsIncludes) {
    const std::string source = "#include <a.h>\n  #  include \"b/c.h\" // x\n// #include <no.h>\n"
                               "#include MACRO\n#if __has_include(<d.h>)\n\"#include <no.h>\"\n";
    std::vector<std::string> found;
    for (const IncludeDirective &i : find_includes(source, blank_comments_and_strings(source)))
        found.push_back((i.only_asks ? "?" : "") + i.name);
    EXPECT_THAT(found, ElementsAre("a.h", "b/c.h", "", "?d.h"));
}

TEST(SourceWrap, KeepsLineNumbers) {
    EXPECT_EQ(wrap_in_extern_c("int x;\n", "k.cu", [](const auto &) { return true; }),
              "extern \"C\" {\n#line 1 \"k.cu\"\nint x;\n\n}\n");
}

TEST(SourceWrap, WrapsIncludesInExternCpp) {
    EXPECT_EQ(
        wrap_in_extern_c("\n#include <a.h>\nint x;", "k.cu", [](const auto &) { return true; }),
        "extern \"C\" {\n#line 1 \"k.cu\"\n\nextern \"C++\" {\n#line 2 \"k.cu\"\n"
        "#include <a.h>\n}\n#line 3 \"k.cu\"\nint x;\n}\n");
}

TEST(SourceWrap, DoesNotChangeIncludesInBraces) {
    const std::string source = "float t[] = {\n#include \"table.inc\"\n};\n";
    EXPECT_EQ(wrap_in_extern_c(source, "k.cu", [](const auto &) { return true; }),
              "extern \"C\" {\n#line 1 \"k.cu\"\n" + source + "\n}\n");
}

TEST(SourceWrap, KeepsLeadingDirectivesAtTheStart) {
    const auto angled = [](const IncludeDirective &include) {
        return include.form == IncludeDirective::Form::Angled;
    };
    const std::string first = "// note\n#define N 1\n#include <a.h>\n\n#include <b.h> // too\n";
    const std::string source = first + "int x;\n#include <c.h>\n";
    EXPECT_EQ(leading_directives(source, angled), first.size());
    EXPECT_EQ(leading_directives("int x;\n#include <a.h>\n", angled), 0u);
    EXPECT_EQ(leading_directives("#if N\n#include <a.h>\n#endif\n", angled), 0u);
    EXPECT_EQ(leading_directives("#include <a.h>\n#include \"b.h\"\n", angled), 15u);
    EXPECT_EQ(wrap_in_extern_c(source, "k.cu", angled, first.size()),
              first +
                  "extern \"C\" {\n#line 6 \"k.cu\"\nint x;\nextern \"C++\" {\n#line 7 \"k.cu\"\n"
                  "#include <c.h>\n}\n#line 8 \"k.cu\"\n\n}\n");
    EXPECT_EQ(name_source(source, "k.cu", first.size()),
              first + "#line 6 \"k.cu\"\nint x;\n#include <c.h>\n");
}

TEST(Sha256, AgreesWithTheStandard) {
    EXPECT_EQ(to_hex(sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(to_hex(sha256("abc")),
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(StructAttributes, MoveToTheFront) {
    EXPECT_EQ(move_struct_attributes("typedef struct S { int a; } __align__(32) T;"),
              "typedef struct __align__(32) S { int a; }               T;");
    EXPECT_EQ(move_struct_attributes("union { int a; }\n__attribute__((aligned(8)))\nx;"),
              "union __attribute__((aligned(8))) { int a; }\n                           \nx;");
    EXPECT_EQ(move_struct_attributes("struct A { struct B { int b; } M(4) b; } M(8) a;"),
              "struct M(8) A { struct M(4) B { int b; }      b; }      a;");
}

TEST(StructAttributes, OtherTextIsNotChanged) {
    for (const char *text : {"struct S { int a; } f(int);", "struct S { int a; }; int g(3);",
                             "void f() { struct S s; if (x) { } while (y) z(); }",
                             "struct S { }; // } __align__(8) x;", "struct S : T { } a;",
                             "enum { A } __attribute__((packed)) e; struct S;"})
        EXPECT_EQ(move_struct_attributes(text), std::nullopt) << text;
}
