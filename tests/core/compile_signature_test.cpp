// compile_signature_test.cpp -- the parameters of kernels, from PTX and from source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pycuda/kernel_signature.h"

using namespace pycuda;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::string kind_name(ValueKind kind) {
    constexpr const char *names[] = {"?",     "pointer",  "signed", "unsigned",
                                     "float", "bfloat16", "bytes"};
    return names[static_cast<int>(kind)];
}

/// "float 4", "pointer to float 4".
std::string summary(const ParameterDescription &parameter) {
    if (parameter.kind == ValueKind::Pointer)
        return "pointer to " + kind_name(parameter.element_kind) + " " +
               std::to_string(parameter.element_size);
    return kind_name(parameter.kind) + " " + std::to_string(parameter.size);
}

std::vector<std::string> summaries(const std::string &source) {
    std::vector<DeclaredKernel> kernels = read_declared_kernels(source);
    std::vector<std::string> texts;
    if (kernels.size() != 1)
        return {std::to_string(kernels.size()) + " kernels"};
    for (const ParameterDescription &parameter : kernels[0].parameters)
        texts.push_back(summary(parameter));
    return texts;
}

std::vector<std::string> with_parameters(const std::string &list) {
    return summaries("__global__ void f(" + list + ") {}");
}

} // namespace

TEST(PtxEntries, OffsetsAndSizes) {
    std::vector<PtxEntry> entries = read_ptx_entries(R"(
.version 9.0
.target sm_86
.address_size 64
.func (.param .b32 r) helper(.param .b64 p) { ret; }
.visible .entry scale(
	.param .u64 .ptr .align 1 scale_param_0, // .entry no(
	.param .u8 scale_param_1,
	.param .align 16 .b8 scale_param_2[24],
	.param .f32 scale_param_3
)
.maxntid 256, 1, 1
{ ret; }
.weak .entry nothing()
{ ret; }
.entry bare { ret; }
)");
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0].name, "scale");
    std::vector<std::string> places;
    for (const Parameter &p : entries[0].parameters)
        places.push_back(std::to_string(p.offset) + "+" + std::to_string(p.size) +
                         (p.kind == ValueKind::Pointer ? "*" : ""));
    EXPECT_THAT(places, ElementsAre("0+8*", "8+1", "16+24", "40+4"));
    EXPECT_EQ(entries[1].name, "nothing");
    EXPECT_THAT(entries[1].parameters, IsEmpty());
    EXPECT_EQ(entries[2].name, "bare");
}

TEST(PtxEntries, OtherTextsHaveNone) {
    EXPECT_THAT(read_ptx_entries(""), IsEmpty());
    EXPECT_THAT(read_ptx_entries("\x7f"
                                 "ELF .ent"),
                IsEmpty());
    EXPECT_EQ(read_ptx_entries(".entry cut(.param .u64").size(), 1u); // and no endless loop
}

TEST(DeclaredKernels, ScalarsAndPointers) {
    EXPECT_THAT(with_parameters("float *a, const double* __restrict__ b, int n, unsigned m"),
                ElementsAre("pointer to float 4", "pointer to float 8", "signed 4", "unsigned 4"));
    EXPECT_THAT(with_parameters("unsigned long long x, long unsigned int y, size_t z, bool b"),
                ElementsAre("unsigned 8", "unsigned 8", "unsigned 8", "unsigned 1"));
    EXPECT_THAT(
        with_parameters("const volatile int8_t a[], short int, float **p, void *q"),
        ElementsAre("pointer to signed 1", "signed 2", "pointer to pointer 8", "pointer to ? 0"));
    EXPECT_THAT(with_parameters("float4 v, double3 w, __half h, pycuda::complex<float> *c"),
                ElementsAre("bytes 16", "bytes 24", "float 2", "pointer to bytes 8"));
    EXPECT_THAT(with_parameters("void"), IsEmpty());
    EXPECT_THAT(with_parameters(""), IsEmpty());
}

TEST(DeclaredKernels, TypeTextIsForPeople) {
    DeclaredKernel kernel =
        read_declared_kernels("__global__ void f(const  float\n*a, std::uint32_t n);").at(0);
    EXPECT_EQ(kernel.parameters.at(0).type, "const float *");
    EXPECT_EQ(kernel.parameters.at(1).type, "std::uint32_t");
    EXPECT_EQ(summary(kernel.parameters[1]), "unsigned 4");
}

TEST(DeclaredKernels, AnyOrderOfSpecifiers) {
    for (const char *head :
         {"extern \"C\" __global__ void", "void __global__", "static __global__ void",
          "__global__ void __launch_bounds__(256, 4)", "__global__ __launch_bounds__(N) void",
          "/* __global__ void g(int) */ __global__ void", "[[maybe_unused]] __global__ void"})
        EXPECT_THAT(summaries(std::string(head) + " f(float *a) {}"),
                    ElementsAre("pointer to float 4"))
            << head;
}

TEST(DeclaredKernels, SimpleAliasesAreFollowed) {
    EXPECT_THAT(summaries("typedef float real;\n__global__ void f(real *a, real b) {}"),
                ElementsAre("pointer to float 4", "float 4"));
    EXPECT_THAT(summaries("using real = double;\n__global__ void f(real *a) {}"),
                ElementsAre("pointer to float 8"));
    EXPECT_THAT(summaries("#define real double\n__global__ void f(real *a) {}"),
                ElementsAre("pointer to float 8"));
    EXPECT_THAT(summaries("#define ARGS float *a\n__global__ void f(ARGS, int n) {}"),
                testing::Contains("signed 4"));
}

TEST(DeclaredKernels, EnumsAreTheirIntegers) {
    EXPECT_THAT(summaries("enum Color { RED, BLUE };\nenum class Small : unsigned char { A };\n"
                          "__global__ void f(Color a, enum Color b, Small c, Color *d) {}"),
                ElementsAre("signed 4", "signed 4", "unsigned 1", "pointer to signed 4"));
    EXPECT_THAT(summaries("enum { A };\nenum E : Mine { B };\n__global__ void f(E a) {}"),
                ElementsAre("? 0"));
}

TEST(DeclaredKernels, UndeterminedParametersAreUnknown) {
    EXPECT_THAT(summaries("#if D\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
                          "__global__ void f(real *a, real b, int n) {}"),
                ElementsAre("? 0", "? 0", "signed 4"));
    EXPECT_THAT(summaries("template <class T> __global__ void f(T *a, T b, int n) {}"),
                ElementsAre("? 0", "? 0", "signed 4"));
    EXPECT_THAT(with_parameters("MyStruct s, Other *p"), ElementsAre("? 0", "pointer to ? 0"));
    EXPECT_THAT(summaries("#if D\n__global__ void f(double *a, int n) {}\n#else\n"
                          "__global__ void f(float *a, int n) {}\n#endif"),
                ElementsAre("pointer to ? 0", "signed 4"));
    EXPECT_THAT(read_declared_kernels("__global__ void f(int); __global__ void f(int, int);"),
                IsEmpty());
}

TEST(DeclaredKernels, NonsenseIsNoError) {
    for (const char *source :
         {"__global__", "__global__ void", "__global__ void f(", "__global__ (",
          "__global__ void f(,,)", "((((", "\"", "__global__ }{ f(int)"})
        EXPECT_NO_THROW((void)read_declared_kernels(source)) << source;
}

TEST(PlainName, OfMangledNames) {
    EXPECT_EQ(plain_name("scale"), "scale");
    EXPECT_EQ(plain_name("_Z5scalePfi"), "scale");
    EXPECT_EQ(plain_name("_ZN3lib5scaleIfEEvPT_"), "scale");
    EXPECT_EQ(plain_name("_Z999x"), "_Z999x");
    EXPECT_EQ(plain_name("_Z"), "_Z");
}

TEST(ReadableName, OfMangledNames) {
    EXPECT_EQ(readable_name("scale"), "scale");
    EXPECT_EQ(readable_name("_Z5scalePfi"), "scale");
    EXPECT_EQ(readable_name("_ZN3lib5scaleIfLi4EEEvPT_"), "lib::scale<float, 4>");
    EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_11fEi"), "(anonymous namespace)::f");
    EXPECT_EQ(readable_name("_Z999x"), "_Z999x");
}

TEST(LinkerName, ShowsParametersOfTemplates) {
    // template <class T> f(T *, const T *, T, unsigned long, int4, T (*)(T)) with T = float
    const auto told = read_linker_name("_Z1fIfEvPT_PKS0_S0_m4int4PFS0_S0_E");
    ASSERT_EQ(told.size(), 6u);
    EXPECT_EQ(told[0].kind, ValueKind::Pointer);
    EXPECT_EQ(told[0].element_size, 4);
    EXPECT_EQ(told[1].element_kind, ValueKind::Float);
    EXPECT_EQ(told[2].kind, ValueKind::Float);
    EXPECT_EQ(told[2].type, "float");
    EXPECT_EQ(told[3].kind, ValueKind::Unsigned);
    EXPECT_EQ(told[3].size, 8u);
    EXPECT_EQ(told[4].type, "int4");
    EXPECT_TRUE(read_linker_name("f").empty());
    EXPECT_TRUE(read_linker_name("_Z1fv").empty());
}
