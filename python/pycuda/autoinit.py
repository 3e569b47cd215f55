"""Import this module to create a context on the first device that works, and to make it current.

It is the device's primary context, shared with other libraries of the process. The device is
``$CUDA_DEVICE``, or the number in ``~/.cuda_device``, or else the first one that works.

Other threads use the same context unless they make another one current: it is the default context of
threads without a context (``Context.set_default()``).
"""

from pycuda import driver
from pycuda import driver as cuda  # noqa: F401  (a name that PyCUDA's module has)
from pycuda._exit import finish_at_exit
from pycuda.tools import make_default_context


def _push_primary_context(device: driver.Device) -> driver.Context:
    context = device.retain_primary_context()
    context.push()
    return context


driver.init()

context: driver.Context = make_default_context(_push_primary_context)
device: driver.Device = context.get_device()

driver.Context.set_default(context)

finish_at_exit(context)
