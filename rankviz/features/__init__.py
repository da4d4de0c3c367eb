"""Feature maps: linear, Nyström, random Fourier, and the kernels they approximate."""
