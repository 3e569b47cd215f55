"""A pytest plugin: cuda.core's Program returns PTX if a test asks for machine code.

softcuda loads PTX but not the cubins of a test's GPU, like the driver of
another GPU. Programs of PTX are not changed: softcuda's nvJitLink links them.
"""

import cuda.core
import cuda.core._program

_Program = cuda.core.Program


class Program(_Program):
    """``cuda.core.Program`` whose ``compile("cubin")`` is ``compile("ptx")`` for CUDA C++ and NVVM IR."""

    def compile(self, target_type="ptx", *arguments, **options):
        makes_machine_code = target_type == "cubin" and self.backend != "nvJitLink"
        wanted = "ptx" if makes_machine_code else target_type
        return super().compile(wanted, *arguments, **options)


cuda.core.Program = cuda.core._program.Program = Program
