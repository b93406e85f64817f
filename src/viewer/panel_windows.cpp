// SPDX-License-Identifier: MIT
// panel_windows.cpp - windows over the picture: status line, errors, help, scene browser.
#include "viewer/panel_parts.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <imgui.h>

namespace panel
{
namespace
{

constexpr ImGuiWindowFlags box_flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize |
                                       ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing;

// Numbers have a width of their own: the line would tremble otherwise.
void running_lines(const PanelFacts *facts)
{
    ImGui::Text("%s   frame %llu   %.2f s   %s", facts->name, static_cast<unsigned long long>(facts->frame),
                facts->time,
                facts->failed   ? "stopped: the simulation failed"
                : facts->paused ? "paused"
                                : "");
    const double real = facts->frame_rate > 0.0 ? facts->frames_a_second / facts->frame_rate : 0.0;
    ImGui::Text("%5.2f x real time (%.3g wanted) %7.1f ms a frame", real, facts->speed, 1e3 * facts->frame_seconds);
    ImGui::Text("%5.1f pictures a second %7.1f ms a picture of %u x %u", facts->pictures_a_second,
                1e3 * facts->picture_seconds, facts->picture_width, facts->picture_height);
    if (std::strcmp(facts->view, mote_render_view_name(0)) != 0) {
        ImGui::Text("view: %s", facts->view);
    }
    if (facts->recording) {
        ImGui::TextColored(ImVec4(1, 0.3f, 0.3f, 1), "recording: %llu frames",
                           static_cast<unsigned long long>(facts->recorded));
    }
}

void action_rows(const PanelFacts *facts, const char *first, const char *last)
{
    const char *group = nullptr;
    bool inside = false;
    for (uint32_t i = 0; i < facts->action_count; i++) {
        const PanelAction *a = &facts->actions[i];
        const bool begins = group == nullptr || std::strcmp(group, a->group) != 0;
        inside = inside || std::strcmp(a->group, first) == 0;
        if (begins && group != nullptr && inside && std::strcmp(group, last) == 0) {
            return;
        }
        group = a->group;
        if (inside && begins) {
            ImGui::TextDisabled("%s", a->group[0] != '\0' ? a->group : "Window");
        }
        if (inside) {
            ImGui::Text("  %-9s %s", a->key, a->meaning);
        }
    }
}

void mouse_rows()
{
    const struct {
        const char *what, *meaning;
    } rows[] = {
        {"Left drag", "Turn about the scene"},
        {"Right drag", "Look around"},
        {"Middle drag", "Move sideways"},
        {"Wheel", "Nearer, farther"},
        {"Shift + drag", "Hold a body, a dynamic collider, grains or liquid"},
        {"Ctrl + drag", "Throw a ball: the longer the drag, the faster"},
        {"Alt + click", "Follow a particle: values, neighbours, contacts"},
        {"Drop a file", "Open a scene, or put a mesh into it"},
    };
    ImGui::TextDisabled("Mouse");
    for (const auto &row : rows) {
        ImGui::Text("  %-13s %s", row.what, row.meaning);
    }
}

void scene_tile(const PanelScene *scene, const PanelHost *host)
{
    const ImVec2 size(176 * scale, 99 * scale);
    ImGui::PushID(scene->path);
    ImGui::BeginGroup();
    bool chosen = false;
    if (scene->texture != 0) {
        const ImVec2 at = ImGui::GetCursorScreenPos();
        chosen = ImGui::InvisibleButton("##open", size);
        ImGui::GetWindowDrawList()->AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(scene->texture)), at,
                                             ImVec2(at.x + size.x, at.y + size.y));
        if (ImGui::IsItemHovered()) {
            ImGui::GetWindowDrawList()->AddRect(at, ImVec2(at.x + size.x, at.y + size.y), IM_COL32(255, 255, 255, 200),
                                                0, 0, 2);
        }
    } else {
        chosen = ImGui::Button("##open", size);
    }
    tooltip(scene->path);
    ImGui::TextUnformatted(scene->name);
    ImGui::EndGroup();
    if (chosen) {
        host->open(host->data, scene->path);
    }
    ImGui::PopID();
}

void scene_tiles(const PanelScene *scenes, uint32_t count, const PanelHost *host)
{
    const float right = ImGui::GetWindowPos().x + ImGui::GetWindowContentRegionMax().x;
    for (uint32_t i = 0; i < count; i++) {
        scene_tile(&scenes[i], host);
        const float next = ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + 176 * scale;
        if (i + 1 < count && next < right) {
            ImGui::SameLine();
        }
    }
}

} // namespace

void status_line(const PanelFacts *facts, float right)
{
    ImGui::SetNextWindowPos(ImVec2(8, 8), ImGuiCond_Always);
    ImGui::SetNextWindowBgAlpha(0.55f);
    if (ImGui::Begin("##status", nullptr, box_flags | ImGuiWindowFlags_NoInputs)) {
        ImGui::PushTextWrapPos(std::fmax(right - 24, 200 * scale));
        if (facts->loading) {
            ImGui::Text("Loading %s", facts->path);
        } else if (facts->has_scene) {
            running_lines(facts);
        } else {
            ImGui::TextUnformatted("No scene: drop one here, or press L for the scenes");
        }
        if (facts->notice[0] != '\0') {
            ImGui::TextUnformatted(facts->notice);
        }
        if (facts->hint[0] != '\0') {
            ImGui::TextColored(ImVec4(1, 0.85f, 0.5f, 1), "%s", facts->hint);
        }
        ImGui::PopTextWrapPos();
    }
    ImGui::End();
}

void error_box(const PanelFacts *facts, float right, float height)
{
    if (facts->error[0] == '\0') {
        return;
    }
    const float widest = std::fmax(right - 16, 200 * scale);
    ImGui::SetNextWindowPos(ImVec2(8, height - 8), ImGuiCond_Always, ImVec2(0, 1));
    ImGui::SetNextWindowSizeConstraints(ImVec2(200, 0), ImVec2(widest, 0.5f * height));
    ImGui::SetNextWindowBgAlpha(0.9f);
    if (ImGui::Begin("##error", nullptr, box_flags)) {
        ImGui::PushTextWrapPos(widest - 16);
        ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(1, 0.55f, 0.45f, 1));
        ImGui::TextUnformatted(facts->error);
        ImGui::PopStyleColor();
        ImGui::PopTextWrapPos();
    }
    ImGui::End();
}

void mesh_question(const PanelFacts *facts, const PanelHost *host, float width, float height)
{
    ImGui::SetNextWindowPos(ImVec2(0.5f * width, 0.5f * height), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
    if (ImGui::Begin("A mesh", nullptr,
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse)) {
        ImGui::TextUnformatted(facts->dropped);
        ImGui::TextUnformatted("What is it to be? The scene begins anew with it.");
        const struct {
            const char *label, *section;
        } choices[] = {{"A body that falls", "bodies"}, {"A collider that stays", "colliders"}, {"Nothing", nullptr}};
        for (const auto &choice : choices) {
            if (ImGui::Button(choice.label)) {
                host->add_mesh(host->data, choice.section);
            }
            ImGui::SameLine();
        }
    }
    ImGui::End();
}

// Two columns, so that all of it is seen at once; one in a narrow window.
void help(const PanelFacts *facts, float width, float height)
{
    ImGui::SetNextWindowPos(ImVec2(0.5f * width, 0.5f * height), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
    ImGui::SetNextWindowSizeConstraints(ImVec2(0, 0), ImVec2(width - 16, height - 16));
    ImGui::SetNextWindowBgAlpha(0.97f);
    ImGui::SetNextWindowFocus();
    if (ImGui::Begin("Keys and mouse", nullptr,
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                         ImGuiWindowFlags_NoFocusOnAppearing)) {
        ImGui::BeginGroup();
        action_rows(facts, "Time", "View");
        ImGui::EndGroup();
        if (width > 1020 * scale) {
            ImGui::SameLine(0, 28 * scale);
        }
        ImGui::BeginGroup();
        action_rows(facts, "Scenes", "");
        mouse_rows();
        ImGui::EndGroup();
    }
    ImGui::End();
}

void browser(const PanelFacts *facts, const PanelHost *host, float right, float height)
{
    const float top = 76 * scale;
    ImGui::SetNextWindowPos(ImVec2(8, top), ImGuiCond_Always);
    ImGui::SetNextWindowSize(ImVec2(std::fmax(right - 16, 210 * scale), std::fmax(height - top - 8, 120 * scale)));
    ImGui::SetNextWindowBgAlpha(0.93f);
    if (ImGui::Begin("Scenes", nullptr,
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse |
                         ImGuiWindowFlags_NoFocusOnAppearing)) {
        if (facts->recent_count > 0) {
            ImGui::TextDisabled("Recently used");
            ImGui::PushID("recent");
            scene_tiles(facts->recent, facts->recent_count, host);
            ImGui::PopID();
            ImGui::Separator();
        }
        scene_tiles(facts->scenes, facts->scene_count, host);
    }
    ImGui::End();
}

} // namespace panel
