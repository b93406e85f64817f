// SPDX-License-Identifier: MIT
// custom_force.c - a force of one's own: a drop of water on a spring, which swings to and fro once a second.
#include <mote_interop.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE };
static const float STIFFNESS = 39.478418f; // 1/s^2: (2 pi)^2, of a period of a second

// Before each step: velocities change by a dt, with a = -k x. On a GPU, a kernel on arrays->stream can do the same in
// place (arrays->positions and arrays->velocities are device pointers); copies work on every backend.
static MoteResult pull_to_origin(void *context, MoteWorld *world, const MoteStepArrays *arrays)
{
    (void)context;
    static float positions[4 * COUNT], velocities[4 * COUNT];
    const size_t bytes = 4 * sizeof(float) * arrays->particle_count;
    MoteResult result = mote_world_copy_out(world, positions, arrays->positions, bytes);
    if (result == MOTE_OK) {
        result = mote_world_copy_out(world, velocities, arrays->velocities, bytes);
    }
    for (uint32_t i = 0; i < arrays->particle_count; i++) {
        for (uint32_t axis = 0; axis < 3; axis++) {
            velocities[4 * i + axis] -= STIFFNESS * positions[4 * i + axis] * arrays->time_step;
        }
    }
    return result == MOTE_OK ? mote_world_copy_in(world, arrays->velocities, velocities, bytes) : result;
}

static void check(MoteResult result)
{
    if (result != MOTE_OK) {
        fprintf(stderr, "custom_force: %s\n", mote_error_message());
        exit(1);
    }
}

int main(void)
{
    MoteSettings settings = mote_default_settings();
    settings.gravity = (MoteVec3){0, 0, 0};
    MoteWorld *world = NULL;
    check(mote_world_create(&settings, NULL, &world)); // NULL: on the best backend that is here

    MoteVec3 positions[COUNT]; // around x = 1 m
    for (int i = 0; i < COUNT; i++) {
        const int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
        positions[i].x = 1.0f + settings.spacing * ((float)x - 0.5f * (SIDE - 1));
        positions[i].y = settings.spacing * ((float)y - 0.5f * (SIDE - 1));
        positions[i].z = settings.spacing * ((float)z - 0.5f * (SIDE - 1));
    }
    MoteParticles water = mote_default_particles();
    water.count = COUNT;
    water.positions = positions;
    water.mass = mote_world_particle_mass(world, 1000.0f);
    check(mote_world_add_particles(world, &water, NULL));

    mote_world_set_step_callbacks(world, pull_to_origin, NULL, NULL);
    for (int half = 1; half <= 2; half++) {
        MoteStatistics now;
        check(mote_world_steps(world, 1.0f / 240.0f, 120, NULL));
        check(mote_world_statistics(world, &now));
        printf("after %.1f s the drop is at %.3f m\n", 0.5 * half, now.centre_of_mass[0]);
    }
    mote_world_destroy(world);
    return 0;
}
