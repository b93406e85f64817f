// SPDX-License-Identifier: MIT
// ropes.comp - frames along ropes: Catmull-Rom curves through their particles, and a direction across that turns as
// little as can be from one frame to the next (parallel transport). Three vec4s a frame: centre and radius; direction
// across and metres along the rope at rest; direction along and how far normals lean that way, -1 to 1.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "frame.glsl"
#include "body.glsl"
#include "cloth.glsl"
#include "passes/ropes.h"
PASS_CONSTANTS(RopesConstants)
layout(local_size_x = 1) in;
// The place of a node; w is 0 where its particle is gone.
vec4 node_of(RopeChunk chunk, int node)
{
    vec4 place = vec4(0.0);
    if (node >= 0 && node < int(chunk.node_count)) {
        const uint slot = handle_slot(pass.nodes.at[chunk.first_node + uint(node)]);
        if (slot < frame.particle_count) {
            place = vec4(frame.positions.at[slot].xyz, 1.0);
        }
    }
    return place;
}

struct CurvePoint {
    vec3 place, along;
    bool exists;
};

// Beyond an end the curve goes on as it came.
CurvePoint curve_at(RopeChunk chunk, uint place)
{
    const uint last = chunk.node_count - 2u, segment = min(place / ROPE_SAMPLES, last);
    const float t = float(place - segment * ROPE_SAMPLES) / float(ROPE_SAMPLES);
    const vec4 b = node_of(chunk, int(segment)), c = node_of(chunk, int(segment) + 1);
    vec4 a = node_of(chunk, int(segment) - 1), d = node_of(chunk, int(segment) + 2);
    a = a.w > 0.0 ? a : 2.0 * b - c;
    d = d.w > 0.0 ? d : 2.0 * c - b;
    const vec3 p = c.xyz - a.xyz, q = 2.0 * a.xyz - 5.0 * b.xyz + 4.0 * c.xyz - d.xyz;
    const vec3 r = 3.0 * (b.xyz - c.xyz) + d.xyz - a.xyz;
    const vec3 along = p + t * (2.0 * q + t * 3.0 * r), straight = c.xyz - b.xyz;
    CurvePoint point;
    point.place = b.xyz + 0.5 * t * (p + t * (q + t * r));
    point.along = normalize(dot(along, along) > 0.0 ? along : straight + vec3(0.0, 1e-20, 0.0));
    // Where the curve comes to a lost particle it ends with the segment before.
    point.exists = (b.w > 0.0 || t == 1.0) && (c.w > 0.0 || t == 0.0);
    return point;
}

// `across`, turned as `from` is to become `to`, by the shortest way. Both are of unit length.
vec3 transported(vec3 across, vec3 from, vec3 to)
{
    const vec3 turned = across - dot(to, across) / max(1.0 + dot(from, to), 1e-4) * (from + to);
    return normalize(turned - dot(turned, to) * to + 1e-20);
}

// Across a direction, and continuous in it but for one that ropes seldom have.
vec3 across_of(vec3 along)
{
    return transported(vec3(0.8, 0.6, 0.0), vec3(0.36, -0.48, 0.8), along);
}

void store(uint index, vec3 centre, float radius, vec3 across, float metres, vec3 along, float lean)
{
    frame.rope_frames.at[3u * index] = vec4(centre, radius);
    frame.rope_frames.at[3u * index + 1u] = vec4(across, metres);
    frame.rope_frames.at[3u * index + 2u] = vec4(along, lean);
}

// A half ball: from its tip on, or to it.
void store_cap(RopeChunk chunk, bool end, CurvePoint point, vec3 across)
{
    for (uint k = 0u; k < ROPE_CAP; k++) {
        const float angle = 1.5707963 * float(end ? k + 1u : ROPE_CAP - k) / float(ROPE_CAP);
        const float lean = (end ? 1.0 : -1.0) * sin(angle);
        const uint curve = ROPE_CAP + (chunk.node_count - 1u) * ROPE_SAMPLES + 1u;
        const float metres = (end ? chunk.metres : 0.0) + chunk.radius * lean;
        store(chunk.first_frame + (end ? curve : 0u) + k, point.place + chunk.radius * lean * point.along,
              point.exists ? chunk.radius * max(cos(angle), 0.0) : -1.0, across, metres, point.along, lean);
    }
}

// How far `across` would have to turn about `along` to become `wanted`.
float angle_to(vec3 across, vec3 wanted, vec3 along)
{
    return atan(dot(cross(across, wanted), along), dot(across, wanted));
}

// The turn over a chunk that takes its last frame to the first one of the next.
float turn_of(RopeChunk chunk, uint first, uint count)
{
    CurvePoint point = curve_at(chunk, first);
    vec3 across = across_of(point.along);
    for (uint i = 1u; i <= count; i++) {
        const CurvePoint next = curve_at(chunk, first + i);
        across = transported(across, point.along, next.along);
        point = next;
    }
    return angle_to(across, across_of(point.along), point.along);
}

void main()
{
    const uint i = invocation_index();
    if (i >= pass.chunk_count) {
        return;
    }
    const RopeChunk chunk = pass.chunks.at[i];
    const uint first = chunk.first_segment * ROPE_SAMPLES, count = chunk.segment_count * ROPE_SAMPLES;
    const bool last = chunk.first_segment + chunk.segment_count == chunk.node_count - 1u;
    float turn = 0.0;
    if (!last) {
        turn = turn_of(chunk, first, count);
    }
    CurvePoint point = curve_at(chunk, first);
    vec3 across = across_of(point.along);
    if (chunk.first_segment == 0u) {
        store_cap(chunk, false, point, across);
    }
    const float whole = float((chunk.node_count - 1u) * ROPE_SAMPLES);
    for (uint k = 0u; k < count + (last ? 1u : 0u); k++) {
        const CurvePoint next = curve_at(chunk, first + k);
        across = transported(across, point.along, next.along);
        point = next;
        const float angle = turn * float(k) / float(count);
        const vec3 turned = cos(angle) * across + sin(angle) * cross(point.along, across);
        store(chunk.first_frame + ROPE_CAP + first + k, point.place, point.exists ? chunk.radius : -1.0, turned,
              chunk.metres * float(first + k) / whole, point.along, 0.0);
    }
    if (last) {
        store_cap(chunk, true, point, across);
    }
}
