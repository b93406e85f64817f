// SPDX-License-Identifier: MIT
// panel_values.cpp - a row for every value of the scene: name, unit, a control, and a button for its default.
#include "viewer/panel_parts.h"

extern "C" {
#include "scene/keys.h"
}

#include <cmath>
#include <cstdio>
#include <cstring>
#include <imgui.h>

namespace panel
{
namespace
{

char filter[64];
char save_path[1024], saved_after[1024]; // the second: the scene that the first was named after

bool edit_choice(const SceneKey &key, double numbers[3])
{
    char words[512] = "";
    snprintf(words, sizeof words - 1, "%s", key.choices);
    for (char *c = words; *c != '\0'; c++) {
        *c = *c == '|' ? '\0' : *c;
    }
    int index = static_cast<int>(numbers[0]);
    const bool changed = ImGui::Combo("##value", &index, words);
    numbers[0] = index;
    return changed;
}

bool edit_count(const SceneKey &key, bool wide, double numbers[3])
{
    const double most = 2147483647.0;
    int value = static_cast<int>(std::fmin(numbers[0], most));
    const int low = static_cast<int>(key.minimum), high = static_cast<int>(std::fmin(key.maximum, most));
    const bool changed = wide ? ImGui::DragInt("##value", &value, 1.0f, low, high, "%d", ImGuiSliderFlags_AlwaysClamp)
                              : ImGui::SliderInt("##value", &value, low, high, "%d", ImGuiSliderFlags_AlwaysClamp);
    numbers[0] = value;
    return changed;
}

bool edit_floats(const SceneKey &key, bool wide, double numbers[3])
{
    const bool is_color = key.type == SCENE_VEC3 && std::strstr(key.name, "color") != nullptr && key.maximum <= 1.0;
    const int count = key.type == SCENE_VEC3 ? 3 : 1;
    const char *format = count == 3 ? "%.3g" : "%.4g";
    float values[3] = {0, 0, 0};
    float largest = 0.01f;
    for (int i = 0; i < count; i++) {
        values[i] = static_cast<float>(numbers[i]);
        largest = std::fmax(largest, std::fabs(values[i]));
    }
    const float low = static_cast<float>(key.minimum), high = static_cast<float>(key.maximum);
    bool changed;
    if (is_color) { // a square, which opens a larger one, behind the numbers
        ImGui::SetNextItemWidth(-ImGui::GetFrameHeight() - 4 * scale);
    }
    if (wide || count == 3) {
        changed = ImGui::DragScalarN("##value", ImGuiDataType_Float, values, count, 0.005f * largest, &low, &high,
                                     format, ImGuiSliderFlags_AlwaysClamp);
    } else {
        changed =
            ImGui::SliderFloat("##value", values, low, high, format,
                               ImGuiSliderFlags_AlwaysClamp | (high - low > 50.0f ? ImGuiSliderFlags_Logarithmic : 0));
    }
    if (is_color) {
        ImGui::SameLine(0, 4 * scale);
        changed =
            ImGui::ColorEdit3("##color", values, ImGuiColorEditFlags_Float | ImGuiColorEditFlags_NoInputs) || changed;
    }
    for (int i = 0; i < count && changed; i++) { // else they stay as they were, to their last digit
        numbers[i] = values[i];
    }
    return changed;
}

bool edit_numbers(const SceneKey &key, double numbers[3])
{
    const bool wide = key.maximum - key.minimum > 1e3; // a slider over it would be of no use
    ImGui::SetNextItemWidth(-1.0f);
    if (key.type == SCENE_BOOL) {
        bool on = numbers[0] != 0.0;
        const bool changed = ImGui::Checkbox("##value", &on);
        numbers[0] = on ? 1.0 : 0.0;
        return changed;
    }
    return key.type == SCENE_CHOICE ? edit_choice(key, numbers)
           : key.type == SCENE_UINT ? edit_count(key, wide, numbers)
                                    : edit_floats(key, wide, numbers);
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

bool is_text(const SceneKey &key)
{
    return key.type == SCENE_STRING || key.type == SCENE_PATH || key.type == SCENE_MESH || key.type == SCENE_MESHES ||
           key.type == SCENE_POINTS;
}

void explain(const SceneKey &key, bool live)
{
    char range[96] = "", text[1024];
    if (!is_text(key) && key.type != SCENE_BOOL && key.type != SCENE_CHOICE) {
        snprintf(range, sizeof range, "Range %.6g to %.6g, ", key.minimum, key.maximum);
    }
    snprintf(text, sizeof text, "%s.%s%s%s\n%s\n%s%s%s%s", scene_sections[key.section].json_key, key.name,
             key.unit[0] != '\0' ? ", " : "", key.unit, key.meaning, range, range[0] != '\0' ? "default " : "Default ",
             key.standard[0] != '\0' ? key.standard : "none", live ? "" : "\nTakes effect with the next reset (R)");
    tooltip(text);
}

// Columns: name and unit, editor, R, x.
void name_column(const SceneKey &key, bool live)
{
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    ImGui::TextUnformatted(key.name);
    explain(key, live);
    if (key.unit[0] != '\0') {
        ImGui::SameLine(0, ImGui::GetFontSize() * 0.4f);
        ImGui::TextDisabled("%s", key.unit);
        explain(key, live);
    }
    ImGui::TableNextColumn();
}

bool last_columns(bool live, bool is_default)
{
    ImGui::TableNextColumn();
    if (!live) {
        ImGui::AlignTextToFramePadding();
        ImGui::TextDisabled("R");
        tooltip("Takes effect with the next reset (R)");
    }
    ImGui::TableNextColumn();
    bool wanted = false;
    if (!is_default) {
        wanted = ImGui::SmallButton("x");
        tooltip("Back to the default");
    }
    return wanted;
}

void number_row(const SceneKey &key, uint32_t index, uint32_t element, const PanelHost *host)
{
    double numbers[3] = {0, 0, 0}, standard[3] = {0, 0, 0};
    if (!host->value(host->data, index, element, numbers)) {
        return;
    }
    const bool live = host->is_live(host->data, index, element);
    name_column(key, live);
    if (edit_numbers(key, numbers)) {
        host->set(host->data, index, element, numbers);
    }
    explain(key, live);
    const bool differs =
        default_of(key, standard) && std::memcmp(numbers, standard, sizeof(double) * scene_key_components(&key)) != 0;
    if (last_columns(live, !differs)) {
        host->set(host->data, index, element, standard);
    }
}

void text_row(const SceneKey &key, uint32_t index, uint32_t element, const PanelHost *host)
{
    char text[1024] = "";
    if (!host->text(host->data, index, element, text)) {
        return;
    }
    name_column(key, false);
    ImGui::SetNextItemWidth(-1.0f);
    const bool is_list = key.type == SCENE_MESHES || key.type == SCENE_POINTS;
    const ImGuiInputTextFlags read_only = is_list ? ImGuiInputTextFlags_ReadOnly : 0;
    if (ImGui::InputText("##value", text, sizeof text, ImGuiInputTextFlags_EnterReturnsTrue | read_only)) {
        host->set_text(host->data, index, element, text);
    }
    explain(key, false);
    char standard[256] = "";
    snprintf(standard, sizeof standard, "%s", key.standard[0] == '"' ? key.standard + 1 : "");
    standard[std::strcspn(standard, "\"")] = '\0';
    const bool has_default = key.animation != SCENE_REQUIRED && !is_list;
    if (last_columns(false, !has_default || std::strcmp(text, standard) == 0)) {
        host->set_text(host->data, index, element, standard);
    }
}

bool matches(const SceneKey &key)
{
    return filter[0] == '\0' || std::strstr(key.name, filter) != nullptr ||
           std::strstr(scene_sections[key.section].json_key, filter) != nullptr;
}

void element_rows(uint32_t section, uint32_t element, const PanelHost *host)
{
    if (!ImGui::BeginTable("##values", 4, ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_PadOuterX)) {
        return;
    }
    ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch, 1.5f);
    ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch, 1.0f);
    ImGui::TableSetupColumn("R", ImGuiTableColumnFlags_WidthFixed, 8 * scale);
    ImGui::TableSetupColumn("x", ImGuiTableColumnFlags_WidthFixed, 16 * scale);
    for (uint32_t i = 0; i < scene_key_count; i++) {
        const SceneKey &key = scene_keys[i];
        if (key.section == static_cast<SceneSection>(section) && matches(key)) {
            ImGui::PushID(static_cast<int>(i));
            if (is_text(key)) {
                text_row(key, i, element, host);
            } else {
                number_row(key, i, element, host);
            }
            ImGui::PopID();
        }
    }
    ImGui::EndTable();
}

bool any_matches(uint32_t section)
{
    for (uint32_t i = 0; i < scene_key_count; i++) {
        if (scene_keys[i].section == static_cast<SceneSection>(section) && matches(scene_keys[i])) {
            return true;
        }
    }
    return false;
}

void section_rows(uint32_t s, uint32_t count, const PanelHost *host)
{
    for (uint32_t e = 0; e < count; e++) {
        ImGui::PushID(static_cast<int>(e));
        char name[64] = "", label[96];
        host->element_name(host->data, s, e, name);
        snprintf(label, sizeof label, "%s %s", scene_sections[s].json_key, name);
        if (name[0] == '\0') {
            snprintf(label, sizeof label, "%s[%u]", scene_sections[s].json_key, e);
        }
        if (scene_sections[s].kind == SCENE_OBJECT) { // there is one
            element_rows(s, e, host);
            ImGui::PopID();
            continue;
        }
        if (filter[0] != '\0' && std::strstr(scene_sections[s].json_key, filter) == nullptr) {
            ImGui::SetNextItemOpen(true); // what is looked for is inside
        }
        if (ImGui::TreeNode(label)) {
            element_rows(s, e, host);
            ImGui::TreePop();
        }
        ImGui::PopID();
    }
}

// A name for the scene with its changes, until the user writes another.
void name_after(const char *scene)
{
    if (std::strcmp(saved_after, scene) == 0) {
        return;
    }
    snprintf(saved_after, sizeof saved_after, "%s", scene);
    snprintf(save_path, sizeof save_path, "%.1000s", scene);
    char *dot = std::strrchr(save_path, '.');
    if (dot != nullptr && std::strchr(dot, '/') == nullptr) {
        *dot = '\0';
    }
    std::strncat(save_path, "_changed.json", sizeof save_path - std::strlen(save_path) - 1);
}

} // namespace

void scene_values(const PanelFacts *facts, const PanelHost *host)
{
    name_after(facts->path);
    ImGui::SetNextItemWidth(-50 * scale);
    ImGui::InputText("##save", save_path, sizeof save_path);
    tooltip("Where Save writes the scene to, with the changes made here");
    ImGui::SameLine();
    if (ImGui::Button("Save")) {
        host->save_scene(host->data, save_path);
    }
    tooltip("Write the scene with the changes made here to this file");
    ImGui::SetNextItemWidth(-50 * scale);
    ImGui::InputTextWithHint("##filter", "Find a value", filter, sizeof filter);
    ImGui::SameLine();
    if (ImGui::Button("All")) {
        filter[0] = '\0';
    }
    tooltip("Show all values again");
    ImGui::AlignTextToFramePadding(); // always there: what is below must not move under the mouse
    ImGui::Text("%u changed", facts->changes);
    ImGui::SameLine();
    ImGui::BeginDisabled(facts->changes == 0);
    if (ImGui::Button("Forget changes")) {
        host->forget_changes(host->data);
    }
    ImGui::EndDisabled();
    for (uint32_t s = 0; s < SCENE_SECTION_COUNT; s++) {
        const uint32_t count = host->elements(host->data, s);
        if (count == 0 || !any_matches(s)) {
            continue;
        }
        if (filter[0] != '\0') {
            ImGui::SetNextItemOpen(true);
        }
        ImGui::PushID(static_cast<int>(s));
        const bool open = ImGui::TreeNode(scene_sections[s].json_key);
        tooltip(scene_sections[s].meaning);
        if (open) {
            section_rows(s, count, host);
            ImGui::TreePop();
        }
        ImGui::PopID();
    }
}

} // namespace panel
