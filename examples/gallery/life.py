"""Conway's game of life: five living cells, and the board after 1103 generations.

    ./run examples/gallery/life.py [PICTURE]

One thread computes one cell of the next generation. The picture shows living cells in white and
the places where cells lived before in colours: a brighter colour means a later time.
"""

import sys

import numpy as np
from matplotlib import colormaps
from PIL import Image

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

SOURCE = """
__global__ void step(const unsigned char *cells, unsigned char *next, int *last_alive,
                     int size, int generation)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= size || row >= size) return;
    int neighbours = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            if (dx || dy) // the board's edges are joined
                neighbours += cells[(row + dy + size) % size * size + (col + dx + size) % size];
    int here = row * size + col;
    next[here] = neighbours == 3 || (neighbours == 2 && cells[here]);
    if (next[here]) last_alive[here] = generation;
}
"""

R_PENTOMINO = [".XX", "XX.", ".X."]


def place(pattern, size):
    """A board (size, size) of uint8 with the pattern, lines of X for a living cell, in its centre."""
    board = np.zeros((size, size), np.uint8)
    for row, line in enumerate(pattern):
        for col, cell in enumerate(line):
            board[size // 2 + row, size // 2 + col] = cell == "X"
    return board


def evolve(board, generations):
    """The board after this number of generations, and the generation in which each cell last lived."""
    step = SourceModule(SOURCE).get_function("step")
    size = len(board)
    cells, following = gpuarray.to_gpu(board), gpuarray.empty(board.shape, np.uint8)
    last_alive = gpuarray.zeros(board.shape, np.int32)
    grid = (-(-size // 32), -(-size // 8))
    for generation in range(1, generations + 1):
        step(cells, following, last_alive, size, generation, block=(32, 8, 1), grid=grid)
        cells, following = following, cells
    return cells.get(), last_alive.get()


if __name__ == "__main__":
    generations = 1103  # after that, only gliders move
    cells, last_alive = evolve(place(R_PENTOMINO, 1024), generations)
    print(f"{cells.sum()} cells live in generation {generations}")
    picture = colormaps["inferno"](0.12 + 0.7 * last_alive / generations)[..., :3]
    picture[last_alive == 0] = (0.03, 0.02, 0.08)
    picture[cells == 1] = 1
    picture = np.uint8(255 * picture[440:640, 400:667]).repeat(3, 0).repeat(3, 1)
    name = sys.argv[1] if len(sys.argv) > 1 else "life.png"
    Image.fromarray(picture).quantize(64).save(name, optimize=True)
    print("the picture is", name)
