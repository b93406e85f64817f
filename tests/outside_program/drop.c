// SPDX-License-Identifier: MIT
// drop.c - a program that uses Mote from outside: drops a block of water into a box and looks at what comes of it.
#include <mote.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 8, COUNT = SIDE * SIDE * SIDE, FRAMES = 30 };
static const float WATER = 1000.0f; // kg/m^3
static const float HALF_BOX = 0.4f; // m

static void check(MoteResult result, const char *what)
{
    if (result != MOTE_OK) {
        fprintf(stderr, "%s: %s\n", what, mote_error_message());
        exit(1);
    }
}

static void expect(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "not so: %s\n", what);
        exit(1);
    }
}

static void add_block(MoteWorld *world, float spacing)
{
    static MoteVec3 positions[COUNT];
    uint32_t count = 0;
    for (int x = 0; x < SIDE; x++) {
        for (int y = 0; y < SIDE; y++) {
            for (int z = 0; z < SIDE; z++) {
                positions[count++] = (MoteVec3){
                    ((float)x - 0.5f * (SIDE - 1)) * spacing,
                    ((float)y + 2.0f) * spacing,
                    ((float)z - 0.5f * (SIDE - 1)) * spacing,
                };
            }
        }
    }
    MoteParticles block = mote_default_particles();
    block.count = count;
    block.positions = positions;
    block.mass = mote_world_particle_mass(world, WATER);
    check(mote_world_add_particles(world, &block, NULL), "adding the water");
}

static void add_box(MoteWorld *world)
{
    MoteShape box = mote_default_collider();
    box.kind = MOTE_SHAPE_BOX;
    box.inside_out = true;
    box.half_size = (MoteVec3){HALF_BOX, HALF_BOX, HALF_BOX};
    box.from.position.y = box.to.position.y = HALF_BOX;
    MoteColliderId id;
    check(mote_world_add_collider(world, &box, &id), "adding the box");
    expect(mote_world_has_collider(world, id), "the box is there");
}

int main(void)
{
    MoteSettings settings = mote_default_settings();
    MoteBackendOptions options = mote_default_backend_options();
    options.threads = 1; // too few particles for more
    MoteWorld *world = NULL;
    check(mote_world_create(&settings, &options, &world), "creating the world");
    add_block(world, settings.spacing);
    add_box(world);

    MoteStatistics before, after;
    check(mote_world_statistics(world, &before), "statistics at the start");
    const float time_step = 1.0f / (settings.frame_rate * (float)settings.substeps);
    for (uint32_t step = 0; step < FRAMES * settings.substeps; step++) {
        check(mote_world_step(world, time_step), "a step");
    }
    check(mote_world_statistics(world, &after), "statistics at the end");

    printf("Mote %s on %s: %u particles, %llu steps, centre of mass from %.3f to %.3f m, compression %.2f %%\n",
           mote_version(), mote_world_backend(world), (unsigned)after.particles, (unsigned long long)after.steps,
           before.centre_of_mass[1], after.centre_of_mass[1], 100.0 * after.density_error_mean);
    expect(after.particles == COUNT, "no particle was lost");
    expect(after.steps == FRAMES * settings.substeps, "every step was counted");
    expect(isfinite(after.kinetic_energy) && after.kinetic_energy >= 0.0, "the kinetic energy is a number");
    expect(fabs(after.mass - before.mass) <= 1e-6 * before.mass, "the mass stayed");
    expect(after.centre_of_mass[1] < before.centre_of_mass[1], "the water fell");
    expect(after.lowest[1] > -1e-3, "the floor held");
    expect(after.lowest[0] > -HALF_BOX - 1e-3 && after.highest[0] < HALF_BOX + 1e-3, "the walls held");
    expect(after.density_error_mean < 0.1, "the water is hardly compressed");
    mote_world_destroy(world);
    return 0;
}
