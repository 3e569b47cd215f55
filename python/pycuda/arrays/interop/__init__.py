"""Arrays shared with the host, files, other packages and textures."""
