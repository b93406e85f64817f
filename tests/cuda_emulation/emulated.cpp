// SPDX-License-Identifier: MIT
// emulated.cpp - the CUDA backend compiled by the C++ compiler: this folder's headers stand before CUDA's.
#include "../../cuda/cuda_primitives.cu"

#include "../../cuda/cuda_graph.cu"
#include "../../cuda/cuda_memory.cu"
#include "../../cuda/cuda_staging.cu"
#include "../../cuda/cuda_times.cu"
#include "../../cuda/cuda_timeline.cu"

#include "../../cuda/cuda_backend.cu"
