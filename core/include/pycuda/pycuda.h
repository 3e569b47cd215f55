// pycuda.h -- the whole of libpycuda in one include.
#pragma once

#include <pycuda/argument_block.h>
#include <pycuda/compiler.h>
#include <pycuda/context.h>
#include <pycuda/copy.h>
#include <pycuda/device.h>
#include <pycuda/driver.h>
#include <pycuda/elementwise_kernel.h>
#include <pycuda/error.h>
#include <pycuda/event.h>
#include <pycuda/function.h>
#include <pycuda/init.h>
#include <pycuda/kernel_argument.h>
#include <pycuda/kernel_signature.h>
#include <pycuda/kernel_variant.h>
#include <pycuda/launch.h>
#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>
#include <pycuda/module.h>
#include <pycuda/parameter.h>
#include <pycuda/staging.h>
#include <pycuda/stream.h>
#include <pycuda/wait.h>
