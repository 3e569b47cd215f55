"""Kernels of GPUVerify's suite whose verdict differs on softcuda, with the reason."""

SAME_VALUES = "the threads store the same values, which the mode race permits"
LOCK_STEP = "relies on the lock step of a warp, which sm_70 and later do not have"

DIFFERENCES = {
    "annotation_tests/test_axiom": "an axiom restricts blockIdx, and a launch has all blocks",
    "curand_tests/fail/init_race": SAME_VALUES,
    "curand_tests/pass/curand_mtgp32": "needs generator states with pointers, which the host makes",
    "globalarray/fail": "the host would have to change a constant array",
    "loop_unwind": SAME_VALUES,
    "memcpy/fail_arrayofstruct": SAME_VALUES,
    "memcpy/fail_overstep": SAME_VALUES,
    "memcpy/lentoobig": SAME_VALUES,
    "memcpy/notexactdiv": SAME_VALUES,
    "misc/fail/miscfail2": "only the proof lacks an invariant, the kernel is right",
    "misc/fail/miscfail7": "the pointer is never null: the proof loses it as an integer",
    "warpsync/2d": LOCK_STEP,
    "warpsync/intragroup_scan": LOCK_STEP,
    "warpsync/scan_warp": LOCK_STEP,
    "warpsync/shuffle": LOCK_STEP,
}
