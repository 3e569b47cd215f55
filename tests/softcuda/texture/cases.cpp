// cases.cpp -- the cases to compare with a GPU: geometries, formats, filters, address modes,
// surfaces.
#include "probe.h"

namespace probe {
namespace {

constexpr unsigned kNormalized = CU_TRSF_NORMALIZED_COORDINATES;

struct Address {
    const char *name;
    CUaddress_mode mode;
    unsigned flags;
};

constexpr Address kAddresses[] = {
    {"clamp", CU_TR_ADDRESS_MODE_CLAMP, 0},
    {"border", CU_TR_ADDRESS_MODE_BORDER, 0},
    {"clamp.norm", CU_TR_ADDRESS_MODE_CLAMP, kNormalized},
    {"border.norm", CU_TR_ADDRESS_MODE_BORDER, kNormalized},
    {"wrap.norm", CU_TR_ADDRESS_MODE_WRAP, kNormalized},
    {"mirror.norm", CU_TR_ADDRESS_MODE_MIRROR, kNormalized},
};

struct Geometry {
    const char *name;
    std::array<unsigned, 3> extent;
    unsigned flags;
    const char *coordinates;
};

constexpr Geometry kGeometries[] = {
    {"1d", {13, 0, 0}, 0, "{%f0}"},
    {"2d", {13, 7, 0}, 0, "{%f0,%f1}"},
    {"3d", {5, 4, 3}, 0, "{%f0,%f1,%f2,%f2}"},
    {"a1d", {13, 0, 4}, CUDA_ARRAY3D_LAYERED, "{%r3,%f0}"},
    {"a2d", {6, 5, 4}, CUDA_ARRAY3D_LAYERED, "{%r3,%f0,%f1,%f1}"},
    {"cube", {6, 6, 6}, CUDA_ARRAY3D_CUBEMAP, "{%f0,%f1,%f2,%f2}"},
    {"acube", {4, 4, 12}, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, "{%r3,%f0,%f1,%f2}"},
};

std::string fetch(const Geometry &geometry, const char *types = "f32.f32") {
    return std::string("tex.") + geometry.name + ".v4." + types + " {%o0,%o1,%o2,%o3}, [%h, " +
           geometry.coordinates + "];";
}

/// The middle of the points' range, as PTX.
const char *middle(unsigned flags) { return flags & kNormalized ? "0f3F000000" : "0f40400000"; }

void add_filters(std::vector<Case> &cases, const Geometry &geometry) {
    for (const Address &address : kAddresses) {
        for (const bool linear : {false, true}) {
            Case c;
            c.name =
                std::string(geometry.name) + "." + address.name + (linear ? ".linear" : ".point");
            c.extent = geometry.extent;
            c.array_flags = geometry.flags;
            c.address = address.mode;
            c.flags = address.flags;
            c.filter = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
            if (geometry.flags & CUDA_ARRAY3D_CUBEMAP) // directions to all faces
                c.code = std::string("sub.f32 %f0, %f0, ") + middle(c.flags) +
                         "; sub.f32 %f1, %f1, " + middle(c.flags) + "; sub.f32 %f2, %f2, " +
                         middle(c.flags) + ";";
            c.code += fetch(geometry);
            cases.push_back(c);
        }
    }
}

struct Format {
    const char *name;
    CUarray_format format;
    unsigned channels;
};

constexpr Format kFormats[] = {
    {"u8x1", CU_AD_FORMAT_UNSIGNED_INT8, 1}, {"u8x4", CU_AD_FORMAT_UNSIGNED_INT8, 4},
    {"s8x2", CU_AD_FORMAT_SIGNED_INT8, 2},   {"u16x2", CU_AD_FORMAT_UNSIGNED_INT16, 2},
    {"s16x4", CU_AD_FORMAT_SIGNED_INT16, 4}, {"f16x2", CU_AD_FORMAT_HALF, 2},
    {"f32x4", CU_AD_FORMAT_FLOAT, 4},
};

/// Formats that are read as floats, with and without filters, and as integers.
void add_formats(std::vector<Case> &cases) {
    for (const Format &format : kFormats) {
        for (const bool linear : {false, true}) {
            Case c;
            c.name = std::string("format.") + format.name + (linear ? ".linear" : ".point");
            c.format = format.format;
            c.channels = format.channels;
            c.extent = {9, 7, 0};
            c.address = CU_TR_ADDRESS_MODE_BORDER;
            c.filter = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
            c.code = fetch(kGeometries[1]);
            cases.push_back(c);
        }
        if (format.format == CU_AD_FORMAT_HALF || format.format == CU_AD_FORMAT_FLOAT)
            continue;
        Case c;
        c.name = std::string("format.") + format.name + ".integer";
        c.format = format.format;
        c.channels = format.channels;
        c.extent = {9, 7, 0};
        c.address = CU_TR_ADDRESS_MODE_BORDER;
        c.flags = CU_TRSF_READ_AS_INTEGER;
        const bool is_signed =
            format.format == CU_AD_FORMAT_SIGNED_INT8 || format.format == CU_AD_FORMAT_SIGNED_INT16;
        c.code = fetch(kGeometries[1], is_signed ? "s32.f32" : "u32.f32");
        cases.push_back(c);
    }
    Case integers;
    integers.name = "format.u32x2.integer";
    integers.format = CU_AD_FORMAT_UNSIGNED_INT32;
    integers.channels = 2;
    integers.extent = {9, 7, 0};
    integers.code = fetch(kGeometries[1], "u32.s32");
    integers.code = "tex.2d.v4.u32.s32 {%o0,%o1,%o2,%o3}, [%h, {%r0,%r1}];";
    cases.push_back(integers);
    Case srgb;
    srgb.format = CU_AD_FORMAT_UNSIGNED_INT8;
    srgb.channels = 4;
    srgb.extent = {9, 7, 0};
    srgb.flags = CU_TRSF_SRGB;
    srgb.code = fetch(kGeometries[1]);
    srgb.name = "format.srgb.point";
    cases.push_back(srgb);
    srgb.filter = CU_TR_FILTER_MODE_LINEAR;
    srgb.name = "format.srgb.linear";
    cases.push_back(srgb);
}

constexpr Format kIntegers[] = {
    {"u8x4", CU_AD_FORMAT_UNSIGNED_INT8, 4},   {"s8x2", CU_AD_FORMAT_SIGNED_INT8, 2},
    {"u16x2", CU_AD_FORMAT_UNSIGNED_INT16, 2}, {"s16x4", CU_AD_FORMAT_SIGNED_INT16, 4},
    {"u32x2", CU_AD_FORMAT_UNSIGNED_INT32, 2}, {"s32x4", CU_AD_FORMAT_SIGNED_INT32, 4},
};

/// Linear filters of integers that are read as integers.
void add_integer_filters(std::vector<Case> &cases) {
    for (const Format &format : kIntegers) {
        for (const bool small : {false, true}) {
            Case c;
            c.format = format.format;
            c.channels = format.channels;
            c.extent = {9, 7, 0};
            c.filter = CU_TR_FILTER_MODE_LINEAR;
            c.flags = CU_TRSF_READ_AS_INTEGER;
            c.small_values = small;
            c.name = std::string("filter.") + format.name + (small ? ".small" : "");
            c.code = fetch(kGeometries[1], format.name[0] == 's' ? "s32.f32" : "u32.f32");
            cases.push_back(c);
        }
        Case c = cases.back();
        c.name = std::string("filter.") + format.name + ".1d.border";
        c.extent = {40, 0, 0};
        c.small_values = false;
        c.address = CU_TR_ADDRESS_MODE_BORDER;
        c.code = fetch(kGeometries[0], format.name[0] == 's' ? "s32.f32" : "u32.f32");
        cases.push_back(c);
    }
}

/// Texels of 0 and 1, for which the results are the weights.
void add_weights(std::vector<Case> &cases) {
    for (const unsigned axes : {1U, 2U, 3U}) {
        Case c;
        const Geometry &geometry = kGeometries[axes - 1];
        c.name = std::string("weights.") + geometry.name;
        c.extent = geometry.extent;
        c.filter = CU_TR_FILTER_MODE_LINEAR;
        c.small_values = true;
        c.code = fetch(geometry);
        cases.push_back(c);
        c.name += ".norm";
        c.flags = kNormalized;
        cases.push_back(c);
    }
}

void add_memory(std::vector<Case> &cases) {
    Case linear;
    linear.name = "linear.f32";
    linear.resource = Case::Resource::Linear;
    linear.extent = {40, 0, 0};
    linear.code = "tex.1d.v4.f32.s32 {%o0,%o1,%o2,%o3}, [%h, {%r0}];";
    cases.push_back(linear);
    linear.name = "linear.u8x4";
    linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
    linear.channels = 4;
    cases.push_back(linear);
    Case pitch;
    pitch.name = "pitch.f32x2";
    pitch.resource = Case::Resource::Pitch;
    pitch.channels = 2;
    pitch.extent = {17, 6, 0};
    pitch.filter = CU_TR_FILTER_MODE_LINEAR;
    pitch.code = fetch(kGeometries[1]);
    cases.push_back(pitch);
    pitch.name = "pitch.f32x2.wrap";
    pitch.flags = kNormalized;
    pitch.address = CU_TR_ADDRESS_MODE_WRAP;
    cases.push_back(pitch);
}

void add_gathers(std::vector<Case> &cases) {
    for (const char *component : {"r", "g", "b", "a"}) {
        Case c;
        c.name = std::string("tld4.") + component;
        c.channels = 4;
        c.extent = {9, 7, 0};
        c.array_flags = CUDA_ARRAY3D_TEXTURE_GATHER;
        c.code =
            std::string("tld4.") + component + ".2d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%h, {%f0,%f1}];";
        cases.push_back(c);
        c.name += ".norm";
        c.flags = kNormalized;
        c.address = CU_TR_ADDRESS_MODE_WRAP;
        cases.push_back(c);
    }
}

void add_levels(std::vector<Case> &cases) {
    for (const bool linear : {false, true}) {
        for (const bool mip_linear : {false, true}) {
            Case c;
            c.name = std::string("level.") + (linear ? "linear" : "point") +
                     (mip_linear ? ".linear" : ".point");
            c.resource = Case::Resource::Mipmap;
            c.extent = {16, 8, 0};
            c.flags = kNormalized;
            c.filter = linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
            c.mip_filter = mip_linear ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
            c.mip_most = 2;
            c.code = "tex.level.2d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%h, {%f0,%f1}], %f3;";
            cases.push_back(c);
        }
    }
    Case c = cases.back();
    c.name = "level.bias";
    c.mip_bias = 0.5F;
    c.mip_least = 0.25F;
    c.mip_most = 1.5F;
    cases.push_back(c);
    c.mip_bias = c.mip_least = 0;
    c.mip_most = 2;
    c.name = "base";
    c.code = fetch(kGeometries[1]);
    cases.push_back(c);
    c.name = "weights.level";
    c.small_values = true;
    c.filter = CU_TR_FILTER_MODE_POINT;
    c.code = "tex.level.2d.v4.f32.f32 {%o0,%o1,%o2,%o3}, [%h, {%f0,%f1}], %f3;";
    cases.push_back(c);
}

void add_queries(std::vector<Case> &cases) {
    Case c;
    c.name = "txq";
    c.channels = 2;
    c.extent = {5, 4, 3};
    c.code = "txq.width.b32 %o0, [%h]; txq.height.b32 %o1, [%h]; txq.depth.b32 %o2, [%h];";
    cases.push_back(c);
    c.name = "suq";
    c.surface = true;
    c.array_flags = CUDA_ARRAY3D_SURFACE_LDST;
    c.code = "suq.width.b32 %o0, [%h]; suq.height.b32 %o1, [%h]; suq.depth.b32 %o2, [%h];";
    cases.push_back(c);
}

Case surface(const char *name, std::array<unsigned, 3> extent, unsigned channels,
             const std::string &code, unsigned flags = 0) {
    Case c;
    c.name = name;
    c.surface = true;
    c.format = CU_AD_FORMAT_UNSIGNED_INT32;
    c.channels = channels;
    c.extent = extent;
    c.array_flags = CUDA_ARRAY3D_SURFACE_LDST | flags;
    c.code = code;
    return c;
}

void add_surfaces(std::vector<Case> &cases) {
    const std::string x = "shl.b32 %r0, %r0, 2;", wide = "shl.b32 %r0, %r0, 3;";
    cases.push_back(
        surface("suld.1d.zero", {13, 0, 0}, 1, x + "suld.b.1d.b32.zero %o0, [%h, {%r0}];"));
    cases.push_back(
        surface("suld.2d.zero", {13, 7, 0}, 1, x + "suld.b.2d.b32.zero %o0, [%h, {%r0,%r1}];"));
    cases.push_back(surface("suld.2d.clamp", {13, 7, 0}, 2,
                            wide + "suld.b.2d.v2.b32.clamp {%o0,%o1}, [%h, {%r0,%r1}];"));
    cases.push_back(surface("suld.3d.clamp", {5, 4, 3}, 1,
                            x + "suld.b.3d.b32.clamp %o0, [%h, {%r0,%r1,%r2,%r2}];"));
    cases.push_back(surface("suld.a2d.zero", {5, 4, 3}, 1,
                            x + "suld.b.a2d.b32.zero %o0, [%h, {%r3,%r0,%r1,%r1}];",
                            CUDA_ARRAY3D_LAYERED));
    cases.push_back(surface("suld.b8", {13, 7, 0}, 1,
                            "suld.b.2d.b8.zero %w0, [%h, {%r0,%r1}]; cvt.u32.u16 %o0, %w0;"));
    cases.push_back(surface("suld.b64", {13, 7, 0}, 2,
                            wide + "suld.b.2d.b64.zero %d1, [%h, {%r0,%r1}];"
                                   "mov.b64 {%o0,%o1}, %d1;"));
    // Each point writes to its own element, and some points write outside the surface.
    Case store = surface("sust.2d.zero", {24, 6, 0}, 1,
                         "rem.u32 %i1, %i0, 26; div.u32 %i2, %i0, 26; shl.b32 %i3, %i1, 2;"
                         "add.u32 %i0, %i0, 1000;"
                         "sust.b.2d.b32.zero [%h, {%i3,%i2}], %i0;");
    store.show_array = true;
    cases.push_back(store);
    store.name = "sust.2d.clamp";
    store.code = "setp.gt.u32 %p1, %i0, 25;"
                 "shl.b32 %i3, %i0, 2; mov.b32 %i2, 3; @%p1 mov.b32 %i3, 0; @%p1 mov.b32 %i2, 9;"
                 "min.u32 %i1, %i0, 23;"
                 "@%p1 mov.b32 %i1, 77; sust.b.2d.b32.clamp [%h, {%i3,%i2}], %i1;";
    cases.push_back(store);
    Case reduce = surface("sured.2d.add", {24, 6, 0}, 1,
                          "rem.u32 %i1, %i0, 5; shl.b32 %i3, %i1, 2; mov.b32 %i2, 2;"
                          "sured.b.add.2d.u32.clamp [%h, {%i3,%i2}], %i0;");
    reduce.show_array = true;
    cases.push_back(reduce);
    reduce.name = "sured.2d.min";
    reduce.code = "rem.u32 %i1, %i0, 5; shl.b32 %i3, %i1, 2; mov.b32 %i2, 2;"
                  "sured.b.min.2d.s32.clamp [%h, {%i3,%i2}], %i0;";
    cases.push_back(reduce);
}

struct Tolerance {
    const char *name;
    float value;
};

/// Cases in which softcuda's results differ from a GPU's in the last bits.
constexpr Tolerance kTolerances[] = {
    // One of 96 points uses a weight that differs by 1/256, for texels from -10 to 10.
    {"2d.mirror.norm.linear", 0.1F},
    {"3d.mirror.norm.linear", 0.1F},
    {"a2d.mirror.norm.linear", 0.1F},
    {"level.bias", 0.1F},
    // A difference of 1/32767.
    {"format.s8x2.linear", 4e-5F},
    // A GPU's table for sRGB has about 8 bits.
    {"format.srgb.point", 0.004F},
    {"format.srgb.linear", 0.006F},
};

} // namespace

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const Geometry &geometry : kGeometries)
        add_filters(cases, geometry);
    add_formats(cases);
    add_integer_filters(cases);
    add_weights(cases);
    add_memory(cases);
    add_gathers(cases);
    add_levels(cases);
    add_queries(cases);
    add_surfaces(cases);
    for (Case &c : cases)
        for (const Tolerance &row : kTolerances)
            if (c.name == row.name)
                c.tolerance = row.value;
    return cases;
}

} // namespace probe
