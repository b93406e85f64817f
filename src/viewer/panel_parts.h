// SPDX-License-Identifier: MIT
// panel_parts.h - parts of the panel, shared by panel*.cpp, the only files that use Dear ImGui.
#ifndef MOTE_VIEWER_PANEL_PARTS_H
#define MOTE_VIEWER_PANEL_PARTS_H

#include "viewer/panel.h"

namespace panel
{

extern float scale; // of everything, to the display's density

void tooltip(const char *text); // of the last item

// The list of the scene's values (panel_values.cpp).
void scene_values(const PanelFacts *facts, const PanelHost *host);

// Over the picture (panel_windows.cpp). `right` is how much of the window's width the side panel leaves, pixels.
void status_line(const PanelFacts *facts, float right);
void error_box(const PanelFacts *facts, float right, float height);
void mesh_question(const PanelFacts *facts, const PanelHost *host, float width, float height);
void help(const PanelFacts *facts, float width, float height);
void browser(const PanelFacts *facts, const PanelHost *host, float right, float height);

} // namespace panel

#endif
