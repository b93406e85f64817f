// kernels.h - all kernels of the table, for a backend to expand.
#ifndef MOTE_KERNELS_H
#define MOTE_KERNELS_H

#include "data.h"

#include "smoothing.h"
#include "field.h"
#include "shapes.h"
#include "materials.h"

#include "supports.h"
#include "predict.h"
#include "neighbours.h"
#include "bodies.h"
#include "rolling.h"
#include "density.h"
#include "coupling.h"
#include "contacts.h"
#include "walls.h"
#include "matching.h"
#include "dynamics.h"
#include "pairs.h"
#include "splitting.h"
#include "stacks.h"
#include "spins.h"
#include "forces.h"
#include "velocity.h"
#include "watch.h"
#include "probe.h"

#endif
