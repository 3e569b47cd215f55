"""Devices and the constants of the driver."""

import pickle

import pytest

import pycuda.driver as cuda


def test_versions():
    assert cuda.get_version() >= (12, 0, 0)
    assert cuda.get_driver_version() >= 12000


def test_device_describes_itself(device):
    assert cuda.Device.count() >= 1
    assert device.name()
    assert len(device.pci_bus_id().split(":")) == 3
    major, minor = device.compute_capability()
    assert (major, minor) >= (5, 0)
    assert device.total_memory() > 2**20
    assert len(device.uuid()) == 16


def test_device_by_pci_bus_id(device):
    assert cuda.Device(device.pci_bus_id()) == device


def test_devices_compare_by_number(device):
    assert cuda.Device(0) == device
    assert hash(cuda.Device(0)) == hash(device)
    assert not cuda.Device(0) != device
    assert cuda.Device(0) != "a device"


def test_attributes(device):
    attribute = cuda.device_attribute
    assert device.get_attribute(attribute.WARP_SIZE) == 32
    assert device.warp_size == device.WARP_SIZE == 32
    assert device.get_attributes()[attribute.WARP_SIZE] == 32
    assert (
        device.get_attribute(attribute.COMPUTE_MODE) is cuda.compute_mode.DEFAULT
        or device.compute_mode in cuda.compute_mode.values
    )
    with pytest.raises(AttributeError, match="no attribute 'warp_length'"):
        device.warp_length  # noqa: B018


def test_an_unknown_device_is_a_logic_error():
    cuda.init()
    with pytest.raises(cuda.LogicError, match="invalid device ordinal") as caught:
        cuda.Device(4711)
    assert caught.value.code == 101
    assert caught.value.name == "CUDA_ERROR_INVALID_DEVICE"


def test_enum_members_are_ints_with_names():
    pitch = cuda.device_attribute.MAX_PITCH
    assert pitch == 11 and isinstance(pitch, int)
    assert str(pitch) == pitch.name == f"{pitch}" == "MAX_PITCH"
    assert repr(pitch) == "pycuda._driver.device_attribute.MAX_PITCH"
    assert cuda.device_attribute.names["MAX_PITCH"] is pitch
    assert cuda.device_attribute.values[11] is pitch
    assert cuda.device_attribute(11) is pitch
    assert pickle.loads(pickle.dumps(pitch)) is pitch
    assert {pitch: 1}[11] == 1


def test_flags_combine_to_plain_ints():
    both = cuda.ctx_flags.SCHED_SPIN | cuda.ctx_flags.MAP_HOST
    assert both == 9 and type(both) is int


def test_aliases_and_holders():
    names = cuda.device_attribute
    assert names.SHARED_MEMORY_PER_BLOCK is names.MAX_SHARED_MEMORY_PER_BLOCK
    assert cuda.host_alloc_flags.DEVICEMAP == 2
    assert getattr(cuda.array3d_flags, "2DARRAY") == 1
    assert cuda.jit_target.COMPUTE_90A == 65626
    assert cuda.function_attribute.MAX == len(set(cuda.function_attribute.values)) - 1


def test_exceptions_have_pycudas_names():
    for name in ("MemoryError", "LaunchError", "RuntimeError", "LogicError"):
        cls = getattr(cuda, name)
        assert issubclass(cls, cuda.Error)
        assert f"{cls.__module__}.{cls.__name__}" == f"pycuda._driver.{name}"
    assert not issubclass(cuda.MemoryError, MemoryError)
    assert issubclass(cuda.ArgumentError, (cuda.LogicError, TypeError))
    assert cuda.CompileError.__module__ == "pycuda.driver"
    assert cuda.Error("by hand").code is None
