# Dockerfile -- PyCUDA on the CPU in a container, for x86-64 and 64-bit ARM. docs/installing.md says how to use it.
FROM debian:12
COPY . /pycuda
# ./run installs what the build needs with apt-get and pip, and builds.
RUN /pycuda/run -c 'import pycuda.autoinit' && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["/pycuda/run"]
