// SPDX-License-Identifier: MIT
// panel.cpp - the side panel, its input, and the triangles of all open windows.
#include "viewer/panel_parts.h"

extern "C" {
#include "scene/looks.h"
}
#include <SDL.h>
#include <cfloat>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <imgui.h>

using panel::tooltip;

float panel::scale = 1.0f;

void panel::tooltip(const char *text)
{
    if (ImGui::IsItemHovered()) {
        ImGui::BeginTooltip();
        ImGui::PushTextWrapPos(ImGui::GetFontSize() * 30.0f);
        ImGui::TextUnformatted(text);
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
    }
}

namespace
{

bool mouse_down[3], mouse_clicked[3]; // clicked: went down since the last frame, perhaps up again too
#if IMGUI_VERSION_NUM < 18700
bool key_down[SDL_NUM_SCANCODES], key_hit[SDL_NUM_SCANCODES]; // the same of keys
#endif

// ---- Input ----

const struct {
    ImGuiKey key;
    SDL_Scancode code;
} edit_keys[] = {
    {ImGuiKey_Tab, SDL_SCANCODE_TAB},
    {ImGuiKey_LeftArrow, SDL_SCANCODE_LEFT},
    {ImGuiKey_RightArrow, SDL_SCANCODE_RIGHT},
    {ImGuiKey_UpArrow, SDL_SCANCODE_UP},
    {ImGuiKey_DownArrow, SDL_SCANCODE_DOWN},
    {ImGuiKey_Home, SDL_SCANCODE_HOME},
    {ImGuiKey_End, SDL_SCANCODE_END},
    {ImGuiKey_Delete, SDL_SCANCODE_DELETE},
    {ImGuiKey_Backspace, SDL_SCANCODE_BACKSPACE},
    {ImGuiKey_Enter, SDL_SCANCODE_RETURN},
    {ImGuiKey_Escape, SDL_SCANCODE_ESCAPE},
    {ImGuiKey_A, SDL_SCANCODE_A},
    {ImGuiKey_C, SDL_SCANCODE_C},
    {ImGuiKey_V, SDL_SCANCODE_V},
    {ImGuiKey_X, SDL_SCANCODE_X},
    {ImGuiKey_Z, SDL_SCANCODE_Z},
};

// Dear ImGui took whole arrays of keys before 1.87 and takes events since.
void set_key(ImGuiIO &io, const SDL_KeyboardEvent &key)
{
    const bool down = key.type == SDL_KEYDOWN;
#if IMGUI_VERSION_NUM < 18700
    if (key.keysym.scancode < SDL_NUM_SCANCODES) {
        key_down[key.keysym.scancode] = down;
        key_hit[key.keysym.scancode] = key_hit[key.keysym.scancode] || down;
    }
    io.KeyShift = (key.keysym.mod & KMOD_SHIFT) != 0;
    io.KeyCtrl = (key.keysym.mod & KMOD_CTRL) != 0;
    io.KeyAlt = (key.keysym.mod & KMOD_ALT) != 0;
#else
    io.AddKeyEvent(ImGuiMod_Shift, (key.keysym.mod & KMOD_SHIFT) != 0);
    io.AddKeyEvent(ImGuiMod_Ctrl, (key.keysym.mod & KMOD_CTRL) != 0);
    for (const auto &row : edit_keys) {
        if (row.code == key.keysym.scancode) {
            io.AddKeyEvent(row.key, down);
        }
    }
#endif
}

int mouse_button(Uint8 button)
{
    return button == SDL_BUTTON_LEFT ? 0 : button == SDL_BUTTON_RIGHT ? 1 : button == SDL_BUTTON_MIDDLE ? 2 : -1;
}

// ---- Parts of the panel ----

// A ring that is not full yet begins at its first value. `low` is the least of the graph's scale; FLT_MAX: by the
// values.
void graph(const char *id, const char *text, const float *values, const PanelFacts *facts, float low, ImVec2 size)
{
    const uint32_t at = facts->history_at, count = facts->history_count;
    ImGui::PlotLines(id, values, static_cast<int>(count), count < PANEL_HISTORY ? 0 : static_cast<int>(at), text, low,
                     FLT_MAX, size);
}

float last_value(const float *values, const PanelFacts *facts)
{
    return facts->history_count > 0 ? values[(facts->history_at + PANEL_HISTORY - 1) % PANEL_HISTORY] : 0.0f;
}

struct ActionButton {
    const char *action, *label, *meaning;
};

void buttons(const ActionButton *rows, int count, const PanelHost *host)
{
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    const float width =
        (ImGui::GetContentRegionAvail().x - gap * static_cast<float>(count - 1)) / static_cast<float>(count);
    for (int i = 0; i < count; i++) {
        if (i > 0) {
            ImGui::SameLine();
        }
        if (ImGui::Button(rows[i].label, ImVec2(width, 0))) {
            host->act(host->data, rows[i].action);
        }
        tooltip(rows[i].meaning);
    }
}

void view_part(const PanelFacts *facts, const PanelHost *host)
{
    if (!ImGui::BeginCombo("view", facts->view)) {
        return;
    }
    char name[64];
    for (uint32_t i = 0; host->view(host->data, i, name); i++) {
        if (ImGui::Selectable(name, std::strcmp(name, facts->view) == 0)) {
            host->set_view(host->data, name);
        }
        uint32_t row = 0;
        const char *known;
        const size_t length = std::strcspn(name, ":");
        while ((known = mote_render_view_name(row)) != nullptr &&
               (std::strncmp(known, name, length) != 0 || known[length] != '\0')) {
            row++;
        }
        if (known != nullptr) {
            tooltip(mote_render_view_meaning(row));
        }
    }
    ImGui::EndCombo();
}

// Looks set values of a running scene; which one it began with is not known here.
void look_part(const PanelHost *host)
{
    if (!ImGui::BeginCombo("look", "choose")) {
        return;
    }
    const char *name, *meaning;
    for (uint32_t look = 0; scene_look(look, &name, &meaning); look++) {
        if (ImGui::Selectable(name)) {
            const SceneKey *key;
            double numbers[3];
            for (uint32_t i = 0; scene_look_value(look, i, &key, numbers); i++) {
                host->set(host->data, static_cast<uint32_t>(key - scene_keys), 0, numbers);
            }
        }
        tooltip(meaning);
    }
    ImGui::EndCombo();
}

void time_part(const PanelFacts *facts, const PanelHost *host)
{
    const ActionButton time[] = {{"pause", facts->paused ? "Run" : "Pause", "Pause, or go on"},
                                 {"step", "Step", "Compute one frame and pause"},
                                 {"reset", "Reset", "Begin anew, with the changes made here"},
                                 {"browse", "Scenes", "The scenes to choose from"},
                                 {"help", "Help", "What keys and mouse do"}};
    const ActionButton pictures[] = {
        {"capture", "PNG", "Write a picture of what is seen"},
        {"capture_exr", "EXR", "Write an OpenEXR picture with depth, normals, thickness and ids"},
        {"record", facts->recording ? "Stop film" : "Film", "Begin or end recording a film"},
        {"frame_all", "Show all", "Move the camera so that all particles are seen"}};
    const ActionButton files[] = {{"save_state", "Save state", "Write all that is needed to go on from here"},
                                  {"load_state", "Load state", "Go on from the state that was saved last"},
                                  {"copy_camera", "Copy camera", "As JSON, to be pasted into a scene file"}};
    buttons(time, 5, host);
    buttons(pictures, 4, host);
    buttons(files, 3, host);
    ImGui::PushItemWidth(-50 * panel::scale);
    float speed = static_cast<float>(facts->speed);
    if (ImGui::SliderFloat("speed", &speed, 1.0f / 64.0f, 8.0f, "%.3f x real time", ImGuiSliderFlags_Logarithmic)) {
        host->set_speed(host->data, static_cast<double>(speed));
    }
    tooltip("Seconds of the simulation a second, where it can be computed so fast");
    ImGui::PopItemWidth();
    // Beside each other, so that the panel is no longer than it was.
    const float half = 0.5f * ImGui::GetContentRegionAvail().x;
    ImGui::SetNextItemWidth(half - 40 * panel::scale);
    view_part(facts, host);
    ImGui::SameLine(half + 8 * panel::scale);
    ImGui::SetNextItemWidth(half - 50 * panel::scale);
    look_part(host);
}

// A row of a table: what it is, and its number, which stays where it is when it changes.
void row(const char *name, const char *format, ...) IM_FMTARGS(2);
void row(const char *name, const char *format, ...)
{
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", name);
    ImGui::TableNextColumn();
    va_list values;
    va_start(values, format);
    ImGui::TextV(format, values);
    va_end(values);
}

void counts(const PanelFacts *facts)
{
    const Measures *m = facts->measures;
    const MoteStatistics *s = facts->statistics;
    row("particles", "%u", facts->particles);
    row("bodies", "%u", facts->bodies);
    if (s == nullptr || m == nullptr) {
        return;
    }
    row("  of liquid", "%u, a density constraint each", m->liquid);
    row("  grains", "%u", m->grains);
    row("  of bodies", "%u, in %u clusters", m->members, m->clusters);
    row("contacts", "%llu", static_cast<unsigned long long>(m->contacts));
    row("colliders", "%u", m->colliders);
    row("neighbours", "%.1f mean, %u most", s->neighbours_mean, s->neighbours_max);
    row("neighbour pairs", "%llu", static_cast<unsigned long long>(m->neighbour_pairs));
    row("density error", "%.3f %% mean, %.2f %% most", 100.0 * s->density_error_mean, 100.0 * s->density_error_max);
    row("overlap", "%.3f %% mean, %.2f %% most", 100.0 * m->overlap_mean, 100.0 * m->overlap_max);
    row("kinetic energy", "%.4g J", s->kinetic_energy);
    row("potential energy", "%.4g J", s->potential_energy);
    row("solver's memory", "%.1f MB", static_cast<double>(s->memory_bytes) * 1e-6);
}

void numbers_part(const PanelFacts *facts)
{
    if (ImGui::BeginTable("##numbers", 2, ImGuiTableFlags_SizingStretchProp)) {
        ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthFixed, 124 * panel::scale);
        ImGui::TableSetupColumn("number", ImGuiTableColumnFlags_WidthStretch);
        counts(facts);
        if (facts->interop != nullptr && facts->device != nullptr) {
            row("renderer's memory", "%.1f MB", static_cast<double>(facts->interop->device_bytes) * 1e-6);
            row("simulated on", "%s", facts->backend);
            row("drawn on", "%s", facts->device->name);
        }
        ImGui::EndTable();
    }
}

void graphs_part(const PanelFacts *facts)
{
    const char *const names[PANEL_HISTORIES] = {"ms a frame",           "ms a picture",      "density error, %",
                                                "contacts' overlap, %", "kinetic energy, J", "whole energy, J"};
    for (int i = 0; i < PANEL_HISTORIES; i++) {
        const float *values = facts->history + i * PANEL_HISTORY;
        char text[64];
        snprintf(text, sizeof text, "%.4g", static_cast<double>(last_value(values, facts)));
        ImGui::SetNextItemWidth(-150 * panel::scale);
        graph(names[i], text, values, facts, i == PANEL_HISTORIES - 1 ? FLT_MAX : 0.0f, ImVec2(0, 32 * panel::scale));
    }
}

void timing_row(const char *name, const float *values, const PanelFacts *facts, int id)
{
    const float value = last_value(values, facts);
    if (!(value > 0.0f)) {
        return;
    }
    ImGui::PushID(id);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(name);
    ImGui::TableNextColumn();
    ImGui::Text("%9.3f", static_cast<double>(value));
    ImGui::TableNextColumn();
    graph("##graph", nullptr, values, facts, 0.0f,
          ImVec2(ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight()));
    ImGui::PopID();
}

bool begin_timings(const char *label)
{
    if (!ImGui::TreeNode(label)) {
        return false;
    }
    if (!ImGui::BeginTable("##timings", 3, ImGuiTableFlags_SizingStretchProp)) {
        ImGui::TreePop();
        return false;
    }
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.3f);
    ImGui::TableSetupColumn("ms", ImGuiTableColumnFlags_WidthFixed, 66 * panel::scale);
    ImGui::TableSetupColumn("graph", ImGuiTableColumnFlags_WidthStretch, 1.0f);
    return true;
}

void timings_part(const PanelFacts *facts)
{
    if (facts->timing_frames > 0 && begin_timings("kernels of the solver, ms a frame")) {
        for (uint32_t i = 0; i < facts->timing_count; i++) {
            timing_row(facts->timings[i].name, facts->history_timings + i * PANEL_HISTORY, facts, static_cast<int>(i));
        }
        ImGui::EndTable();
        ImGui::TreePop();
    }
    if (begin_timings("passes of the renderer, ms a picture")) {
        for (uint32_t i = 0; i < facts->pass_count; i++) {
            timing_row(facts->passes[i].name, facts->history_passes + i * PANEL_HISTORY, facts, static_cast<int>(i));
        }
        ImGui::EndTable();
        ImGui::TreePop();
    }
}

float panel_width(float width)
{
    return std::fmin(400 * panel::scale, 0.6f * width);
}

void side_panel(const PanelFacts *facts, const PanelHost *host, float width, float height)
{
    const float w = panel_width(width);
    ImGui::SetNextWindowPos(ImVec2(width - w - 8, 8), ImGuiCond_Always);
    ImGui::SetNextWindowSize(ImVec2(w, height - 16), ImGuiCond_Always);
    ImGui::SetNextWindowBgAlpha(0.86f);
    if (ImGui::Begin("Mote", nullptr,
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse)) {
        time_part(facts, host);
        if (facts->inspected[0] != '\0' && ImGui::CollapsingHeader("Particle", ImGuiTreeNodeFlags_DefaultOpen)) {
            if (ImGui::BeginChild("##particle", ImVec2(0, 190 * panel::scale))) {
                ImGui::TextUnformatted(facts->inspected);
            }
            ImGui::EndChild();
        }
        if (facts->has_scene && ImGui::CollapsingHeader("Scene", ImGuiTreeNodeFlags_DefaultOpen)) {
            panel::scene_values(facts, host);
        }
        if (ImGui::CollapsingHeader("Numbers", ImGuiTreeNodeFlags_DefaultOpen)) {
            numbers_part(facts);
        }
        if (ImGui::CollapsingHeader("Graphs", ImGuiTreeNodeFlags_DefaultOpen)) {
            graphs_part(facts);
        }
        if (ImGui::CollapsingHeader("Timings")) {
            timings_part(facts);
        }
    }
    ImGui::End();
}

// ---- Triangles ----

template <typename T> bool grow(T **array, uint32_t *room, uint32_t wanted)
{
    if (wanted <= *room) {
        return true;
    }
    const uint32_t size = wanted + wanted / 2;
    T *larger = static_cast<T *>(std::realloc(*array, size * sizeof(T)));
    if (larger == nullptr) {
        return false;
    }
    *array = larger;
    *room = size;
    return true;
}

static_assert(sizeof(DrawVertex) == sizeof(ImDrawVert), "vertices are copied as they are");

bool add_list(const ImDrawList *from, DrawList *to)
{
    const uint32_t vertices = static_cast<uint32_t>(from->VtxBuffer.Size);
    const uint32_t indices = static_cast<uint32_t>(from->IdxBuffer.Size);
    const uint32_t commands = static_cast<uint32_t>(from->CmdBuffer.Size);
    if (!grow(&to->vertices, &to->vertex_room, to->vertex_count + vertices) ||
        !grow(&to->indices, &to->index_room, to->index_count + indices) ||
        !grow(&to->commands, &to->command_room, to->command_count + commands)) {
        return false;
    }
    if (vertices > 0) {
        std::memcpy(static_cast<void *>(to->vertices + to->vertex_count), from->VtxBuffer.Data,
                    vertices * sizeof(DrawVertex));
    }
    for (const ImDrawCmd &command : from->CmdBuffer) {
        if (command.UserCallback != nullptr || command.ElemCount == 0) {
            continue;
        }
        DrawCommand *out = &to->commands[to->command_count++];
        *out = DrawCommand{};
        out->clip[0] = static_cast<int32_t>(command.ClipRect.x);
        out->clip[1] = static_cast<int32_t>(command.ClipRect.y);
        out->clip[2] = static_cast<int32_t>(command.ClipRect.z);
        out->clip[3] = static_cast<int32_t>(command.ClipRect.w);
        out->texture = static_cast<uint32_t>(reinterpret_cast<intptr_t>(command.GetTexID()));
        out->opaque = out->texture == TEXTURE_SCENE;
        out->exact = out->texture == TEXTURE_FONT;
        out->first_index = to->index_count + command.IdxOffset;
        out->index_count = command.ElemCount;
        for (uint32_t i = 0; i < command.ElemCount; i++) {
            to->indices[out->first_index + i] =
                to->vertex_count + command.VtxOffset + from->IdxBuffer.Data[command.IdxOffset + i];
        }
    }
    to->vertex_count += vertices;
    to->index_count += indices;
    return true;
}

} // namespace

bool panel_create(float scale)
{
    IMGUI_CHECKVERSION();
    panel::scale = scale;
    if (ImGui::CreateContext() == nullptr) {
        return false;
    }
    ImGuiIO &io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
#if IMGUI_VERSION_NUM < 18700
    for (const auto &row : edit_keys) {
        io.KeyMap[row.key] = row.code;
    }
#endif
    ImFontConfig font;
    font.SizePixels = std::floor(13.0f * scale);
    io.Fonts->AddFontDefault(&font);
    io.Fonts->Flags |= ImFontAtlasFlags_NoBakedLines; // which lie between pixels; letters do not
    ImGui::StyleColorsDark();
    ImGui::GetStyle().ScaleAllSizes(scale);
    ImGui::GetStyle().WindowRounding = 5.0f;
    ImGui::GetStyle().FrameRounding = 3.0f;
    return true;
}

void panel_destroy(void)
{
    if (ImGui::GetCurrentContext() != nullptr) {
        ImGui::DestroyContext();
    }
}

const uint8_t *panel_font(uint32_t *width, uint32_t *height)
{
    unsigned char *pixels;
    int w, h;
    ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &w, &h);
    ImGui::GetIO().Fonts->SetTexID(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(TEXTURE_FONT)));
    *width = static_cast<uint32_t>(w);
    *height = static_cast<uint32_t>(h);
    return pixels;
}

void panel_event(const union SDL_Event *event)
{
    ImGuiIO &io = ImGui::GetIO();
    switch (event->type) {
    case SDL_MOUSEMOTION:
        io.MousePos = ImVec2(static_cast<float>(event->motion.x), static_cast<float>(event->motion.y));
        break;
    case SDL_MOUSEBUTTONDOWN:
    case SDL_MOUSEBUTTONUP: {
        const int button = mouse_button(event->button.button);
        if (button >= 0) {
            io.MousePos = ImVec2(static_cast<float>(event->button.x), static_cast<float>(event->button.y));
            mouse_down[button] = event->type == SDL_MOUSEBUTTONDOWN;
            mouse_clicked[button] = mouse_clicked[button] || mouse_down[button];
        }
        break;
    }
    case SDL_MOUSEWHEEL:
        io.MouseWheel += static_cast<float>(event->wheel.y);
        break;
    case SDL_TEXTINPUT:
        io.AddInputCharactersUTF8(event->text.text);
        break;
    case SDL_KEYDOWN:
    case SDL_KEYUP:
        set_key(io, event->key);
        break;
    default:
        break;
    }
}

bool panel_wants_mouse(void)
{
    return ImGui::GetIO().WantCaptureMouse;
}

bool panel_wants_keyboard(void)
{
    return ImGui::GetIO().WantTextInput;
}

bool panel_build(uint32_t width, uint32_t height, double elapsed, const PanelFacts *facts, const PanelHost *host,
                 DrawList *list)
{
    ImGuiIO &io = ImGui::GetIO();
    const float w = static_cast<float>(width), h = static_cast<float>(height);
    io.DisplaySize = ImVec2(w, h);
    io.DeltaTime = static_cast<float>(elapsed > 1e-4 ? elapsed : 1e-4);
    for (int i = 0; i < 3; i++) {
        io.MouseDown[i] = mouse_down[i] || mouse_clicked[i];
        mouse_clicked[i] = false;
    }
#if IMGUI_VERSION_NUM < 18700
    for (const auto &row : edit_keys) {
        io.KeysDown[row.code] = key_down[row.code] || key_hit[row.code];
        key_hit[row.code] = false;
    }
#endif
    ImGui::NewFrame();
    ImGui::GetBackgroundDrawList()->AddImage(reinterpret_cast<ImTextureID>(static_cast<intptr_t>(TEXTURE_SCENE)),
                                             ImVec2(0, 0), ImVec2(w, h));
    for (uint32_t i = 0; i < facts->mark_count; i++) {
        const PanelMark &mark = facts->marks[i];
        const ImU32 color = mark.kind == PANEL_MARK_PICKED    ? IM_COL32(255, 255, 255, 255)
                            : mark.kind == PANEL_MARK_CONTACT ? IM_COL32(255, 150, 40, 255)
                                                              : IM_COL32(60, 220, 255, 200);
        ImGui::GetBackgroundDrawList()->AddCircle(ImVec2(mark.x, mark.y), mark.radius, color, 0,
                                                  mark.kind == PANEL_MARK_PICKED ? 2.5f : 1.2f);
    }
    const float right = facts->panel ? w - panel_width(w) - 8 : w;
    panel::status_line(facts, right);
    if (facts->panel) {
        side_panel(facts, host, w, h);
    }
    if (facts->browser) {
        panel::browser(facts, host, right, h);
    }
    if (facts->help) {
        panel::help(facts, w, h);
    }
    if (facts->dropped[0] != '\0') {
        panel::mesh_question(facts, host, w, h);
    }
    panel::error_box(facts, right, h);
    ImGui::Render();
    const ImDrawData *data = ImGui::GetDrawData();
    list->vertex_count = list->index_count = list->command_count = 0;
    bool fits = true;
    for (int i = 0; i < data->CmdListsCount && fits; i++) {
        fits = add_list(data->CmdLists[i], list);
    }
    return fits;
}
