"""Textures and surfaces: references that a source declares, and objects as kernel arguments."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule, compile


@pytest.fixture
def texture_module(able):
    """SourceModule, for sources with textures that the driver may not support."""
    return lambda source, **how: able("textures", lambda: SourceModule(source, **how))


IMAGE = np.arange(12, dtype=np.float32).reshape(3, 4)

READ = """
texture<float, 2> image; /* texture<int> not_this_one; */
__global__ void read(float *out)
{
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    out[i] = tex2D(image, threadIdx.x, threadIdx.y);
}
"""


def read_all(module, reference, shape=(3, 4)):
    out = np.zeros(shape, np.float32)
    module.get_function("read")(
        cuda.Out(out), block=(shape[1], shape[0], 1), texrefs=[reference]
    )
    return out


def test_a_matrix_through_a_reference(texture_module):
    module = texture_module(READ)
    reference = module.get_texref("image")
    cuda.matrix_to_texref(IMAGE, reference, order="C")
    assert (read_all(module, reference) == IMAGE).all()
    assert reference.get_address_mode(0) is cuda.address_mode.CLAMP
    assert reference.get_filter_mode() is cuda.filter_mode.POINT
    assert reference.get_format() == (cuda.array_format.FLOAT, 1)
    assert isinstance(reference.get_array(), cuda.Array)

    cuda.bind_array_to_texref(cuda.matrix_to_array(IMAGE.T.copy(), "F"), reference)
    assert (read_all(module, reference) == IMAGE).all()


def test_filter_and_flags(texture_module):
    module = texture_module("""
        texture<float, 2> image;
        __global__ void read(float *out) { *out = tex2D(image, 0.5f, 0.5f); }
    """)
    reference = module.get_texref("image")
    reference.set_array(cuda.matrix_to_array(np.array([[1, 3], [5, 7]], "f4"), "C"))
    read = module.get_function("read")
    out = np.zeros(1, np.float32)
    read(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 1
    reference.set_filter_mode(cuda.filter_mode.LINEAR)
    reference.set_flags(cuda.TRSF_NORMALIZED_COORDINATES)
    read(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 4  # the middle of all four
    assert reference.get_flags() == cuda.TRSF_NORMALIZED_COORDINATES
    reference.set_address_mode(0, cuda.address_mode.WRAP)
    with pytest.raises(cuda.LogicError, match="expected 0, 1 or 2"):
        reference.set_address_mode(3, cuda.address_mode.WRAP)


def test_integers_and_normalised_bytes(texture_module):
    module = texture_module("""
        texture<unsigned char, 2> plain;
        static texture<unsigned char, 2, cudaReadModeNormalizedFloat> shares;
        __global__ void read(int *number, float *share)
        {
            number[threadIdx.x] = tex2D(plain, threadIdx.x, 0);
            share[threadIdx.x] = tex2D(shares, threadIdx.x, 0);
        }
    """)
    data = np.array([[0, 51, 255]], np.uint8)
    array = cuda.matrix_to_array(data, "C")
    for name in ("plain", "shares"):
        module.get_texref(name).set_array(array)
    number, share = np.zeros(3, np.int32), np.zeros(3, np.float32)
    module.get_function("read")(cuda.Out(number), cuda.Out(share), block=(3, 1, 1))
    assert number.tolist() == [0, 51, 255]
    np.testing.assert_allclose(share, [0, 0.2, 1], rtol=1e-6)


def test_linear_memory(texture_module):
    module = texture_module("""
        texture<float, 1> values;
        __global__ void read(float *out, int offset)
        { out[threadIdx.x] = tex1Dfetch(values, threadIdx.x + offset); }
    """)
    a = np.arange(256, dtype=np.float32)
    memory = cuda.to_device(a)
    reference = module.get_texref("values")
    assert reference.set_address(memory, a.nbytes) == 0
    assert reference.get_address() == int(memory)
    read, out = module.get_function("read"), np.zeros(100, np.float32)
    read(cuda.Out(out), 0, block=(100, 1, 1))
    assert (out == a[:100]).all()

    inside = int(memory) + 16
    with pytest.raises(cuda.LogicError, match="allow_offset"):
        reference.set_address(inside, 400)
    offset = reference.set_address(inside, 400, allow_offset=True)
    assert offset == 16
    read(cuda.Out(out), offset // 4, block=(100, 1, 1))
    assert (out == a[4:104]).all()


def test_pitched_memory(texture_module):
    module = texture_module(READ)
    memory, pitch = cuda.mem_alloc_pitch(16, 3, 4)
    copy = cuda.Memcpy2D()
    copy.set_src_host(IMAGE)
    copy.set_dst_device(memory)
    copy.width_in_bytes = copy.src_pitch = 16
    copy.dst_pitch, copy.height = pitch, 3
    copy(aligned=True)
    d = cuda.ArrayDescriptor()
    d.width, d.height, d.num_channels = 4, 3, 1
    d.format = cuda.array_format.FLOAT
    reference = module.get_texref("image")
    reference.set_address_2d(memory, d, pitch)
    assert (read_all(module, reference) == IMAGE).all()


def test_three_dimensions_and_channels(texture_module):
    module = texture_module("""
        texture<float, 3> box;
        texture<float4, 2> colours;
        __global__ void read(float *out, float *sums)
        {
            int i = threadIdx.x;
            out[i] = tex3D(box, i % 4, i / 4 % 3, i / 12);
            float4 c = tex2D(colours, i % 2, i / 2 % 2);
            sums[i] = c.x + 10 * c.y + 100 * c.z + 1000 * c.w;
        }
    """)
    box = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    colours = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
    module.get_texref("box").set_array(cuda.np_to_array(box, "C"))
    module.get_texref("colours").set_array(
        cuda.make_multichannel_2d_array(colours, "C")
    )
    out, sums = np.zeros(24, np.float32), np.zeros(24, np.float32)
    module.get_function("read")(cuda.Out(out), cuda.Out(sums), block=(24, 1, 1))
    assert (out == box.ravel()).all()
    assert (sums[:4] == colours.reshape(4, 4) @ [1, 10, 100, 1000]).all()


def test_numbers_of_double_width(texture_module):
    module = texture_module("""
        #include <pycuda-helpers.hpp>
        texture<fp_tex_double, 1> reals;
        texture<fp_tex_cfloat, 1> pairs;
        texture<fp_tex_double, 2> matrix;
        __global__ void read(double *x, pycuda::complex<float> *z, double *m)
        {
            int i = threadIdx.x;
            x[i] = fp_tex1Dfetch(reals, i);
            z[i] = fp_tex1Dfetch(pairs, i);
            m[i] = fp_tex2D(matrix, i % 2, i / 2);
        }
    """)
    reals = np.array([1.5, -np.pi, 1e300, 0], np.float64)
    pairs = np.array([1 + 2j, -3j, 4, 5e10j], np.complex64)
    memory = [cuda.to_device(reals), cuda.to_device(pairs)]
    module.get_texref("reals").set_address(memory[0], reals.nbytes)
    module.get_texref("pairs").set_address(memory[1], pairs.nbytes)
    module.get_texref("matrix").set_array(
        cuda.matrix_to_array(reals.reshape(2, 2), "C", allow_double_hack=True)
    )
    x, z, m = np.zeros(4), np.zeros(4, np.complex64), np.zeros(4)
    module.get_function("read")(cuda.Out(x), cuda.Out(z), cuda.Out(m), block=(4, 1, 1))
    assert (x == reals).all() and (z == pairs).all() and (m == reals).all()


def test_volumes_of_double_width(texture_module):
    """fp_tex3D, fp_tex2DLayered and the fp_surf functions: x counts elements."""
    module = texture_module("""
        #include <pycuda-helpers.hpp>
        PYCUDA_GENERATE_FP_TEX_FUNCS(long)
        texture<fp_tex_double, 3> volume;
        texture<fp_tex_float, 3> single;
        surface<void, cudaSurfaceType3D> cube;
        surface<void, cudaSurfaceType2DLayered> sheets;
        typedef pycuda::complex<double> Z;
        __global__ void read(double *doubles, float *floats)
        {
            int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, i = x + 3 * y + 6 * z;
            doubles[i] = fp_tex3D(volume, x, y, z);
            floats[i] = fp_tex3D(single, x, y, z);
        }
        __global__ void twice(Z *out, double *layer)
        {
            int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
            Z value;
            fp_surf3Dread(&value, cube, x, y, z);
            fp_surf3Dwrite(value + value, cube, x, y, z);
            fp_surf3Dread(out + (x + 3 * y + 6 * z), cube, x, y, z);
            if (z != 0) return;
            double number;
            fp_surf2DLayeredread(&number, sheets, x, y, 0);
            fp_surf2DLayeredwrite(number + 1, sheets, x, y, 0);
            fp_surf2DLayeredread(layer + (x + 3 * y), sheets, x, y, 0);
        }
    """)
    doubles = np.arange(24).reshape(4, 2, 3) * np.pi
    pairs = doubles + 1j / (1 + doubles)
    kept = [
        cuda.np_to_array(doubles, "C"),
        cuda.np_to_array(doubles.astype(np.float32), "C"),
        cuda.np_to_array(pairs, "C", allowSurfaceBind=True),
        cuda.np_to_array(doubles[0], "C", allowSurfaceBind=True),
    ]
    module.get_texref("volume").set_array(kept[0])
    module.get_texref("single").set_array(kept[1])
    module.get_surfref("cube").set_array(kept[2])
    module.get_surfref("sheets").set_array(kept[3])
    seen, single = np.zeros((4, 2, 3)), np.zeros((4, 2, 3), np.float32)
    module.get_function("read")(cuda.Out(seen), cuda.Out(single), block=(3, 2, 4))
    assert (seen == doubles).all() and (single == doubles.astype(np.float32)).all()
    out, layer = np.zeros((4, 2, 3), complex), np.zeros((2, 3))
    module.get_function("twice")(cuda.Out(out), cuda.Out(layer), block=(3, 2, 4))
    assert (out == 2 * pairs).all() and (layer == doubles[0] + 1).all()


def test_layers_of_double_width(texture_module):
    module = texture_module("""
        #include <pycuda-helpers.hpp>
        texture<fp_tex_cdouble, cudaTextureType2DLayered> layers;
        __global__ void read(pycuda::complex<double> *out)
        {
            int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
            out[x + 3 * y + 6 * z] = fp_tex2DLayered(layers, x, y, z);
        }
    """)
    pairs = np.arange(12).reshape(2, 2, 3) * (1.5 - 2j)
    d = cuda.ArrayDescriptor3D()
    d.width, d.height, d.depth, d.num_channels = 3, 2, 2, 4
    d.format = cuda.array_format.SIGNED_INT32
    d.flags = cuda.array3d_flags.ARRAY3D_LAYERED
    array, copy = cuda.Array(d), cuda.Memcpy3D()
    copy.set_src_host(pairs)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = 48
    copy.height = copy.src_height = copy.depth = 2
    copy()
    module.get_texref("layers").set_array(array)
    out = np.zeros_like(pairs)
    module.get_function("read")(cuda.Out(out), block=(3, 2, 2))
    assert (out == pairs).all()


def test_surface_reference(texture_module):
    module = texture_module("""
        surface<void, cudaSurfaceType2D> plane;
        __global__ void twice()
        {
            float x;
            surf2Dread(&x, plane, threadIdx.x * 4, threadIdx.y);
            surf2Dwrite(2 * x, plane, threadIdx.x * 4, threadIdx.y);
        }
    """)
    d = cuda.ArrayDescriptor3D()
    d.width, d.height, d.num_channels = 4, 3, 1
    d.format, d.flags = cuda.array_format.FLOAT, cuda.array3d_flags.SURFACE_LDST
    array = cuda.Array(d)
    copy = cuda.Memcpy2D()
    copy.set_src_host(IMAGE)
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = 16
    copy.height = 3
    copy(aligned=True)
    reference = module.get_surfref("plane")
    reference.set_array(array)
    assert reference.get_array() is array
    module.get_function("twice")(block=(4, 3, 1))
    back = np.zeros_like(IMAGE)
    copy.set_src_array(array)
    copy.set_dst_host(back)
    copy.dst_pitch = 16
    copy(aligned=True)
    assert (back == 2 * IMAGE).all()


def test_texture_and_surface_objects(texture_module):
    module = texture_module("""
        __global__ void read(cudaTextureObject_t image, float *out)
        { out[threadIdx.x] = tex2D<float>(image, threadIdx.x, 1); }
        __global__ void fetch(cudaTextureObject_t line, float *out)
        { out[threadIdx.x] = tex1Dfetch<float>(line, threadIdx.x); }
        __global__ void write(cudaSurfaceObject_t plane)
        { surf2Dwrite(7.0f, plane, threadIdx.x * 4, 0); }
    """)
    array = cuda.matrix_to_array(IMAGE, "C")
    texture = cuda.TextureObject(array, address_mode=cuda.address_mode.BORDER)
    out = np.full(6, -1, np.float32)
    module.get_function("read")(texture, cuda.Out(out), block=(6, 1, 1))
    assert out.tolist() == [4, 5, 6, 7, 0, 0]  # outside, the value is 0
    assert texture.handle == int(texture.__index__()) != 0

    line = cuda.TextureObject(cuda.to_device(IMAGE), size=IMAGE.nbytes)
    module.get_function("fetch")(line, cuda.Out(out), block=(6, 1, 1))
    assert out.tolist() == [0, 1, 2, 3, 4, 5]
    texture.close()
    line.close()

    d = array.get_descriptor_3d()
    d.flags = cuda.array3d_flags.SURFACE_LDST
    target = cuda.Array(d)
    with_surface = cuda.SurfaceObject(target)
    module.get_function("write")(with_surface, block=(4, 1, 1))
    again = cuda.TextureObject(target)
    module.get_function("read")(again, cuda.Out(out), block=(4, 1, 1))
    cuda.Context.synchronize()
    with pytest.raises(ValueError, match="size in bytes"):
        cuda.TextureObject(cuda.to_device(IMAGE))


def test_gradients_choose_the_level(texture_module):
    module = texture_module("""
        __global__ void read(cudaTextureObject_t image, float *out)
        {
            const float steps[] = {1, 2, 4, 8, 64};
            float step = steps[threadIdx.x];
            float2 across = make_float2(step / 16, 0), down = make_float2(0, step / 32);
            out[threadIdx.x] = tex2DGrad<float>(image, 0.3f, 0.6f, across, down);
            // As long a way, but down; the longer one counts.
            out[5 + threadIdx.x] = tex2DGrad<float>(
                image, 0.3f, 0.6f, make_float2(0, 0), make_float2(0, step / 8));
            out[10 + threadIdx.x] = tex2DLod<float>(image, 0.3f, 0.6f, threadIdx.x);
        }
    """)
    d = cuda.ArrayDescriptor3D()
    d.width, d.height, d.num_channels = 16, 8, 1
    d.format = cuda.array_format.FLOAT
    mipmap = cuda.MipmappedArray(d, 4)
    for number in range(4):
        level = mipmap.get_level(number)
        copy = cuda.Memcpy2D()
        values = np.full((8 >> number, 16 >> number), number * 10, np.float32)
        copy.set_src_host(values)
        copy.set_dst_array(level)
        copy.width_in_bytes = copy.src_pitch = values.shape[1] * 4
        copy.height = values.shape[0]
        copy(aligned=True)
    texture = cuda.TextureObject(mipmap, normalized_coordinates=True)
    out = np.zeros(15, np.float32)
    module.get_function("read")(texture, cuda.Out(out), block=(5, 1, 1))
    assert out.tolist() == [0, 10, 20, 30, 30] * 2 + [0, 10, 20, 30, 30]


def test_reference_of_a_name_that_is_not_a_texture(device):
    module = SourceModule(
        "__device__ int number; __global__ void f(int *p) { *p = number; }"
    )
    with pytest.raises(
        cuda.LogicError, match="'number' has 4 bytes and is not a texture"
    ):
        module.get_texref("number")
    with pytest.raises(TypeError, match="texrefs must hold TextureReferences, not int"):
        module.get_function("f")(cuda.mem_alloc(4), block=(1, 1, 1), texrefs=[1])
    with pytest.raises(TypeError, match="TextureReferences"):
        module.get_function("f").param_set_texref(module)


def test_a_fresh_reference(device):
    reference = cuda.TextureReference()
    assert reference.get_array() is None
    assert reference.handle == 0
    reference.set_format(cuda.array_format.SIGNED_INT32, 2)
    assert reference.get_format() == (cuda.array_format.SIGNED_INT32, 2)
    with pytest.raises(cuda.LogicError, match="no memory is bound"):
        reference.get_address()


def test_other_uses_of_the_word_compile(device):
    # The program's own class, a parameter and a typedef are not declared textures.
    compile(
        """
        struct texture { float scale; };
        __global__ void f(float *out, texture t) { *out = t.scale; }
        """,
        target="ptx",
        cache_dir=False,
    )
    compile(
        """
        template <class T> struct surface_of { T area; };
        __global__ void f(float *out) { surface_of<float> s; s.area = 2; *out = s.area; }
        """,
        target="ptx",
        no_extern_c=True,
        cache_dir=False,
    )


def test_errors_keep_their_lines(device):
    with pytest.raises(cuda.CompileError) as caught:
        compile(
            "texture<float, 2> t;\n__global__ void f() { nonsense(); }", target="ptx"
        )
    assert "kernel.cu(2)" in caught.value.stderr


def test_gpuarray_as_texture(texture_module):
    module = texture_module("""
        texture<float, 1> values;
        texture<int2, 1> doubles;
        __global__ void read(float *x, double *d)
        {
            int i = threadIdx.x;
            x[i] = tex1Dfetch(values, i);
            int2 both = tex1Dfetch(doubles, i);
            d[i] = __hiloint2double(both.y, both.x);
        }
    """)
    x = gpuarray.to_gpu(np.arange(8, dtype=np.float32))
    d = gpuarray.to_gpu(np.arange(8) / 3)
    assert x.bind_to_texref(module.get_texref("values")) == 0
    assert (
        d.bind_to_texref_ext(module.get_texref("doubles"), allow_double_hack=True) == 0
    )
    with pytest.raises(ValueError, match="one channel"):
        d.bind_to_texref_ext(module.get_texref("doubles"), 2, allow_double_hack=True)
    y, e = gpuarray.empty_like(x), gpuarray.empty_like(d)
    module.get_function("read")(y, e, block=(8, 1, 1))
    assert (y.get() == x.get()).all()
    assert (e.get() == d.get()).all()


def test_closed_textures_are_an_error(device):
    array = cuda.np_to_array(np.zeros((4, 4), np.float32), "C", allowSurfaceBind=True)
    for made in (cuda.TextureObject(array), cuda.SurfaceObject(array)):
        assert made.handle == int(made.__index__())
        made.close()
        made.close()
        with pytest.raises(cuda.LogicError, match="was closed before"):
            made.__index__()


READ_OBJECT = """
__global__ void linear(cudaTextureObject_t t, float *out) { out[0] = tex1Dfetch<float>(t, 0); }
__global__ void flat(cudaTextureObject_t t, float *out) { out[0] = tex2D<float>(t, .5f, .5f); }
__global__ void surface(cudaSurfaceObject_t s, float *out) { out[0] = surf2Dread<float>(s, 0, 0); }
"""


def make_memory(kind):
    """Memory, the kernel that reads it, and a function that makes the kernel's argument."""
    if kind == "device memory":
        memory = cuda.to_device(IMAGE)
        return memory, "linear", lambda: cuda.TextureObject(memory, size=IMAGE.nbytes)
    descriptor = cuda.ArrayDescriptor3D()
    descriptor.width, descriptor.height = 4, 3
    descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1
    if kind == "mipmapped":
        memory = cuda.MipmappedArray(descriptor, 1)
        return memory, "flat", lambda: cuda.TextureObject(memory)
    descriptor.flags = cuda.array3d_flags.SURFACE_LDST
    memory = cuda.Array(descriptor)
    if kind == "surface":
        return memory, "surface", lambda: cuda.SurfaceObject(memory)
    return memory, "flat", lambda: cuda.TextureObject(memory)


@pytest.mark.parametrize("kind", ["array", "mipmapped", "surface", "device memory"])
def test_a_launch_names_freed_memory(texture_module, kind):
    memory, name, make = make_memory(kind)
    kernel = texture_module(READ_OBJECT).get_function(name)
    out = gpuarray.zeros(1, np.float32)
    shown = make()
    kernel(shown, out, block=(1, 1, 1))
    memory.free()
    calls = [
        lambda: kernel(shown, out, block=(1, 1, 1)),
        lambda: kernel.prepare("PP").prepared_call((1, 1), (1, 1, 1), shown, out.gpudata),
        lambda: shown.handle,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(cuda.LogicError, match="freed"):
            call()
    cuda.Context.synchronize()  # the context lives
    shown.close()


def test_levels_end_with_their_array(able):
    descriptor = cuda.ArrayDescriptor3D()
    descriptor.width = descriptor.height = 8
    descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1
    whole = able("mipmaps", lambda: cuda.MipmappedArray(descriptor, 3))
    level = whole.get_level(1)
    copy = cuda.Memcpy2D()
    copy.set_src_host(np.zeros((4, 4), np.float32))
    copy.set_dst_array(level)
    copy.width_in_bytes, copy.src_pitch, copy.height = 16, 16, 4
    copy(aligned=True)
    whole.free()
    assert "freed" in repr(level)
    for touch in (lambda: copy(aligned=True), lambda: level.handle, level.get_descriptor, lambda: cuda.TextureObject(level)):  # fmt: skip
        with pytest.raises(cuda.LogicError, match="freed before"):
            touch()


def test_a_copy_names_an_array_that_was_freed_after_it_was_set(device):
    array = cuda.np_to_array(IMAGE, "C")
    copy = cuda.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(np.empty_like(IMAGE))
    copy.width_in_bytes = copy.dst_pitch = IMAGE.strides[0]
    copy.height = len(IMAGE)
    copy(aligned=True)
    array.free()
    with pytest.raises(cuda.LogicError, match="freed before"):
        copy(aligned=True)


def test_kinds_of_references_are_distinguished(able):
    source = """texture<float, 2> image; surface<void, 2> canvas;
        __global__ void copy(float *out) {
            *out = tex2D(image, 0.5f, 0.5f);
            surf2Dwrite(*out, canvas, 0, 0);
        }"""
    module = able("textures", lambda: SourceModule(source))
    module.get_texref("image")
    module.get_surfref("canvas")
    for look_up in (
        lambda: module.get_surfref("image"),
        lambda: module.get_texref("canvas"),
        lambda: module.get_texref("copy"),
    ):
        with pytest.raises(cuda.LogicError):
            look_up()


def test_textures_in_included_headers(texture_module, tmp_path):
    """A header in the source's folder, by its path, and one that a header in another folder includes."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/image.cuh").write_text("texture<float, 2> image;\n")
    (tmp_path / "inner/outer.cuh").write_text(
        '#pragma once\n#include "image.cuh"\nstatic texture<float, 1> unused;\n'
    )
    read = READ.replace("texture<float, 2> image;", "")
    for include, folders in (
        (f'#include "{tmp_path}/inner/image.cuh"\n', []),
        ('#include "inner/outer.cuh"\n', [str(tmp_path)]),
        ("#include <image.cuh>\n", [str(tmp_path / "inner")]),
    ):
        module = texture_module(include + read, include_dirs=folders)
        reference = module.get_texref("image")
        cuda.matrix_to_texref(IMAGE, reference, order="C")
        np.testing.assert_array_equal(read_all(module, reference), IMAGE)
