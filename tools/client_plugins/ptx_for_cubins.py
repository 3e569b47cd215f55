"""A pytest plugin: cuda.core's Program gives PTX where a test asks for machine code.

softcuda takes PTX and no cubins, as the driver of a GPU that the test's author does not have takes
no cubins of his. Nothing else of the suite is changed.
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
