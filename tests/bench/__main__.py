"""Run all benchmarks, print a table, write results/bench/bench.json.

Each benchmark compares with a reference in the same run. Ratios say how many times faster (or,
where the name says so, smaller) ours is than the baseline: median, lowest, highest over the runs.
"""

import importlib
import json
import pkgutil
import sys
from pathlib import Path

import bench

OUTPUT = Path("results/bench/bench.json")


def main(names: list[str]) -> None:
    """Run the benchmarks of all ``bench_*`` modules, or of those named."""
    modules = [
        module.name
        for module in pkgutil.iter_modules(bench.__path__)
        if module.name.startswith("bench_")
        and (not names or module.name.removeprefix("bench_") in names)
    ]
    rows = []
    print(f"{'ratio':>10}  {'lowest':>10}  {'highest':>10}  {'runs':>4}  what; against what")
    for module in modules:
        for row in importlib.import_module(f"bench.{module}").benchmarks():
            rows.append(row)
            print(
                f"{row['ratio_median']:>10.3g}  {row['ratio_low']:>10.3g}  "
                f"{row['ratio_high']:>10.3g}  {row['runs']:>4}  {row['name']}; {row['baseline']}",
                flush=True,
            )
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"Written to {OUTPUT}")


if __name__ == "__main__":
    main(sys.argv[1:])
