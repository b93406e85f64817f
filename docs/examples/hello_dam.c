// SPDX-License-Identifier: MIT
// hello_dam.c - runs a second of a scene and says where its centre of mass is.
#include <mote.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MoteScene *scene = NULL;
    MoteSimulation *simulation = NULL;
    MoteStatistics now;
    MoteResult result = mote_scene_load(argc > 1 ? argv[1] : "scenes/dam_break.json", NULL, 0, &scene);
    if (result == MOTE_OK) {
        result = mote_simulation_create(scene, NULL, &simulation); // NULL: on the best backend that is here
    }
    for (int frame = 0; frame < 60 && result == MOTE_OK; frame++) {
        result = mote_simulation_advance_frame(simulation);
    }
    if (result == MOTE_OK) {
        result = mote_world_statistics(mote_simulation_world(simulation), &now);
    }
    if (result == MOTE_OK) {
        printf("%u particles, centre of mass at %.4f %.4f %.4f m\n", (unsigned)now.particles, now.centre_of_mass[0],
               now.centre_of_mass[1], now.centre_of_mass[2]);
    } else {
        fprintf(stderr, "hello_dam: %s\n", mote_error_message());
    }
    mote_simulation_destroy(simulation);
    mote_scene_destroy(scene);
    return result == MOTE_OK ? 0 : 1;
}
