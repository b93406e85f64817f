// SPDX-License-Identifier: MIT
// camera.h - the viewer's camera: orbiting a point, or flying. Plain mathematics on a MoteCamera.
#ifndef MOTE_VIEWER_CAMERA_H
#define MOTE_VIEWER_CAMERA_H

#include "mote_render.h"

// Turns the eye about the target: dx and dy in pixels of mouse movement, over a picture `height` pixels high.
void camera_orbit(MoteCamera *camera, float dx, float dy, float height);
// Moves eye and target in the picture's plane, so that what is at the target's distance stays under the mouse.
void camera_pan(MoteCamera *camera, float dx, float dy, float height);
// Moves the eye towards the target by a factor of 0.9 a step, away from it if negative.
void camera_zoom(MoteCamera *camera, float steps);
// Turns the target about the eye, as the head turns.
void camera_look(MoteCamera *camera, float dx, float dy, float height);
// Moves along the camera's own right, the world's up and the direction of view, in units of the distance to the target.
void camera_fly(MoteCamera *camera, float right, float up, float forward);
// Steps back, or comes near, until the box fills the picture.
void camera_frame(MoteCamera *camera, MoteVec3 bounds_min, MoteVec3 bounds_max, float aspect);

// The ray through a pixel's centre: it starts at the eye, `direction` has length 1.
typedef struct CameraRay {
    MoteVec3 origin, direction;
} CameraRay;
CameraRay camera_ray(const MoteCamera *camera, float x, float y, float width, float height);
// Where a point is in the picture; false if it is behind the eye.
bool camera_project(const MoteCamera *camera, MoteVec3 point, float width, float height, float *x, float *y);
MoteVec3 camera_forward(const MoteCamera *camera); // length 1

#endif
