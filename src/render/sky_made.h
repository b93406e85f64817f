// SPDX-License-Identifier: MIT
// sky_made.h - skies that are computed as pictures, so that water and metal have something to reflect.
#ifndef MOTE_RENDER_SKY_MADE_H
#define MOTE_RENDER_SKY_MADE_H

#include "image/image.h"
#include "mote_render.h"

// Whether a kind of sky is made here.
bool sky_is_made(MoteSkyKind kind);

enum { SKY_MADE_NAME = 256 };

// What a made sky depends on, as text: two skies of one name are the same picture.
void sky_made_name(const MoteSkyLook *sky, char name[SKY_MADE_NAME]);

// The sky as an equirectangular picture of linear RGB, before `brightness`.
MoteResult sky_make(const MoteSkyLook *sky, Image *out);

#endif
