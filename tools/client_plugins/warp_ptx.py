"""A pytest plugin: Warp compiles its kernels to PTX, not to cubins, which only NVIDIA's driver runs."""

import warp

warp.config.cuda_output = "ptx"
