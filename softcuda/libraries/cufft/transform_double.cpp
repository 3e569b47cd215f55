// transform_double.cpp -- the transforms of double.
#include "transform_of.h"

SOFTCUFFT_TRANSFORMS(double)
