#!/usr/bin/env python3
"""Write or check the table of SciPy's functions in docs/migration.md: those of CuPy's cupyx.scipy, and which are here.

    ./run tools/scipy_functions.py           write the table
    ./run tools/scipy_functions.py --check   exit with 1 if the table is not current

_NAMES has the public names of CuPy 14's modules. Names of pycuda are found in its modules; OTHER_NAMES has functions that
do the work under another name.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pycuda import fft, gpuarray, linalg, sparse, special
from pycuda.arrays import registry
from pycuda.sparse import linalg as sparse_linalg

PAGE = Path(__file__).resolve().parent.parent / "docs/migration.md"
BEGIN = "<!-- begin of the table by tools/scipy_functions.py -->\n"
END = "<!-- end of the table -->\n"

_NAMES = {
    "special": """
        bdtr bdtrc bdtri beta betainc betaincinv betaln binom boxcox boxcox1p btdtr btdtri cbrt
        chdtr chdtrc chdtri cosdg cosm1 cotdg digamma ellipeinc ellipj ellipk ellipkinc ellipkm1
        entr erf erfc erfcinv erfcx erfinv exp1 exp10 exp2 expi expit expm1 expn exprel fdtr fdtrc
        fdtri gamma gammainc gammaincc gammainccinv gammaincinv gammaln gammasgn gdtr gdtrc huber i0
        i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e kl_div lambertw log1p log_expit
        log_ndtr log_softmax loggamma logit logsumexp lpmv multigammaln nbdtr nbdtrc nbdtri ndtr
        ndtri pdtr pdtrc pdtri poch polygamma pseudo_huber psi radian rel_entr rgamma round shichi
        sici sinc sindg softmax sph_harm_y spherical_yn tandg wright_bessel xlog1py xlogy y0 y1 yn
        zeta zetac""",
    "ndimage": """
        affine_transform binary_closing binary_dilation binary_erosion binary_fill_holes
        binary_hit_or_miss binary_opening binary_propagation black_tophat center_of_mass convolve
        convolve1d correlate correlate1d distance_transform_edt extrema find_objects
        fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform gaussian_filter
        gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace generate_binary_structure
        generic_filter generic_filter1d generic_gradient_magnitude generic_laplace grey_closing
        grey_dilation grey_erosion grey_opening histogram iterate_structure label
        labeled_comprehension laplace map_coordinates maximum maximum_filter maximum_filter1d
        maximum_position mean median median_filter minimum minimum_filter minimum_filter1d
        minimum_position morphological_gradient morphological_laplace percentile_filter prewitt
        rank_filter rotate shift sobel spline_filter spline_filter1d standard_deviation sum_labels
        uniform_filter uniform_filter1d value_indices variance white_tophat zoom""",
    "signal": """
        abcd_normalize argrelextrema argrelmax argrelmin BadCoefficients band_stop_obj bilinear
        bilinear_zpk bode buttap butter buttord cheb1ap cheb1ord cheb2ap cheb2ord cheby1 cheby2
        check_COLA check_NOLA chirp choose_conv_method coherence cont2discrete convolve convolve2d
        correlate correlate2d correlation_lags csd cspline1d cspline1d_eval cspline2d cwt czt CZT
        czt_points dbode decimate deconvolve detrend dfreqresp dimpulse dlsim dlti dstep ellip
        ellipap ellipord fftconvolve filtfilt find_peaks findfreqs firls firwin firwin2 freqresp
        freqs freqs_zpk freqz freqz_sos freqz_zpk gammatone gauss_spline gausspulse get_window
        group_delay hilbert hilbert2 iircomb iirdesign iirfilter iirnotch iirpeak impulse invres
        invresz istft kaiser_atten kaiser_beta kaiserord lfilter lfilter_zi lfiltic lombscargle
        lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk lsim lti max_len_seq medfilt
        medfilt2d minimum_phase morlet morlet2 normalize oaconvolve order_filter peak_prominences
        peak_widths periodogram place_poles qmf qspline1d qspline1d_eval qspline2d resample
        resample_poly residue residuez ricker savgol_coeffs savgol_filter sawtooth sepfir2d sos2tf
        sos2zpk sosfilt sosfilt_zi sosfiltfilt sosfreqz spectrogram spline_filter square ss2tf
        ss2zpk StateSpace step stft sweep_poly symiirorder1 symiirorder2 tf2sos tf2ss tf2zpk
        TransferFunction unique_roots unit_impulse upfirdn vectorstrength welch wiener
        ZerosPolesGain zoom_fft ZoomFFT zpk2sos zpk2ss zpk2tf""",
    "signal.windows": """
        barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine exponential flattop
        gaussian general_cosine general_gaussian general_hamming get_window hamming hann kaiser
        kaiser_bessel_derived lanczos nuttall parzen taylor triang tukey""",
    "linalg": """
        bandwidth block_diag circulant companion convolution_matrix dft expm fiedler
        fiedler_companion hadamard hankel helmert hilbert khatri_rao leslie lu lu_factor lu_solve
        solve_triangular toeplitz""",
    "sparse": """
        block_array block_diag bmat coo_array coo_matrix csc_array csc_matrix csr_array csr_matrix
        dia_array dia_matrix diags diags_array eye eye_array find get_index_dtype hstack identity
        issparse isspmatrix isspmatrix_coo isspmatrix_csc isspmatrix_csr isspmatrix_dia kron kronsum
        matrix_transpose permute_dims rand random random_array safely_cast_index_arrays sparray
        spdiags spmatrix swapaxes tril triu vstack""",
    "sparse.linalg": """
        aslinearoperator bicgstab cg cgs eigsh factorized gmres LinearOperator lobpcg lsmr lsqr
        matrix_power minres norm spilu splu spsolve spsolve_triangular SuperLU svds""",
    "sparse.csgraph": """
        connected_components""",
    "stats": """
        boxcox_llf entropy trim_mean zmap zscore""",
    "fft": """
        dct dctn dst dstn fft fft2 fftfreq fftn fftshift fht hfft hfft2 hfftn idct idctn idst idstn
        ifft ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn next_fast_len rfft
        rfft2 rfftfreq rfftn""",
    "spatial": """
        Delaunay distance_matrix KDTree""",
    "spatial.distance": """
        canberra cdist chebyshev cityblock correlation cosine distance_matrix euclidean hamming
        hellinger jensenshannon kl_divergence minkowski pdist russellrao sqeuclidean""",
    "interpolate": """
        Akima1DInterpolator barycentric_interpolate BarycentricInterpolator BPoly BSpline
        CloughTocher2DInterpolator CubicHermiteSpline CubicSpline interp1d interpn
        InterpolatedUnivariateSpline krogh_interpolate KroghInterpolator LinearNDInterpolator
        LSQUnivariateSpline make_interp_spline make_lsq_spline NdBSpline NdPPoly
        NearestNDInterpolator pchip_interpolate PchipInterpolator PPoly RBFInterpolator
        RegularGridInterpolator splantider splder UnivariateSpline""",
}

CUPY = {module: names.split() for module, names in _NAMES.items()}

#: Where this package has the functions of a module.
OWN_MODULES = {
    "special": (special, "pycuda.special"),
    "fft": (fft, "pycuda.fft"),
    "linalg": (linalg, "pycuda.linalg"),
    "sparse": (sparse, "pycuda.sparse"),
    "sparse.linalg": (sparse_linalg, "pycuda.sparse.linalg"),
}

#: Functions of NumPy that do the work of SciPy's for arrays of the device.
OTHER_NAMES = {
    "special": {
        "cbrt": "numpy.cbrt(x)",
        "exp2": "numpy.exp2(x)",
        "expm1": "numpy.expm1(x)",
        "log1p": "numpy.log1p(x)",
        "round": "numpy.rint(x)",
        "sinc": "numpy.sinc(x)",
    },
    "signal": {
        "convolve": "numpy.convolve(x, y) | of vectors",
        "correlate": "numpy.correlate(x, y) | of vectors",
    },
    "signal.windows": {
        "bartlett": "gpuarray.bartlett(n)",
        "blackman": "gpuarray.blackman(n)",
        "hamming": "gpuarray.hamming(n)",
        "hann": "gpuarray.hanning(n)",
        "kaiser": "gpuarray.kaiser(n, beta)",
    },
    "ndimage": {"histogram": "numpy.histogram(x, bins, (low, high))"},
    "interpolate": {"interp1d": "numpy.interp(x, xp, fp) | which is linear"},
}


def own_names(module: str) -> list[str]:
    """The functions of CuPy's module that this package has under the same name."""
    if module not in OWN_MODULES:
        return []
    owner = OWN_MODULES[module][0]
    return [name for name in CUPY[module] if hasattr(owner, name)]


def shown(word: str) -> str:
    """A call of OTHER_NAMES, and the note behind it, as Markdown."""
    call, _, note = word.partition(" | ")
    return f"`{call}` {note}".rstrip()


def check_other_names() -> None:
    """Stop if a function of OTHER_NAMES is absent."""
    for text in (text for names in OTHER_NAMES.values() for text in names.values()):
        owner, _, name = text.partition("(")[0].partition(".")
        if owner == "numpy":
            known = hasattr(np, name) and name in registry.functions_like_numpy()
            known = known or isinstance(getattr(np, name, None), np.ufunc)
        else:
            known = hasattr(gpuarray, name)
        if not known:
            raise SystemExit(f"{text}: there is no such function")


def make_table() -> str:
    """The text between the two marks."""
    check_other_names()
    text = "| CuPy's module | functions | here | here under the same name |\n|---|---:|---:|---|\n"
    absent = ""
    for module, names in CUPY.items():
        own = own_names(module)
        other = OTHER_NAMES.get(module, {})
        other = {name: word for name, word in other.items() if name not in own}
        where = f"`{OWN_MODULES[module][1]}`" if own else ""
        text += f"| `cupyx.scipy.{module}` | {len(names)} | {len(own) + len(other)} | {where} |\n"
        missing = [name for name in names if name not in own and name not in other]
        if own or other:
            here = ", ".join(f"`{name}`" for name in own)
            by_name = ", ".join(
                f"`{one}` is {shown(word)}" for one, word in other.items()
            )
            absent += (
                f"\n- `{module}`: " + "; ".join(filter(None, [here, by_name])) + "."
            )
            if own and missing:
                absent += f" Not here: {', '.join(f'`{name}`' for name in missing)}."
    return f"{text}\nThe functions that are here:\n{absent}\n"


def page_with(table: str) -> str:
    """The page with this table."""
    before, mark, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise SystemExit(f"{PAGE.name} lacks the marks of the table")
    return before + BEGIN + "\n" + table + "\n" + END + after


def main() -> int:
    """Write or check the table."""
    page = page_with(make_table())
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page)
        return 0
    if PAGE.read_text() == page:
        return 0
    print(
        "docs/migration.md is not current: run ./run tools/scipy_functions.py",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
