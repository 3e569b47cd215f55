kernel void mandelbrot(global int *counts, int width, int height, int limit)
{
    int column = get_global_id(0), row = get_global_id(1);
    if (column >= width || row >= height)
        return;
    float cx = -2.0f + column * (2.6f / width), cy = -1.3f + row * (2.6f / height);
    float x = 0, y = 0;
    int i = 0;
    while (i < limit && x * x + y * y <= 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        ++i;
    }
    counts[(size_t)row * width + column] = i;
}
