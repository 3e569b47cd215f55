"""A pytest plugin: cuda.core's Program returns PTX if a test asks for machine code.

softcuda loads PTX but not the cubins of a test's GPU, like the driver of
another GPU. Nothing else in the suite is changed.
"""

import cuda.core
import cuda.core._program

_Program = cuda.core.Program


class Program(_Program):
    """``cuda.core.Program`` whose ``compile("cubin")`` is ``compile("ptx")``."""

    def compile(self, target_type="ptx", *arguments, **options):
        wanted = "ptx" if target_type == "cubin" else target_type
        return super().compile(wanted, *arguments, **options)


cuda.core.Program = cuda.core._program.Program = Program
