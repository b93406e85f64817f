// SPDX-License-Identifier: MIT
// read_forces.c - a rigid box comes to rest on the ground, whose force on it is its weight.
#include <mote.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 5, COUNT = SIDE * SIDE * SIDE };

static void check(MoteResult result)
{
    if (result != MOTE_OK) {
        fprintf(stderr, "read_forces: %s\n", mote_error_message());
        exit(1);
    }
}

int main(void)
{
    const MoteSettings settings = mote_default_settings();
    MoteWorld *world = NULL;
    check(mote_world_create(&settings, NULL, &world)); // NULL: on the best backend that is here

    MoteShape ground = mote_default_collider(); // the plane y = 0
    ground.static_friction = ground.kinetic_friction = 0.5f;
    check(mote_world_add_collider(world, &ground, NULL));

    MoteVec3 positions[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const int x = i % SIDE, y = i / SIDE % SIDE, z = i / (SIDE * SIDE);
        positions[i] =
            (MoteVec3){settings.spacing * (float)x, settings.spacing * ((float)y + 1.0f), settings.spacing * (float)z};
    }
    MoteBody box = mote_default_body();
    box.count = COUNT;
    box.positions = positions;
    box.mass = 0.1f; // kg, of one particle
    MoteBodyId id;
    check(mote_world_add_body(world, &box, NULL, &id));

    check(mote_world_record_forces(world, true));
    const float time_step = 1.0f / (settings.frame_rate * (float)settings.substeps);
    check(mote_world_steps(world, time_step, 480, NULL));

    MoteBodyState state;
    static float forces[4 * COUNT]; // N, 4 a particle
    check(mote_world_read_body(world, id, &state));
    check(mote_world_read_forces(world, MOTE_FORCE_SHAPES, forces)); // of contacts with colliders
    double sum = 0.0;
    for (int i = 0; i < COUNT; i++) {
        sum += forces[4 * i + 1];
    }
    printf("the ground carries %.2f N, the box weighs %.2f N\n", sum, state.mass * -settings.gravity.y);
    mote_world_destroy(world);
    return 0;
}
