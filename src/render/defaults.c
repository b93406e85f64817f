// SPDX-License-Identifier: MIT
// defaults.c - mote_default_* for the structs of mote_render.h that have no section in scene files. The defaults of the
// others come from the table of keys (src/scene/look.c).
#include "mote_render.h"

MoteRendererOptions mote_default_renderer_options(void)
{
    return (MoteRendererOptions){.device = MOTE_DEVICE_AUTO, .splat = MOTE_SPLAT_AUTO};
}

MoteRenderCollider mote_default_render_collider(void)
{
    return (MoteRenderCollider){.collider = mote_default_collider(), .look = MOTE_LOOK_SOLID};
}

MoteRenderMesh mote_default_render_mesh(void)
{
    return (MoteRenderMesh){.color = {0.8f, 0.8f, 0.8f}, .roughness = 0.5f};
}

MoteRenderInstance mote_default_render_instance(void)
{
    return (MoteRenderInstance){
        .look = MOTE_LOOK_SOLID,
        .tint = {1.0f, 1.0f, 1.0f},
        .pose.rotation = {0.0f, 0.0f, 0.0f, 1.0f},
        .scale = 1.0f,
    };
}

MoteRenderCloth mote_default_render_cloth(void)
{
    return (MoteRenderCloth){
        .color = {0.62f, 0.57f, 0.48f},
        .back_color = {0.62f, 0.57f, 0.48f},
        .pattern_color = {0.55f, 0.06f, 0.05f},
        .pattern_size = 0.1f,
        .roughness = 0.5f,
        .sheen = 0.3f,
        .transmission = 0.2f,
        .weave = 0.005f,
        .thickness = 1.0f,
        .absorption = 1.0f,
        .uv_size = {1.0f, 1.0f},
    };
}

MoteRenderRope mote_default_render_rope(void)
{
    return (MoteRenderRope){.color = {0.55f, 0.42f, 0.25f}, .roughness = 0.6f, .sheen = 0.2f};
}

MotePicture mote_default_picture(void)
{
    return (MotePicture){.width = 1280, .height = 720, .samples = 1};
}
