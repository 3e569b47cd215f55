// cuda_runtime_api.h -- a name under which programs include the runtime API.
#pragma once
#include "cuda_runtime.h"
