"""The programs of examples/gallery at small sizes: the results have known properties."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from pycuda import gpuarray

pytest.importorskip("PIL", reason="tools/requirements/gallery.txt is not installed")
GALLERY = Path(__file__).parents[3] / "examples/gallery"
PICTURES = Path(__file__).parents[3] / "docs/images/gallery"

pytestmark = pytest.mark.usefixtures("device")


def program(name):
    spec = importlib.util.spec_from_file_location(name, GALLERY / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_programs_are_short_and_have_small_pictures():
    programs = sorted(GALLERY.glob("*.py"))
    assert len(programs) == 8
    for path in programs:
        assert len(path.read_text().splitlines()) < 80, path
        (picture,) = PICTURES.glob(f"{path.stem}.*")
        assert picture.stat().st_size <= 150_000, picture
        assert f'"{picture.name}"' in path.read_text()


def test_mandelbrot_has_its_area_and_its_mirror_image():
    picture = program("mandelbrot").render(512, 512, 0j, 4.0, 400)
    assert (picture == picture[::-1]).all()
    inside = (picture == 0).all(axis=2).mean() * 16
    assert 1.45 < inside < 1.53  # 1.5066 minus the pixels on the border


def test_life_of_the_r_pentomino():
    life = program("life")
    cells, last_alive = life.evolve(life.place(life.R_PENTOMINO, 1024), 1103)
    assert cells.sum() == 116  # with six gliders that have escaped
    assert ((last_alive == 1103) == (cells == 1)).all()


def test_n_body_follows_newton():
    n_body = program("n_body")
    random = np.random.default_rng(1)
    x, v = np.float32(random.uniform(-1, 1, (2, 300, 4)))
    x[:, 3], v[:, 3] = 1 / 300, 0

    def energy(x, v):
        x, v, mass = np.float64(x[:, :3]), np.float64(v[:, :3]), np.float64(x[:, 3])
        distance = np.sqrt(((x[:, None] - x) ** 2).sum(axis=2) + 0.1**2)
        potential = -(np.outer(mass, mass) / distance)[np.triu_indices(300, 1)].sum()
        return 0.5 * (mass * (v**2).sum(axis=1)).sum() + potential

    x1, v1 = n_body.simulate(x, v, 200, 0.005)
    moved = abs(x1 - x).max()
    assert moved > 0.5 and abs(energy(x1, v1) - energy(x, v)) < 1e-4 * abs(energy(x, v))
    np.testing.assert_allclose(v1.sum(axis=0), v.sum(axis=0), atol=1e-3)


def test_heat_decays_like_a_cosine_and_is_conserved():
    heat = program("heat")
    n, steps, rate = 40, 300, 0.2
    x = (np.arange(n) + 0.5) / n
    wave = np.cos(np.pi * x) + np.zeros((n, 1))
    nothing = np.zeros((n, n), bool)
    after = heat.simulate(np.float32(wave), nothing, nothing, steps, rate)
    decay = (1 - 2 * rate * (1 - np.cos(np.pi / n))) ** steps
    np.testing.assert_allclose(after, decay * wave, atol=2e-5)

    temperature, wall, held = heat.plate(60, 100)
    after = heat.simulate(temperature, wall, held, 200)
    assert (after[held] == temperature[held]).all()
    assert (after[wall] == 20).all()  # no heat enters a wall
    assert 0 <= after.min() and after.max() <= 100


def test_ray_tracer_shows_a_ball_at_its_position():
    red = [0, 1.4, 1.0, 0.5, 1, 0, 0, 0]
    light = program("ray_tracer").render([red], 320, 200)
    ball = light[..., 1] == 0  # all other objects have green
    # A ball in the direction c is visible if a ray makes an angle with c of at most asin(r / d).
    y, x = np.mgrid[:200, :320]
    ray = np.stack([(x + 0.5 - 160) / 200, 0.4 - (y + 0.5) / 200, 1.2 + 0 * x], axis=-1)
    cosine = ray[..., 2] / np.sqrt((ray**2).sum(axis=-1))
    seen = cosine > np.sqrt(1 - (0.5 / 6) ** 2)
    assert 500 < seen.sum() and (ball != seen).sum() <= 4
    assert (light[ball][:, 0] > 0.2).all() and (light[:50] > 0.05).all()


def test_image_filters_of_simple_pictures():
    filters = program("image_filters")

    def apply(picture, *arguments):
        return filters.apply(
            arguments[0], gpuarray.to_gpu(picture), *arguments[1:]
        ).get()

    ramp = np.float32(np.arange(60)[:, None, None] + np.zeros((60, 70, 3)))
    np.testing.assert_allclose(apply(ramp, "edges", 2)[1:-1], 2, rtol=1e-6)
    assert (apply(ramp[:1] + ramp[:1], "edges", 1) == 0).all()
    np.testing.assert_allclose(
        apply(ramp, "blur", 3, 1, 0)[9:-9], ramp[9:-9], rtol=1e-5
    )
    point = np.zeros((41, 41, 3), np.float32)
    point[20, 20] = 1
    blurred = apply(apply(point, "blur", 3, 1, 0), "blur", 3, 0, 1)
    np.testing.assert_allclose(blurred.sum(axis=(0, 1)), 1, rtol=1e-5)
    np.testing.assert_allclose(
        blurred[20, 23] / blurred[20, 20], np.exp(-0.5), rtol=1e-5
    )
    step = np.float32(100 * (np.arange(40) < 17)[None, :, None] + np.zeros((30, 40, 3)))
    np.testing.assert_allclose(
        apply(step, "paint", 5), step, atol=1e-3
    )  # edges are still sharp


def test_k_means_ends_like_lloyd():
    k_means = program("k_means")
    random = np.random.default_rng(3)
    points = k_means.clusters(random, 3000)
    on_device = gpuarray.to_gpu(points)
    history, groups = k_means.k_means(on_device, on_device[:7].copy(), rounds=300)
    centres, groups = history[-1].get(), groups.get()
    assert len(history) < 300  # it converged
    distances = ((points[:, None] - centres) ** 2).sum(axis=2)
    assert (distances.argmin(axis=1) == groups).mean() > 0.999
    for k in range(7):
        np.testing.assert_allclose(
            centres[k], points[groups == k].mean(axis=0), atol=1e-4
        )
    costs = [
        ((points[:, None] - c.get()) ** 2).sum(axis=2).min(axis=1).sum()
        for c in history
    ]
    assert (np.diff(costs) <= 1e-3).all() and costs[-1] < 0.8 * costs[0]


def test_fluid_slows_down_by_its_viscosity():
    fluid = program("fluid")
    height, width, viscosity, steps = 32, 48, 0.05, 400
    y, x = np.mgrid[:height, :width]
    wave = 0.02 * np.sin(2 * np.pi * y / height)
    velocity = fluid.simulate(
        wave, 0.0 * x, np.zeros((height, width), np.uint8), steps, viscosity
    )
    decay = np.exp(-viscosity * (2 * np.pi / height) ** 2 * (steps - 1))
    np.testing.assert_allclose(velocity[..., 0], decay * wave, atol=0.01 * 0.02)
    assert abs(velocity[..., 1]).max() < 1e-5
