// kernels.h - all kernels of the table, for a backend to expand.
#ifndef MOTE_KERNELS_H
#define MOTE_KERNELS_H

#include "view.h"

#include "smoothing.h"
#include "field.h"
#include "shapes.h"

#include "predict.h"
#include "neighbours.h"
#include "density.h"
#include "contacts.h"
#include "velocity.h"

#endif
