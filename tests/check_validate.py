# SPDX-License-Identifier: MIT
"""What tools/validate measures, on cases with a known answer: check_validate.py SOURCE_DIR BINARY_DIR"""
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import numpy as np
except ImportError:
    print("numpy is not installed: skipped")
    sys.exit(77)

source, binary = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
loader = importlib.machinery.SourceFileLoader("validate", str(source / "tools/validate"))
spec = importlib.util.spec_from_loader("validate", loader)
validate = importlib.util.module_from_spec(spec)
sys.modules["validate"] = validate
sys.dont_write_bytecode = True
loader.exec_module(validate)


def near(found, expected, tolerance, what):
    assert abs(found - expected) <= tolerance, f"{what} is {found}, expected {expected} within {tolerance}"


# A decaying oscillation of 1.7 s that is halved in 5 periods, about a mean that is not zero.
time = np.arange(0, 20, 1 / 60)
period, halved = validate.oscillation(time, 0.3 + 0.05 * np.cos(2 * math.pi * time / 1.7) * 0.5 ** (time / 1.7 / 5))
near(period, 1.7, 0.005, "the period")
near(halved, 5.0, 0.1, "the decay")
_, kept = validate.oscillation(time, np.cos(2 * math.pi * time / 1.7))
assert kept > 1000, kept

# A front: 200 rows of 10 from 0 to 2, of which 5 are as far as the last; two drops ahead, and a layer above the floor.
x = np.concatenate([np.repeat(np.linspace(0, 2, 200), 10), [2.5, 3.0], np.full(50, 4.0)])
y = np.concatenate([np.zeros(2002), np.ones(50)])
near(validate.front_of(x, y, 0.1, 5), 2.0, 1e-9, "the front")

# A fall as a step makes it: speed, then position.
steps = np.arange(0, 100)
near(validate.acceleration_of(steps / 240, 1 - 9.81 * steps * (steps + 1) / 2 / 240**2, 240), -9.81, 1e-6, "the acceleration")

# Potential flow: phi = x^2 - y^2 in a quarter of a disk has dphi/dn = 2 phi, with errors that fall with the square of the
# distance of nodes; and a column keeps its volume and energy.
flow = validate.potential_flow
errors = []
for count in (20, 40):
    angles = np.linspace(0.0, 0.5 * math.pi, count + 1)
    disk = np.array([np.cos(angles), np.sin(angles), np.cos(2.0 * angles)])
    disk[flow.Y, 0] = disk[flow.X, -1] = 0.0
    errors.append(np.max(np.abs(flow.normal_speeds(disk) - 2.0 * disk[flow.PHI])))
assert errors[0] < 0.005 and errors[1] < 0.35 * errors[0], errors
times, fronts, grown, gained = flow.collapse(1.2, 0.03, 0.24)
near(grown, 0.0, 0.002, "the growth of the volume")
near(gained, 0.0, 0.002, "the gain of energy")
near(float(fronts[-1]), 1.745, 0.01, "the front, which is 1.745 with finer nodes")

# Limits.
row = validate.Row("drop", "", "", float("nan"), low=0)
assert row.fine() is False and validate.Row("drop", "", "", 1.0).fine() is None
assert validate.Row("drop", "", "", np.float64(1.0), low=1, high=1).fine() is True
assert validate.Row("drop", "", "", np.float64(1.01), high=1).fine() is False
assert validate.Row("drop", "", "", 1.01, high=np.float64(1)).fine() is False

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)

    # The table: rows of experiments that were not run stay, the others are replaced, in the order of the experiments.
    document = folder / "document.md"
    document.write_text("before\n<!-- results -->\n<!-- end -->\nafter\n")
    validate.write_table(document, [validate.Row("drop", "a", "q", 1.5, "m", low=1), validate.Row("surge", "a", "q", 2)])
    validate.write_table(document, [validate.Row("drop", "b", "q", 0.5, "m", low=1)])
    lines = document.read_text().splitlines()
    assert lines[:2] == ["before", "<!-- results -->"] and lines[-2:] == ["<!-- end -->", "after"], lines
    assert lines[4:6] == ["| surge | a | q | 2 |  |  |", "| drop | b | q | 0.5 m | ≥ 1 | **fail** |"], lines

    # A drop falls with 9.81 m/s^2, and with a wrong gravity the run fails.
    for gravity, status in ((9.81, 0), (9.0, 1)):
        command = [sys.executable, source / "tools/validate", "--quick", "--mote", binary / "bin/mote", "--out", folder]
        command += ["--json", folder / "rows.json", "drop"]
        command += ["--set", f"solver.gravity=[0, -{gravity}, 0]"] if status != 0 else []
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == status, (gravity, run.returncode, run.stdout, run.stderr)
        rows = {row["quantity"]: row for row in json.loads((folder / "rows.json").read_text())}
        fall = rows["acceleration of the fall"]
        near(fall["value"], gravity, 0.002 * gravity, "the acceleration of the fall")
        assert fall["fine"] is (status == 0), fall
    unknown = subprocess.run([*command[:7], "dorp"], capture_output=True, text=True)
    assert unknown.returncode == 2 and "unknown experiment dorp" in unknown.stderr, unknown

    plots = [folder / "drop.svg", *(source / "docs/validation").glob("*.svg")]
    for plot in plots:
        xml.etree.ElementTree.parse(plot)
        assert plot.stat().st_size <= 60000, f"{plot} is larger than 60 kB"

# Each experiment is described, with its command; each figure that is shown is there.
text = (source / "docs/validation.md").read_text()
for name in validate.EXPERIMENTS:
    assert f"`tools/validate {name}`" in text and f"<!-- FIGURES: tools/validate {name} -->" in text, name
for part in text.split("](validation/")[1:]:
    assert (source / "docs/validation" / part.split(")")[0]).exists(), part.split(")")[0]
print(f"{len(plots)} plots, {len(validate.EXPERIMENTS)} experiments")
