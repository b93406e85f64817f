#include "viewer/panel.h"

extern "C" {
#include "scene/keys.h"
}

#include <SDL.h>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <imgui.h>

namespace
{

float ui_scale = 1.0f;
char filter[64];
char save_path[1024];
bool mouse_down[3], mouse_clicked[3]; // clicked: went down since the last frame, perhaps up again too

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
    io.KeysDown[key.keysym.scancode] = down;
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

// ---- Small things ----

void tooltip(const char *text)
{
    if (ImGui::IsItemHovered()) {
        ImGui::BeginTooltip();
        ImGui::PushTextWrapPos(ImGui::GetFontSize() * 30.0f);
        ImGui::TextUnformatted(text);
        ImGui::PopTextWrapPos();
        ImGui::EndTooltip();
    }
}

// A ring that is not full yet begins at its first value.
void plot(const char *label, const float *values, const PanelFacts *facts, const char *format)
{
    const uint32_t at = facts->history_at, count = facts->history_count;
    const float last = values[(at + PANEL_HISTORY - 1) % PANEL_HISTORY];
    char text[64];
    snprintf(text, sizeof text, format, static_cast<double>(last));
    ImGui::SetNextItemWidth(-150 * ui_scale);
    ImGui::PlotLines(label, values, static_cast<int>(count), count < PANEL_HISTORY ? 0 : static_cast<int>(at), text,
                     FLT_MAX, FLT_MAX, ImVec2(0, 36 * ui_scale));
}

// ---- Values of the scene ----

bool edit_numbers(const SceneKey &key, double numbers[3])
{
    const bool wide = key.maximum - key.minimum > 1e3; // a slider over it would be of no use
    const char *format = "%.4g";
    bool changed = false;
    if (key.type == SCENE_BOOL) {
        bool on = numbers[0] != 0.0;
        changed = ImGui::Checkbox(key.name, &on);
        numbers[0] = on ? 1.0 : 0.0;
    } else if (key.type == SCENE_CHOICE) {
        char words[512] = "";
        snprintf(words, sizeof words - 1, "%s", key.choices);
        for (char *c = words; *c != '\0'; c++) {
            *c = *c == '|' ? '\0' : *c;
        }
        int index = static_cast<int>(numbers[0]);
        changed = ImGui::Combo(key.name, &index, words);
        numbers[0] = index;
    } else if (key.type == SCENE_UINT) {
        int value = numbers[0] < 2147483647.0 ? static_cast<int>(numbers[0]) : 2147483647;
        const int low = static_cast<int>(key.minimum);
        const int high = key.maximum < 2147483647.0 ? static_cast<int>(key.maximum) : 2147483647;
        changed = wide ? ImGui::DragInt(key.name, &value, 1.0f, low, high, "%d", ImGuiSliderFlags_AlwaysClamp)
                       : ImGui::SliderInt(key.name, &value, low, high, "%d", ImGuiSliderFlags_AlwaysClamp);
        numbers[0] = value;
    } else {
        const bool is_color = key.type == SCENE_VEC3 && std::strstr(key.name, "color") != nullptr && key.maximum <= 1.0;
        const int count = key.type == SCENE_VEC3 ? 3 : 1;
        float values[3] = {0, 0, 0};
        float largest = 0.01f;
        for (int i = 0; i < count; i++) {
            values[i] = static_cast<float>(numbers[i]);
            largest = std::fmax(largest, std::fabs(values[i]));
        }
        const float low = static_cast<float>(key.minimum), high = static_cast<float>(key.maximum);
        if (is_color) {
            changed = ImGui::ColorEdit3(key.name, values, ImGuiColorEditFlags_Float);
        } else if (wide || count == 3) {
            changed = ImGui::DragScalarN(key.name, ImGuiDataType_Float, values, count, 0.005f * largest, &low, &high,
                                         format, ImGuiSliderFlags_AlwaysClamp);
        } else {
            changed = ImGui::SliderFloat(key.name, values, low, high, format,
                                         ImGuiSliderFlags_AlwaysClamp |
                                             (high - low > 50.0f ? ImGuiSliderFlags_Logarithmic : 0));
        }
        for (int i = 0; i < count; i++) {
            numbers[i] = values[i];
        }
    }
    return changed;
}

// The table's default; false where it has none.
bool default_of(const SceneKey &key, double numbers[3])
{
    static char element[8192];
    if (key.animation == SCENE_REQUIRED || scene_sections[key.section].element_size > sizeof element) {
        return false;
    }
    scene_defaults(key.section, element);
    scene_key_fetch(&key, element, numbers);
    return true;
}

void key_row(uint32_t index, uint32_t element, const PanelHost *host)
{
    const SceneKey &key = scene_keys[index];
    double numbers[3] = {0, 0, 0}, standard[3] = {0, 0, 0};
    if (key.type == SCENE_STRING || key.type == SCENE_PATH || key.type == SCENE_MESH ||
        !host->value(host->data, index, element, numbers)) {
        return;
    }
    ImGui::PushID(static_cast<int>(index * 1000 + element));
    if (edit_numbers(key, numbers)) {
        host->set(host->data, index, element, numbers);
    }
    const bool live = host->is_live(host->data, index, element);
    char text[1024];
    snprintf(text, sizeof text, "%s.%s%s%s\n%s\nRange %.6g to %.6g, default %s%s", scene_sections[key.section].json_key,
             key.name, key.unit[0] != '\0' ? ", " : "", key.unit, key.meaning, key.minimum, key.maximum,
             key.standard[0] != '\0' ? key.standard : "none", live ? "" : "\nTakes effect with the next reset (R)");
    tooltip(text);
    if (default_of(key, standard) && std::memcmp(numbers, standard, sizeof(double) * scene_key_components(&key)) != 0) {
        ImGui::SameLine();
        if (ImGui::SmallButton("x")) {
            host->set(host->data, index, element, standard);
        }
        tooltip("Back to the default");
    }
    if (!live) {
        ImGui::SameLine();
        ImGui::TextDisabled("R");
        tooltip("Takes effect with the next reset (R)");
    }
    ImGui::PopID();
}

bool matches(const SceneKey &key)
{
    return filter[0] == '\0' || std::strstr(key.name, filter) != nullptr ||
           std::strstr(scene_sections[key.section].json_key, filter) != nullptr;
}

void element_rows(uint32_t section, uint32_t element, const PanelHost *host)
{
    for (uint32_t i = 0; i < scene_key_count; i++) {
        if (scene_keys[i].section == static_cast<SceneSection>(section) && matches(scene_keys[i])) {
            key_row(i, element, host);
        }
    }
}

void scene_values(const PanelFacts *facts, const PanelHost *host)
{
    ImGui::SetNextItemWidth(-80 * ui_scale);
    ImGui::InputTextWithHint("##filter", "Find a value", filter, sizeof filter);
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const uint32_t count = host->elements(host->data, s);
        bool any = false;
        for (uint32_t i = 0; i < scene_key_count; i++) {
            any = any || (scene_keys[i].section == static_cast<SceneSection>(s) && matches(scene_keys[i]));
        }
        if (count == 0 || !any) {
            continue;
        }
        if (filter[0] != '\0') {
            ImGui::SetNextItemOpen(true);
        }
        ImGui::PushID(static_cast<int>(s));
        const bool open = ImGui::TreeNode(scene_sections[s].json_key);
        tooltip(scene_sections[s].meaning);
        if (open) {
            ImGui::PushItemWidth(-130 * ui_scale);
            for (uint32_t e = 0; e < count; e++) {
                char name[64] = "", label[96];
                host->element_name(host->data, s, e, name);
                snprintf(label, sizeof label, "%s %s", scene_sections[s].json_key, name);
                if (name[0] == '\0') {
                    snprintf(label, sizeof label, "%s[%u]", scene_sections[s].json_key, e);
                }
                if (scene_sections[s].kind == SCENE_OBJECT) {
                    element_rows(s, e, host);
                } else if (ImGui::TreeNode(label)) {
                    element_rows(s, e, host);
                    ImGui::TreePop();
                }
            }
            ImGui::PopItemWidth();
            ImGui::TreePop();
        }
        ImGui::PopID();
    }
    ImGui::Separator();
    if (save_path[0] == '\0' || ImGui::Button("Name after scene")) {
        snprintf(save_path, sizeof save_path, "%.1000s", facts->path);
        char *dot = std::strrchr(save_path, '.');
        if (dot != nullptr && std::strchr(dot, '/') == nullptr) {
            *dot = '\0';
        }
        std::strncat(save_path, "_changed.json", sizeof save_path - std::strlen(save_path) - 1);
    }
    ImGui::SetNextItemWidth(-60 * ui_scale);
    ImGui::InputText("##save", save_path, sizeof save_path);
    ImGui::SameLine();
    if (ImGui::Button("Save")) {
        host->save_scene(host->data, save_path);
    }
    tooltip("Write the scene with the changes made here to this file");
    if (facts->changes > 0) {
        ImGui::Text("%u changed", facts->changes);
        ImGui::SameLine();
        if (ImGui::Button("Forget changes")) {
            host->forget_changes(host->data);
        }
    }
}

// ---- Parts of the panel ----

void time_part(const PanelFacts *facts, const PanelHost *host)
{
    if (ImGui::Button(facts->paused ? "Run" : "Pause", ImVec2(70 * ui_scale, 0))) {
        host->act(host->data, "pause");
    }
    ImGui::SameLine();
    if (ImGui::Button("Step")) {
        host->act(host->data, "step");
    }
    ImGui::SameLine();
    if (ImGui::Button("Reset")) {
        host->act(host->data, "reset");
    }
    ImGui::SameLine();
    if (ImGui::Button("Scenes")) {
        host->act(host->data, "browse");
    }
    ImGui::SameLine();
    if (ImGui::Button("Help")) {
        host->act(host->data, "help");
    }
    if (ImGui::Button("Picture")) {
        host->act(host->data, "capture");
    }
    ImGui::SameLine();
    if (ImGui::Button(facts->recording ? "Stop film" : "Film")) {
        host->act(host->data, "record");
    }
    ImGui::SameLine();
    if (ImGui::Button("Show all")) {
        host->act(host->data, "frame_all");
    }
    ImGui::SameLine();
    if (ImGui::Button("Save state")) {
        host->act(host->data, "save_state");
    }
    float speed = static_cast<float>(facts->speed);
    ImGui::SetNextItemWidth(-130 * ui_scale);
    if (ImGui::SliderFloat("speed", &speed, 1.0f / 64.0f, 8.0f, "%.3f x real time", ImGuiSliderFlags_Logarithmic)) {
        host->set_speed(host->data, static_cast<double>(speed));
    }
    ImGui::SetNextItemWidth(-130 * ui_scale);
    if (ImGui::BeginCombo("view", facts->view)) {
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
}

void numbers_part(const PanelFacts *facts)
{
    ImGui::Text("%u particles, %u bodies", facts->particles, facts->bodies);
    const MoteStatistics *s = facts->statistics;
    if (s != nullptr) {
        ImGui::Text("density error %.3f %% mean, %.2f %% max", 100.0 * s->density_error_mean,
                    100.0 * s->density_error_max);
        ImGui::Text("energy %.4g J kinetic, %.4g J potential", s->kinetic_energy, s->potential_energy);
        ImGui::Text("%.1f neighbours mean, %u max", s->neighbours_mean, s->neighbours_max);
        ImGui::TextUnformatted(facts->counts);
        ImGui::Text("solver memory %.1f MB", static_cast<double>(s->memory_bytes) * 1e-6);
    }
    if (facts->interop != nullptr && facts->device != nullptr) {
        ImGui::Text("renderer memory %.1f MB", static_cast<double>(facts->interop->device_bytes) * 1e-6);
        ImGui::TextWrapped("simulated on %s, drawn on %s", facts->backend, facts->device->name);
    }
    plot("ms a frame", facts->history_frame, facts, "%.1f");
    plot("ms a picture", facts->history_picture, facts, "%.1f");
    plot("density error, %", facts->history_density, facts, "%.3f");
    plot("contacts' overlap, %", facts->history_overlap, facts, "%.3f");
    plot("kinetic energy, J", facts->history_energy, facts, "%.4g");
}

void timings_part(const PanelFacts *facts)
{
    if (facts->timing_frames > 0 && ImGui::TreeNode("solver, ms a frame")) {
        for (uint32_t i = 0; i < facts->timing_count; i++) {
            const MoteTiming *t = &facts->timings[i];
            if (t->launches > 0) {
                ImGui::Text("%8.3f  %s", t->milliseconds / static_cast<double>(facts->timing_frames), t->name);
            }
        }
        ImGui::TreePop();
    }
    if (ImGui::TreeNode("renderer, ms a picture")) {
        for (uint32_t i = 0; i < facts->pass_count; i++) {
            if (facts->passes[i].milliseconds > 0.0) {
                ImGui::Text("%8.3f  %s", facts->passes[i].milliseconds, facts->passes[i].name);
            }
        }
        ImGui::TreePop();
    }
}

void side_panel(const PanelFacts *facts, const PanelHost *host, float width, float height)
{
    const float w = std::fmin(380 * ui_scale, 0.6f * width);
    ImGui::SetNextWindowPos(ImVec2(width - w - 8, 8), ImGuiCond_Always);
    ImGui::SetNextWindowSize(ImVec2(w, height - 16), ImGuiCond_Always);
    ImGui::SetNextWindowBgAlpha(0.82f);
    if (ImGui::Begin("Mote", nullptr,
                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoCollapse)) {
        time_part(facts, host);
        if (facts->inspected[0] != '\0' && ImGui::CollapsingHeader("Particle", ImGuiTreeNodeFlags_DefaultOpen)) {
            if (ImGui::BeginChild("##particle", ImVec2(0, 190 * ui_scale))) {
                ImGui::TextUnformatted(facts->inspected);
            }
            ImGui::EndChild();
        }
        if (ImGui::CollapsingHeader("Numbers", ImGuiTreeNodeFlags_DefaultOpen)) {
            numbers_part(facts);
        }
        if (ImGui::CollapsingHeader("Timings")) {
            timings_part(facts);
        }
        if (facts->has_scene && ImGui::CollapsingHeader("Scene", ImGuiTreeNodeFlags_DefaultOpen)) {
            scene_values(facts, host);
        }
    }
    ImGui::End();
}

// ---- Over the picture ----

void status_line(const PanelFacts *facts)
{
    ImGui::SetNextWindowPos(ImVec2(8, 8), ImGuiCond_Always);
    ImGui::SetNextWindowBgAlpha(0.55f);
    if (ImGui::Begin("##status", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoInputs |
                         ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing)) {
        if (facts->loading) {
            ImGui::Text("Loading %s", facts->path);
        } else if (facts->has_scene) {
            ImGui::Text("%s   frame %llu   %.2f s   %s", facts->name, static_cast<unsigned long long>(facts->frame),
                        facts->time,
                        facts->failed   ? "stopped: the simulation failed"
                        : facts->paused ? "paused"
                                        : "");
            const double real = facts->frame_rate > 0.0 ? facts->frames_a_second / facts->frame_rate : 0.0;
            ImGui::Text("%.2f x real time (%.3g wanted)   %.1f ms a frame   %.1f ms a picture of %u x %u", real,
                        facts->speed, 1e3 * facts->frame_seconds, 1e3 * facts->picture_seconds, facts->picture_width,
                        facts->picture_height);
            if (std::strcmp(facts->view, mote_render_view_name(0)) != 0) {
                ImGui::Text("view: %s", facts->view);
            }
            if (facts->recording) {
                ImGui::TextColored(ImVec4(1, 0.3f, 0.3f, 1), "recording: %llu frames",
                                   static_cast<unsigned long long>(facts->recorded));
            }
        } else {
            ImGui::Text("No scene: drop one here, or press L for the scenes");
        }
        if (facts->notice[0] != '\0') {
            ImGui::TextUnformatted(facts->notice);
        }
        if (facts->hint[0] != '\0') {
            ImGui::TextDisabled("%s: help", facts->hint);
        }
    }
    ImGui::End();
}

void error_box(const PanelFacts *facts, float width, float height)
{
    if (facts->error[0] == '\0') {
        return;
    }
    ImGui::SetNextWindowPos(ImVec2(8, height - 8), ImGuiCond_Always, ImVec2(0, 1));
    ImGui::SetNextWindowSizeConstraints(ImVec2(200, 0), ImVec2(0.7f * width, 0.5f * height));
    ImGui::SetNextWindowBgAlpha(0.9f);
    if (ImGui::Begin("##error", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoNav |
                         ImGuiWindowFlags_NoFocusOnAppearing)) {
        ImGui::PushTextWrapPos(0.68f * width);
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

void help(const PanelFacts *facts, float width, float height)
{
    ImGui::SetNextWindowPos(ImVec2(0.5f * width, 0.5f * height), ImGuiCond_Always, ImVec2(0.5f, 0.5f));
    ImGui::SetNextWindowSizeConstraints(ImVec2(0, 0), ImVec2(width - 16, height - 16));
    ImGui::SetNextWindowBgAlpha(0.92f);
    if (ImGui::Begin("Keys and mouse", nullptr,
                     ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                         ImGuiWindowFlags_NoFocusOnAppearing)) {
        const struct {
            const char *what, *meaning;
        } mouse[] = {
            {"Left drag", "Turn about the scene"},
            {"Right drag", "Look around"},
            {"Middle drag", "Move sideways"},
            {"Wheel", "Nearer, farther"},
            {"Shift + left drag", "Hold a body, a collider with a mass, a grain or some liquid"},
            {"Ctrl + left drag", "Throw a ball: the longer the drag, the faster"},
            {"Alt + click", "Follow a particle: its values, neighbours and contacts"},
            {"Drop a file", "Open a scene, or put a mesh into it"},
        };
        const char *group = "";
        for (uint32_t i = 0; i < facts->action_count; i++) {
            const PanelAction *a = &facts->actions[i];
            if (std::strcmp(group, a->group) != 0) {
                ImGui::TextDisabled("%s", a->group);
                group = a->group;
            }
            ImGui::Text("%-10s %s", a->key, a->meaning);
        }
        ImGui::TextDisabled("Mouse");
        for (const auto &row : mouse) {
            ImGui::Text("%-18s %s", row.what, row.meaning);
        }
    }
    ImGui::End();
}

void scene_tile(const PanelScene *scene, const PanelHost *host)
{
    const ImVec2 size(176 * ui_scale, 99 * ui_scale);
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
        const float next = ImGui::GetItemRectMax().x + ImGui::GetStyle().ItemSpacing.x + 176 * ui_scale;
        if (i + 1 < count && next < right) {
            ImGui::SameLine();
        }
    }
}

void browser(const PanelFacts *facts, const PanelHost *host, float width, float height)
{
    ImGui::SetNextWindowPos(ImVec2(0.04f * width, 0.1f * height), ImGuiCond_Always);
    ImGui::SetNextWindowSize(
        ImVec2(facts->panel ? width - 400 * ui_scale - 0.06f * width : 0.92f * width, 0.8f * height));
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
    ui_scale = scale;
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
    status_line(facts);
    if (facts->panel) {
        side_panel(facts, host, w, h);
    }
    if (facts->browser) {
        browser(facts, host, w, h);
    }
    if (facts->help) {
        help(facts, w, h);
    }
    if (facts->dropped[0] != '\0') {
        mesh_question(facts, host, w, h);
    }
    error_box(facts, w, h);
    ImGui::Render();
    const ImDrawData *data = ImGui::GetDrawData();
    list->vertex_count = list->index_count = list->command_count = 0;
    bool fits = true;
    for (int i = 0; i < data->CmdListsCount && fits; i++) {
        fits = add_list(data->CmdLists[i], list);
    }
    return fits;
}
