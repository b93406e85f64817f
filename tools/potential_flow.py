# SPDX-License-Identifier: MIT
"""The collapse of a column of a liquid without friction, in two dimensions: a reference for tools/validate.

/usr/bin/python3 tools/potential_flow.py    Z at the published T for finer and finer nodes, and what volume and energy did

The flow is that of a potential phi. Its surface is followed by nodes that move with the liquid (mixed Eulerian-Lagrangian
method, Longuet-Higgins and Cokelet 1976):

    dx/dt = grad phi,  dphi/dt = |grad phi|^2 / 2 - g y         at the surface, whose pressure is zero
    pi phi = sum over elements of the integrals of (phi d ln r / dn - ln r dphi/dn)

with straight elements on which phi and dphi/dn are linear, integrated exactly. The bed (y = 0) and the wall (x = 0) are mirrors,
so that the surface alone has nodes, from the front on the bed to the wall. Lengths are in widths of the column and g is 1/2:
then the time is T = t sqrt(2 g / a), and the front's position Z = x / a.
"""
import math
import sys

import numpy as np

GRAVITY = 0.5
CORNER = 0.1  # radius of the column's upper corner; 0.05 changes Z by less than 0.001
X, Y, PHI = range(3)  # rows of a surface; a column is a node
# Whether x, y and phi go on as even functions beyond the mirrors: at the front on the bed, and at the wall.
EVEN = ((True, False), (False, True), (True, True))


# ---- Curves ------------------------------------------------------------------------------------------------


def arc_lengths(surface):
    return np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(surface[X]), np.diff(surface[Y])))])


def curvatures(s, values, even):
    """Second derivatives of a cubic spline whose ends are even (no slope) or odd (no curvature)."""
    h, slopes = np.diff(s), np.diff(values) / np.diff(s)
    matrix, right = np.eye(len(s)), np.zeros(len(s))
    inner = np.arange(1, len(s) - 1)
    matrix[inner, inner - 1], matrix[inner, inner], matrix[inner, inner + 1] = h[:-1], 2.0 * (h[:-1] + h[1:]), h[1:]
    right[inner] = 6.0 * np.diff(slopes)
    if even[0]:
        matrix[0, :2], right[0] = (2.0 * h[0], h[0]), 6.0 * slopes[0]
    if even[1]:
        matrix[-1, -2:], right[-1] = (h[-1], 2.0 * h[-1]), -6.0 * slopes[-1]
    return np.linalg.solve(matrix, right)


def derivatives(s, values, even):
    """First derivatives at the nodes."""
    h, m = np.diff(s), curvatures(s, values, even)
    slopes = np.diff(values) / h
    return np.append(slopes - h * (2.0 * m[:-1] + m[1:]) / 6.0, slopes[-1] + h[-1] * (m[-2] + 2.0 * m[-1]) / 6.0)


def at_lengths(surface, places):
    """The surface at other arc lengths."""
    s = arc_lengths(surface)
    k = np.clip(np.searchsorted(s, places) - 1, 0, len(s) - 2)
    h = s[k + 1] - s[k]
    a = (s[k + 1] - places) / h
    b = 1.0 - a
    rows = []
    for values, even in zip(surface, EVEN):
        m = curvatures(s, values, even)
        rows.append(a * values[k] + b * values[k + 1] + ((a**3 - a) * m[k] + (b**3 - b) * m[k + 1]) * h * h / 6.0)
    return np.array(rows)


def redistribute(surface, finest, coarsest):
    """Nodes anew: finest at the front, no farther apart than a fraction of the depth and of the radius of curvature."""
    s = arc_lengths(surface)
    places = np.linspace(0.0, s[-1], 2000)
    x, y, _ = at_lengths(surface, places)
    direction = np.unwrap(np.arctan2(np.gradient(y), np.gradient(x)))
    curvature = np.abs(np.gradient(direction)) / np.maximum(np.hypot(np.gradient(x), np.gradient(y)), 1e-12)
    apart = np.minimum(coarsest, finest + 0.15 * np.abs(y))
    apart = np.minimum(apart, np.maximum(0.35 / np.maximum(curvature, 1e-9), finest))
    # From node to node distances grow by no more than 15 %.
    apart = np.minimum.accumulate(apart - 0.15 * places) + 0.15 * places
    apart = np.minimum.accumulate((apart + 0.15 * places)[::-1])[::-1] - 0.15 * places
    nodes = np.concatenate([[0.0], np.cumsum(0.5 * (1.0 / apart[1:] + 1.0 / apart[:-1]) * places[1])])
    return at_mirrors(at_lengths(surface, np.interp(np.linspace(0.0, nodes[-1], math.ceil(nodes[-1]) + 1), nodes, places)))


def at_mirrors(surface):
    surface[Y, 0] = surface[X, -1] = 0.0
    return surface


def smooth(surface):
    """Longuet-Higgins and Cokelet's filter of five points, which takes what alternates from node to node."""
    rows = []
    for values, even in zip(surface, EVEN):
        before, after = ((1.0 if e else -1.0) * v for e, v in zip(even, (values[2:0:-1], values[-2:-4:-1])))
        v = np.concatenate([before, values, after])
        rows.append((-v[:-4] + 4.0 * v[1:-3] + 10.0 * v[2:-2] + 4.0 * v[3:-1] - v[4:]) / 16.0)
    return np.array(rows)


# ---- Flow --------------------------------------------------------------------------------------------------


def normal_speeds(surface):
    """dphi/dn at the nodes, n outwards."""
    x, y, phi = surface
    count = len(x)
    of_flux, of_phi = np.zeros((count, count)), np.zeros((count, count))
    length = np.hypot(np.diff(x), np.diff(y))
    tx, ty = np.diff(x) / length, np.diff(y) / length
    for mirror_x, mirror_y in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        # From each element's first node to each node's mirror image: along the element, and along its normal.
        rx, ry = mirror_x * x[:, None] - x[:-1], mirror_y * y[:, None] - y[:-1]
        begin, off = -(rx * tx + ry * ty), rx * ty - ry * tx
        end = length + begin
        r0, r1 = (np.maximum(u * u + off * off, 1e-300) for u in (begin, end))
        log0, log1 = 0.5 * np.log(r0), 0.5 * np.log(r1)
        in_line = np.abs(off) < 1e-12
        safe = np.where(in_line, 1.0, off)
        angle = np.where(in_line, 0.0, np.arctan(end / safe) - np.arctan(begin / safe))
        # Integrals of ln r, u ln r, d ln r / dn and u d ln r / dn, and the shares of the element's last node.
        log_all = end * log1 - begin * log0 - length + off * angle
        log_last = (0.5 * (r1 * (log1 - 0.5) - r0 * (log0 - 0.5)) - begin * log_all) / length
        double_last = (-off * (log1 - log0) + begin * angle) / length
        of_flux[:, 1:] += log_last
        of_flux[:, :-1] += log_all - log_last
        of_phi[:, 1:] += double_last
        of_phi[:, :-1] -= angle + double_last
    # A constant phi has no flow: that is the term on the left, whatever angle the surface has at a node.
    return np.linalg.solve(of_flux, of_phi @ phi - of_phi.sum(axis=1) * phi)


def velocities(surface):
    s = arc_lengths(surface)
    dx, dy, along = (derivatives(s, values, even) for values, even in zip(surface, EVEN))
    stretch = np.hypot(dx, dy)
    tx, ty, along = dx / stretch, dy / stretch, along / stretch
    across = normal_speeds(surface)
    u, v = along * tx + across * ty, along * ty - across * tx
    v[0] = u[-1] = 0.0
    return u, v


def rate(surface):
    u, v = velocities(surface)
    return np.array([u, v, 0.5 * (u * u + v * v) - GRAVITY * surface[Y]])


def volume(surface):
    x, y, _ = surface
    return 0.5 * float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def energy(surface):
    """Kinetic energy, by its integral over the surface, and potential energy."""
    x, y, phi = surface
    length = np.hypot(np.diff(x), np.diff(y))
    flow = phi * normal_speeds(surface)
    kinetic = 0.25 * np.sum(length * (flow[1:] + flow[:-1]))
    dx = x[:-1] - x[1:]
    return float(kinetic + GRAVITY * np.sum(dx * (y[1:] ** 2 + y[1:] * y[:-1] + y[:-1] ** 2)) / 6.0)


def column(height, finest, coarsest):
    """The surface of a column at rest, one wide."""
    low = height - CORNER
    turn = np.linspace(0.0, 0.5 * math.pi, 40)
    side, top = np.linspace(0.0, low, 200), np.linspace(1.0 - CORNER, 0.0, 100)
    x = np.concatenate([np.ones(199), 1.0 - CORNER * (1.0 - np.cos(turn)), top[1:]])
    y = np.concatenate([side[:-1], low + CORNER * np.sin(turn), np.full(99, height)])
    return redistribute(np.array([x, y, np.zeros_like(x)]), finest, coarsest)


def collapse(end, finest=0.015, coarsest=0.12, height=2.0, step=0.02):
    """T and Z of the front until T = `end`, and by which fractions volume and energy changed."""
    surface = column(height, finest, coarsest)
    first = volume(surface), energy(surface)
    times, fronts = [0.0], [1.0]
    while times[-1] < end - 1e-9:
        k1 = rate(surface)
        apart = np.hypot(np.diff(surface[X]), np.diff(surface[Y]))
        pull = np.hypot(np.diff(k1[X]), np.diff(k1[Y]))
        dt = min(step, 0.2 * float(np.min(apart / np.maximum(pull, 1e-9))), end - times[-1])
        k2 = rate(surface + 0.5 * dt * k1)
        k3 = rate(surface + 0.5 * dt * k2)
        k4 = rate(surface + dt * k3)
        surface = at_mirrors(surface + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
        times.append(times[-1] + dt)
        fronts.append(float(surface[X, 0]))
        if len(times) % 2 == 1:
            surface = smooth(surface)
        surface = redistribute(surface, finest, coarsest)
    return np.array(times), np.array(fronts), volume(surface) / first[0] - 1.0, energy(surface) / first[1] - 1.0


if __name__ == "__main__":
    wanted = (0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0)
    print("finest nodes |", " | ".join(f"T = {t}" for t in wanted), "| volume | energy")
    for finest in (0.03, 0.015, 0.01, 0.0075) if len(sys.argv) < 2 else map(float, sys.argv[1:]):
        times, fronts, grown, gained = collapse(5.0, finest, 8.0 * finest, step=2.0 * min(finest, 0.01))
        found = " | ".join(f"{np.interp(t, times, fronts):.4f}" for t in wanted)
        print(f"{finest} | {found} | {grown:+.2%} | {gained:+.2%}", flush=True)
