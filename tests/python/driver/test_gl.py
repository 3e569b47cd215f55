"""pycuda.gl: its names, and its errors if the driver or the thread has no OpenGL."""

import numpy as np
import pytest

import pycuda.driver as cuda
import pycuda.gl as gl


def test_objects_of_opengl_without_opengl(device):
    """No test has an OpenGL context; NVIDIA's driver reports this, softcuda that it has no OpenGL."""
    kinds = [
        lambda: gl.RegisteredBuffer(1, gl.graphics_map_flags.WRITE_DISCARD),
        lambda: gl.RegisteredImage(1, target=0x0DE1, flags=gl.graphics_map_flags.NONE),
    ]
    for register, name in zip(kinds, ["Buffer", "Image"], strict=True):
        with pytest.raises(
            cuda.Error, match=f"cuGraphicsGLRegister{name} failed"
        ) as info:
            register()
        if not cuda.have_gl_ext():
            assert "does not support sharing of objects with OpenGL" in str(info.value)
            assert info.value.name == "CUDA_ERROR_NOT_SUPPORTED"
        else:
            assert f"OpenGL's {name.lower()} 1" in str(info.value)


def test_deprecated_names(device):
    with pytest.warns(DeprecationWarning, match="not needed any more"):
        gl.init()
    with (
        pytest.warns(DeprecationWarning, match="RegisteredBuffer"),
        pytest.raises(cuda.Error),
    ):
        gl.BufferObject(1)


def test_context_for_opengl(device):
    context = gl.make_context(device)
    try:
        assert cuda.Context.get_current() == context
        cuda.to_device(np.zeros(4, np.float32))
    finally:
        context.detach()


def test_autoinit(run_program):
    done = run_program(
        """
        import pycuda.gl.autoinit as autoinit
        import pycuda.driver as cuda
        assert cuda.Context.get_current() == autoinit.context
        print(autoinit.device == cuda.Context.get_device())
        """
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_old_mapping_forwards_calls():
    """BufferObjectMapping has PyCUDA 0.94's names for the methods of RegisteredMapping."""

    class Mapping:
        ended = False

        def device_ptr_and_size(self):
            return 0x1000, 64

        def unmap(self):
            self.ended = True

    mapping = Mapping()
    old = gl.BufferObjectMapping(mapping)
    assert (old.device_ptr(), old.size()) == (0x1000, 64)
    old.unmap()
    assert mapping.ended
    assert {"unmap", "device_ptr_and_size", "array"} <= set(dir(gl.RegisteredMapping))
    with pytest.raises(TypeError):  # only map() makes one
        gl.RegisteredMapping()
