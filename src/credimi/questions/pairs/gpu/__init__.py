"""All pairs on one NVIDIA GPU: CUDA sources, and the classes that run them."""
