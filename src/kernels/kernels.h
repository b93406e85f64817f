// SPDX-License-Identifier: MIT
// kernels.h - all kernels of the table, for a backend to expand.
#ifndef MOTE_KERNELS_H
#define MOTE_KERNELS_H

#include "data.h"

#include "cloth/links.h"
#include "collider/coupling.h"
#include "collider/distance.h"
#include "collider/dynamic_colliders.h"
#include "collider/probe.h"
#include "collider/ray_cast.h"
#include "collider/sdf.h"
#include "contact/collider_contacts.h"
#include "contact/coulomb.h"
#include "contact/gravity_warm_start.h"
#include "contact/material.h"
#include "contact/particle_contacts.h"
#include "contact/restitution.h"
#include "contact/rolling.h"
#include "contact/rolling_update.h"
#include "contact/stacking.h"
#include "fluid/boundary_density.h"
#include "fluid/density.h"
#include "fluid/sph_kernels.h"
#include "particle/force_fields.h"
#include "particle/forces.h"
#include "particle/handles.h"
#include "particle/integrate.h"
#include "particle/neighbours.h"
#include "particle/queries.h"
#include "particle/spawn.h"
#include "particle/velocity.h"
#include "particle/watch.h"
#include "rigid/bodies.h"
#include "rigid/mass_splitting.h"
#include "rigid/plasticity.h"
#include "rigid/rigid_contacts.h"
#include "rigid/shape_matching.h"

#endif
