"""Run the fuzzers: random cases until the time is over; exit code 1 where one of them found a fault.

    python -m fuzz --seconds 60                        all of them, a new seed
    python -m fuzz --seconds 60 --seed 1 --only csv    the same cases of one fuzzer again
    python -m fuzz --seed 1 --only csv --case 17       one case, as a finding tells to replay it

A case is made from (seed, fuzzer, number) alone. A case that fails is made smaller as long as it fails in the same way.
Each fault is reported once, with the command that replays it and the number of times it occurred.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__" and sys.path[0] == str(ROOT / "fuzz"):  # `python fuzz`: this folder is no place for modules
    sys.path[0] = str(ROOT)

from fuzz.common import Broken  # noqa: E402  (found only now)

if TYPE_CHECKING:
    from types import ModuleType

FUZZERS = {
    "csv": "fuzz.csv_texts",
    "frames": "fuzz.frames",
    "engines": "fuzz.engines",
    "counts": "fuzz.counts_files",
    "parquet": "fuzz.parquet_files",
    "laws": "fuzz.laws",
    "kills": "fuzz.kills",
}
RUNNING = ROOT / "build" / "fuzz-case.txt"  # the case at work: what to replay if the process itself dies
MAX_TRIES, MAX_SECONDS = 300, 20.0  # to make one case smaller


@dataclass
class Fuzzer:
    """One fuzzer and what it has done."""

    name: str
    module: ModuleType
    next_case: int = 0
    cases: int = 0
    seconds: float = 0.0
    faults: dict[tuple[str, ...], int] = field(default_factory=dict)  # how often each occurred

    def case(self, seed: int, number: int) -> Any:  # noqa: ANN401  (each fuzzer has cases of its own)
        """The case of this number."""
        return self.module.make(random.Random(f"{seed}:{self.name}:{number}"))


def fault_of(fuzzer: Fuzzer, case: Any, folder: Path) -> tuple[tuple[str, ...], Exception] | None:  # noqa: ANN401
    """What is wrong with a case: the kind of fault, which identifies it, and the error; None if nothing is wrong."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fuzzer.module.check(case, folder)
    except Broken as broken:
        return (broken.law,), broken
    except Exception as error:  # noqa: BLE001  (whatever it is, it is a finding)
        frames = traceback.extract_tb(error.__traceback__)
        inside = next((frame for frame in reversed(frames) if "credimi" in Path(frame.filename).parts), frames[-1])
        return (type(error).__name__, f"{Path(inside.filename).name}:{inside.name}"), error
    return None


def shrunk(fuzzer: Fuzzer, case: Any, kind: tuple[str, ...], folder: Path) -> Any:  # noqa: ANN401
    """A smaller case that has the same fault."""
    tries, end = 0, time.monotonic() + MAX_SECONDS
    smaller_found = True
    while smaller_found:
        smaller_found = False
        for other in fuzzer.module.smaller(case):
            tries += 1
            if tries > MAX_TRIES or time.monotonic() > end:
                return case
            fault = fault_of(fuzzer, other, folder)
            if fault is not None and fault[0] == kind:
                case, smaller_found = other, True
                break
    return case


def run_case(fuzzer: Fuzzer, seed: int, number: int, folder: Path) -> None:
    """Check one case, and print what is wrong with it if that is a new kind of fault."""
    began = time.monotonic()
    replay = f"python -m fuzz --only {fuzzer.name} --seed {seed} --case {number}"
    RUNNING.write_text(replay + "\n", encoding="utf-8")
    case = fuzzer.case(seed, number)
    fault = fault_of(fuzzer, case, folder)
    fuzzer.cases += 1
    if fault is not None:
        kind, error = fault
        if kind not in fuzzer.faults:
            small = shrunk(fuzzer, case, kind, folder)
            _, error = fault_of(fuzzer, small, folder) or fault  # a race may not be lost again
            print(f"\nFOUND by {fuzzer.name}: {' in '.join(kind)}\n  replay: {replay}")
            print(f"  case:   {small!r}\n  fault:  {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, Broken):
                traceback.print_exception(error, file=sys.stdout)
        fuzzer.faults[kind] = fuzzer.faults.get(kind, 0) + 1
    fuzzer.seconds += time.monotonic() - began


def arguments(given: list[str] | None) -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="how long, all fuzzers together; 60 unless said")
    parser.add_argument("--seed", type=int, help="a random one, which is printed, unless said")
    parser.add_argument("--only", metavar="NAMES", help=f"some of {','.join(FUZZERS)}")
    parser.add_argument("--case", type=int, help="the number of the one case to run")
    options = parser.parse_args(given)
    options.names = options.only.split(",") if options.only else list(FUZZERS)
    unknown = [name for name in options.names if name not in FUZZERS]
    if unknown:
        parser.error(f"there is no fuzzer {unknown[0]!r}: choose among {','.join(FUZZERS)}")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(10**6)
    return options


def main(given: list[str] | None = None) -> int:
    """Run the fuzzers in turn, the one that had the least time first; return the exit code."""
    faulthandler.enable()
    options = arguments(given)
    print(f"fuzz: seed {options.seed}", flush=True)
    RUNNING.parent.mkdir(exist_ok=True)
    fuzzers = [Fuzzer(name, import_module(FUZZERS[name])) for name in options.names]
    with tempfile.TemporaryDirectory(prefix="credimi-fuzz-") as folder:
        if options.case is not None:
            for fuzzer in fuzzers:
                run_case(fuzzer, options.seed, options.case, Path(folder))
        else:
            end = time.monotonic() + options.seconds
            while time.monotonic() < end or not all(fuzzer.cases for fuzzer in fuzzers):
                fuzzer = min(fuzzers, key=lambda each: (each.cases > 0, each.seconds))
                run_case(fuzzer, options.seed, fuzzer.next_case, Path(folder))
                fuzzer.next_case += 1
    RUNNING.unlink(missing_ok=True)
    print()
    for fuzzer in fuzzers:
        faults = "; ".join(f"{' in '.join(kind)} ({times} times)" for kind, times in fuzzer.faults.items())
        print(f"{fuzzer.name:8} {fuzzer.cases:7,} cases {fuzzer.seconds:8.1f} s  {faults or 'nothing found'}")
    return int(any(fuzzer.faults for fuzzer in fuzzers))


if __name__ == "__main__":
    sys.exit(main())
