"""Runs mutants of the library: changes made by hand, each of which a check must notice.

All mutants are built at once: a copy of the sources has both texts of each changed fragment, and a variable of the
environment chooses one of them when a test program runs. README.md has the format of the lists.
One file, because it runs without installation, by Python alone.
"""

import argparse
import concurrent.futures
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LISTS = Path(__file__).resolve().parent
TREE = ROOT / "target/mutants/tree"
TARGET = ROOT / "target/mutants/target"
PROGRAMS = ROOT / "target/mutants/programs"
VARIABLE = "THRONG_MUTANT"
KEYS = {"name", "file", "find", "becomes", "fault", "suites", "equivalent", "known", "alone"}
# A baseline must leave a mutant this many times as long.
SLACK = 2

# What a generated crate asks. Plain atomics: the code runs under loom and shuttle as well.
SWITCH = """\
//! Generated: chooses a mutant.

use std::sync::atomic::{AtomicUsize, Ordering};

static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Returns whether the mutant of this number is on.
#[inline]
pub(crate) fn is_on(number: usize) -> bool {
    let chosen = CHOSEN.load(Ordering::Relaxed);
    if chosen == usize::MAX { read() == number } else { chosen == number }
}

#[cold]
fn read() -> usize {
    let chosen = std::env::var("THRONG_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    CHOSEN.store(chosen, Ordering::Relaxed);
    chosen
}
"""


class Mistake(Exception):
    """A mistake in a list of mutants, or in the options."""


@dataclass
class Mutant:
    number: int
    name: str
    list: str
    file: str
    becomes: str
    fault: str
    suites: list
    equivalent: str | None
    known: str | None
    alone: bool
    start: int = 0
    end: int = 0


@dataclass
class Verdict:
    """What became of a mutant, or of a suite without one."""

    state: str
    by: str = ""
    seconds: float = 0.0
    tests: int = 0
    output: str = field(default="", repr=False)


# Lists -----------------------------------------------------------------------------------------------------------


def pattern_of(text):
    """A regular expression for the text in which each run of whitespace stands for any other, with or without comments."""
    words = re.split(r"\s+", text)
    return r"(?:\s|//[^\n]*\n)+".join(re.escape(word) for word in words)


def has_let(fragment):
    """Whether a statement of the fragment, outside of inner braces, makes a name that may be used after it."""
    if not fragment.rstrip().endswith((";", "}")):
        # The value of its block, so nothing comes after it.
        return False
    depth = 0
    for part in re.finditer(r"[{}]|(?:\b(?:if|while) |&& )?\blet (?!_ =)", fragment):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0 and part[0] == "let ":
            return True
    return False


def locate(mutant, find, source):
    """Sets the span of the fragment that is replaced."""
    if find.count("[[") != 1 or find.count("]]") != 1:
        raise Mistake("`find` must have one [[ and one ]] after it")
    before, rest = find.split("[[")
    if "]]" not in rest:
        raise Mistake("`find` must have one [[ and one ]] after it")
    fragment, after = rest.split("]]")
    if not fragment.strip():
        raise Mistake("nothing stands between [[ and ]]")
    if not mutant.alone and has_let(fragment):
        raise Mistake("the name of a `let` ends with the fragment: choose another one, or `alone = true`")
    pattern = f"({pattern_of(before)})({pattern_of(fragment)})({pattern_of(after)})"
    found = list(re.finditer(pattern, source))
    if len(found) != 1:
        raise Mistake(f"`find` occurs {len(found)} times in {mutant.file}, and must occur once")
    mutant.start, mutant.end = found[0].span(2)
    if "".join(mutant.becomes.split()) == "".join(fragment.split()):
        raise Mistake("`becomes` is the same as the fragment")


def read_lists():
    """All mutants, with their spans. Reports every mistake."""
    mutants, mistakes, names = [], [], {}
    sources = {}
    for path in sorted(LISTS.glob("*.toml")):
        try:
            entries = tomllib.loads(path.read_text()).get("mutant", [])
        except tomllib.TOMLDecodeError as error:
            mistakes.append(f"{path.name}: {error}")
            continue
        for entry in entries:
            name = entry.get("name", "(no name)")
            try:
                mutant = mutant_of(entry, len(mutants) + 1, path.name)
                if name in names:
                    raise Mistake(f"the name is taken, in {names[name]}")
                names[name] = path.name
                if mutant.file not in sources:
                    sources[mutant.file] = source_of(mutant.file)
                locate(mutant, entry["find"], sources[mutant.file])
                mutants.append(mutant)
            except Mistake as mistake:
                mistakes.append(f"{path.name}: {name}: {mistake}")
    by_file = {}
    for mutant in mutants:
        if not mutant.alone and mutant.equivalent is None:
            by_file.setdefault(mutant.file, []).append(mutant)
    for file, together in by_file.items():
        for one in together:
            for two in together:
                if one.start < two.start < one.end < two.end:
                    mistakes.append(f"{file}: {one.name} and {two.name} overlap in part: choose smaller fragments")
    if mistakes:
        raise Mistake("\n".join(mistakes))
    return mutants


def mutant_of(entry, number, list_name):
    unknown = set(entry) - KEYS
    if unknown:
        raise Mistake(f"unknown keys: {', '.join(sorted(unknown))}")
    for key in ("name", "file", "find", "becomes", "fault"):
        if not isinstance(entry.get(key), str) or key != "becomes" and not entry[key].strip():
            raise Mistake(f"`{key}` is missing")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry["name"]):
        raise Mistake("a name is made of small letters, digits and single hyphens")
    suites = entry.get("suites", [])
    if bool(suites) == ("equivalent" in entry):
        raise Mistake("either `suites` or `equivalent` is needed")
    if "known" in entry and not suites:
        raise Mistake("`known` needs `suites`: it must be run to be known to survive")
    return Mutant(
        number=number,
        name=entry["name"],
        list=list_name,
        file=entry["file"],
        becomes=entry["becomes"],
        fault=entry["fault"],
        suites=suites,
        equivalent=entry.get("equivalent"),
        known=entry.get("known"),
        alone=entry.get("alone", False),
    )


def source_of(file):
    path = ROOT / file
    if not path.is_file():
        raise Mistake(f"{file} is not a file")
    return path.read_text()


# Sources ---------------------------------------------------------------------------------------------------------


def mutated(source, mutants):
    """The source in which each fragment is a choice between its texts, and where each mutant is in it, in lines."""
    spans = {}
    for mutant in mutants:
        spans.setdefault((mutant.start, mutant.end), []).append(mutant)
    # Outer spans before inner ones.
    ordered = sorted(spans, key=lambda span: (span[0], -span[1]))

    def write(start, end, inside):
        text, position = [], start
        while inside:
            span = inside.pop(0)
            nested = [other for other in inside if other[1] <= span[1]]
            inside = inside[len(nested):]
            text.append(source[position:span[0]])
            original = write(span[0], span[1], nested)
            arms = [f"if crate::mutants::is_on({m.number}) {{ {m.becomes} }} else " for m in spans[span]]
            text.append("{ " + "".join(arms) + "{ " + original + " } }")
            position = span[1]
        text.append(source[position:end])
        return "".join(text)

    text = write(0, len(source), ordered)
    lines = {}
    for number, line in enumerate(text.splitlines(), 1):
        for mark in re.findall(r"crate::mutants::is_on\((\d+)\)", line):
            lines[int(mark)] = number
    return text, lines


def replace_file(path, content):
    """Writes a file unless it has this content: cargo builds anew what is younger."""
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def crate_of(file):
    parts = Path(file).parts
    if len(parts) < 4 or parts[0] != "crates" or parts[2] != "src":
        raise Mistake(f"{file}: only files in crates/CRATE/src have mutants")
    return parts[1]


def make_tree(mutants):
    """Copies the sources, with mutants in them. Returns the lines of the mutants, by file."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "Cargo.toml", "Cargo.lock", "crates"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout.decode().split("\0")
    files = {file for file in listed if file and (ROOT / file).is_file()}
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    crates = {crate_of(file) for file in by_file}
    expected, lines = set(), {}
    for file in files:
        content = (ROOT / file).read_bytes()
        if file in by_file:
            text, lines[file] = mutated(content.decode(), by_file[file])
            content = text.encode()
        for crate in crates:
            if file == f"crates/{crate}/src/lib.rs":
                content += b"\nmod mutants;\n"
        target = TREE / file
        replace_file(target, content)
        if os.access(ROOT / file, os.X_OK):
            target.chmod(0o755)
        expected.add(target)
    for crate in crates:
        switch = TREE / f"crates/{crate}/src/mutants.rs"
        replace_file(switch, SWITCH.encode())
        expected.add(switch)
    for path in TREE.rglob("*"):
        if path.is_file() and path not in expected:
            path.unlink()
    return lines


# Builds ----------------------------------------------------------------------------------------------------------


def has_miri():
    command = ["cargo", "+nightly", "miri", "--version"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


# The tests of small.rs, as `crates/throng/miri` runs them.
MIRI = """\
#!/usr/bin/env bash
cd "{tree}" || exit 1
source crates/throng/tests/small.sh
make_small_package "{folder}"
export MIRIFLAGS="-Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-num-cpus=8 -Zmiri-env-forward={variable}"
export CARGO_TARGET_DIR="{folder}/target" RUSTFLAGS=-Awarnings
exec cargo +nightly miri test --quiet --offline --manifest-path "{folder}/Cargo.toml" --test small -- --format pretty "$@"
"""


def build(programs, folder, explain):
    """Builds test programs and copies them to `folder`. Returns their files."""
    of_cargo = sorted(programs - {"miri"})
    tests = [argument for program in of_cargo if program != "lib" for argument in ("--test", program)]
    command = [
        "cargo", "test", "--locked", "-p", "throng", "-p", "throng-check", "--all-features", "--no-run",
        "--message-format=json", *(["--lib"] if "lib" in programs else []), *tests,
    ]
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(TARGET),
        # A build that is interrupted leaves notes that the next one cannot be linked with.
        "CARGO_INCREMENTAL": os.environ.get("CARGO_INCREMENTAL", "0"),
        "RUSTFLAGS": f"{os.environ.get('RUSTFLAGS', '')} -Awarnings".strip(),
    }
    built = subprocess.run(command, cwd=TREE, env=environment, stdout=subprocess.PIPE)
    found, errors = {}, []
    for line in built.stdout.decode().splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-message" and message["message"]["level"] == "error":
            errors.append(message["message"])
        if message["reason"] == "compiler-artifact" and message.get("executable") and message["profile"]["test"]:
            name = message["target"]["name"]
            if "lib" in message["target"]["kind"]:
                # The unit tests of throng; those of throng-check are of no use here.
                name = "lib" if name == "throng" else None
            if name:
                found[name] = (message["executable"], str(Path(message["manifest_path"]).parent))
    if built.returncode != 0:
        raise Mistake("the mutants cannot be built\n" + "\n".join(explain(error) for error in errors))
    missing = set(of_cargo) - set(found)
    if missing:
        raise Mistake(f"no test programs of these names: {', '.join(sorted(missing))}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, (file, directory) in found.items():
        # Another run may use the old one.
        (folder / name).unlink(missing_ok=True)
        shutil.copy2(file, folder / name)
        found[name] = (folder / name, directory)
    if "miri" in programs:
        script = folder / "miri"
        script.write_text(MIRI.format(tree=TREE, folder=folder / "miri-package", variable=VARIABLE))
        script.chmod(0o755)
        found["miri"] = (script, str(TREE))
    return found


def explanation(mutants, lines):
    """A function that names the mutant of an error of the compiler."""

    def explain(error):
        text = error["rendered"].strip()
        for span in error["spans"]:
            near = [
                mutant for mutant in mutants
                if mutant.file == span["file_name"] or mutant.file.endswith("/" + span["file_name"])
                if span["line_start"] <= lines.get(mutant.file, {}).get(mutant.number, -1) <= span["line_end"]
            ]
            names = ", ".join(mutant.name for mutant in near)
            code = (error.get("code") or {}).get("code")
            if near and code == "E0015":
                return f"{names}: a `const` context cannot ask which mutant is on: choose another fragment, or `alone = true`\n{text}"
            if near:
                return f"{names}: choose another fragment, or `alone = true`\n{text}"
        return text

    return explain


# Runs ------------------------------------------------------------------------------------------------------------


def commands_of(suite):
    """A suite is a test program and its filters; the checkers take one filter at a time."""
    program, *filters = suite.split()
    return program, [[f] for f in filters] or [[]]


def run_suite(suite, programs, number, budget):
    """Runs a suite, with the mutant of this number on if there is one, until a test fails or the time is over."""
    program, all_filters = commands_of(suite)
    start, tests, output = time.monotonic(), 0, ""
    for filters in all_filters:
        left = budget - (time.monotonic() - start)
        verdict = run_program(programs[program], filters, number, left, budget)
        tests += verdict.tests
        output = verdict.output
        if verdict.state != "passed":
            verdict.seconds, verdict.tests = time.monotonic() - start, tests
            return verdict
        if verdict.tests == 0:
            return Verdict("empty", f"{program} has no test for `{' '.join(filters)}`", output=output)
    return Verdict("passed", "", time.monotonic() - start, tests, output)


FAILED = re.compile(r"^test (.*?)\s+\.\.\. FAILED", re.M)
FAULTS = {signal.SIGSEGV: "segmentation fault", signal.SIGABRT: "abort", signal.SIGBUS: "bus error",
          signal.SIGILL: "illegal instruction", signal.SIGKILL: "killed by the system"}


def run_program(program, filters, number, seconds, budget):
    file, directory = program
    environment = {**os.environ, "CARGO_MANIFEST_DIR": directory, "RUST_BACKTRACE": "0"}
    environment.pop("THRONG_LONG", None)
    environment.pop(VARIABLE, None)
    if number is not None:
        environment[VARIABLE] = str(number)
    # Not among the lines of the tests: a panic would come between a test and its result.
    errors = tempfile.TemporaryFile()
    process = subprocess.Popen(
        [str(file), *filters, "--test-threads=1"], cwd=directory, env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
    )
    deadline, output, state = time.monotonic() + seconds, b"", None
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                state = "timed out"
                break
            if not select.select([process.stdout], [], [], left)[0]:
                continue
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                break
            output += piece
            if FAILED.search(output[-(1 << 17):].decode(errors="replace")):
                state = "failed"
                break
    finally:
        if state is None:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                state = "timed out"
        # All that the program has started is of its process group.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()
    text = output.decode(errors="replace")
    errors.seek(0)
    said = text + errors.read().decode(errors="replace")
    errors.close()
    tests = len(re.findall(r"\.\.\. ok$", text, re.M))
    failed = FAILED.search(text)
    begun = re.findall(r"^test (\S+)\s+\.\.\. (?!ok$|FAILED$|ignored)", text, re.M)
    last = begun[-1] if begun else "no test"
    if failed:
        return Verdict("failed", failed[1], tests=tests, output=said)
    if state == "timed out":
        return Verdict("timed out", f"{last}, timed out after {budget:.0f} s", tests=tests, output=said)
    if process.returncode < 0:
        what = FAULTS.get(-process.returncode, f"signal {-process.returncode}")
        return Verdict("crashed", f"{last}, {what}", tests=tests, output=said)
    if process.returncode != 0:
        return Verdict("failed", f"{last}, exit code {process.returncode}", tests=tests, output=said)
    return Verdict("passed", tests=tests, output=said)


def try_mutant(mutant, programs, budget):
    """Runs the suites of a mutant until one of them notices it."""
    start = time.monotonic()
    number = None if mutant.alone else mutant.number
    for suite in mutant.suites:
        verdict = run_suite(suite, programs, number, budget)
        if verdict.state != "passed":
            program = suite.split()[0]
            by = f"{program}: {verdict.by}"
            return Verdict("killed", by, time.monotonic() - start, output=verdict.output)
    return Verdict("survived", "", time.monotonic() - start)


# Reports ---------------------------------------------------------------------------------------------------------


def cell(text):
    return " ".join(text.split()).replace("|", "\\|")


def machine():
    try:
        model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].strip()
    except (OSError, TypeError):
        model = os.uname().machine
    return f"{model}, {os.cpu_count()} cores, {os.uname().sysname}"


def table(mutants, verdicts):
    """The table of all mutants, in Markdown: a part for each list."""
    lines = []
    for name in sorted({mutant.list for mutant in mutants}):
        lines += [f"\n## {name.removesuffix('.toml')}\n", "| mutant | fault | killed by | seconds |", "|---|---|---|---:|"]
        for mutant in mutants:
            if mutant.list != name:
                continue
            if mutant.equivalent is not None:
                by, seconds = f"equivalent: {mutant.equivalent}", ""
            else:
                verdict = verdicts.get(mutant.name, Verdict("skipped", "not run: no Miri"))
                by, seconds = f"`{verdict.by}`", f"{verdict.seconds:.1f}"
                if verdict.state == "survived":
                    by = f"**survived**; {mutant.known}" if mutant.known else "**survived**"
            lines.append(f"| `{mutant.name}` | {cell(mutant.fault)} | {cell(by)} | {seconds} |")
    return "\n".join(lines) + "\n"


def summary(mutants, verdicts, counts, budget):
    date = time.strftime("%Y-%m-%d")
    return (
        "# Mutants\n\n"
        f"{machine()}, {date}, made by `./test --mutants`. Each mutant is one change to the library that a check must\n"
        "notice. *Killed by* has the test program and the first test that failed, crashed or hung; *seconds* is the time\n"
        f"until then. A suite had {budget:.0f} s. Two suites ran at a time.\n\n{counts}.\n"
        + table(mutants, verdicts)
    )


def options():
    parser = argparse.ArgumentParser(
        prog="crates/throng-check/mutants/run",
        description="Runs every mutant of this folder against its suites. Each must be killed. Ends with "
        "`N passed, N failed`. Exit codes: 0 if all are killed, equivalent or known to survive, 1 if one survives, "
        "2 for a mistake in a list, 77 without Python 3.11.",
    )
    parser.add_argument("--check", action="store_true", help="only check the lists: each fragment occurs exactly once")
    parser.add_argument("--only", metavar="NAME,..", help="these mutants; NAME may be the name of a list, such as queue")
    parser.add_argument("--out", metavar="DIR", type=Path, help="write the table to DIR/summary.md")
    parser.add_argument("--budget", metavar="SECONDS", type=float, default=60.0, help="for each suite of a mutant (default: 60)")
    parser.add_argument("--jobs", metavar="N", type=int, default=2, help="suites that run at a time (default: 2)")
    parser.add_argument("--verbose", action="store_true", help="print what the killing test said")
    return parser.parse_args()


def chosen_of(mutants, only):
    if only is None:
        return mutants
    wanted = set(only.split(","))
    chosen = [m for m in mutants if m.name in wanted or m.list.removesuffix(".toml") in wanted]
    unknown = wanted - {m.name for m in chosen} - {m.list.removesuffix(".toml") for m in chosen}
    if unknown:
        raise Mistake(f"no mutants of these names: {', '.join(sorted(unknown))}")
    return chosen


def in_turns(jobs, tasks, tell):
    """Runs tasks, `jobs` at a time, and tells of each as it ends. Returns their results by name."""
    results, lock = {}, threading.Lock()

    def run(name, task):
        result = task()
        with lock:
            results[name] = result
            tell(len(results), name, result)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(run, name, task) for name, task in tasks.items()]:
            future.result()
    return results


def check_baseline(suites, programs, budget, jobs):
    """Every suite passes without a mutant, runs at least a test, and has time to spare."""

    def tell(count, suite, verdict):
        print(f"without mutants {count}/{len(suites)}: {suite}: {verdict.state}, "
              f"{verdict.tests} tests, {verdict.seconds:.1f} s", flush=True)

    tasks = {suite: lambda suite=suite: run_suite(suite, programs, None, budget / SLACK) for suite in suites}
    mistakes = []
    for suite, verdict in in_turns(jobs, tasks, tell).items():
        if verdict.state == "timed out":
            mistakes.append(f"{suite}: takes more than {budget / SLACK:.0f} s without a mutant: choose a narrower filter")
        elif verdict.state != "passed":
            mistakes.append(f"{suite}: {verdict.state} without a mutant: {verdict.by}\n{verdict.output[-2000:]}")
    if mistakes:
        raise Mistake("\n".join(mistakes))


def run_all(everything, mutants, arguments):
    """Builds and runs the mutants. Returns the verdicts by name."""
    run = [mutant for mutant in mutants if mutant.equivalent is None]
    of_miri = [m for m in run if any(commands_of(suite)[0] == "miri" for suite in m.suites)]
    if of_miri and not has_miri():
        print(f"skipped, no nightly toolchain with Miri: {', '.join(m.name for m in of_miri)}")
        run = [mutant for mutant in run if mutant not in of_miri]
    if not run:
        return {}
    # Of all lists: other choices need no other build.
    together = [mutant for mutant in everything if mutant.equivalent is None and not mutant.alone]
    suites = sorted({suite for mutant in run for suite in mutant.suites})
    wanted = {commands_of(suite)[0] for suite in suites}
    print(f"building {len(together)} mutants at once", flush=True)
    lines = make_tree(together)
    programs = build(wanted, PROGRAMS / "together", explanation(together, lines))
    check_baseline(suites, programs, arguments.budget, arguments.jobs)
    verdicts = {}

    def tell(_, name, verdict):
        verdicts[name] = verdict
        how = verdict.by if verdict.state == "killed" else "no suite noticed it"
        print(f"{len(verdicts)}/{len(run)} {name}: {verdict.state}: {how}, {verdict.seconds:.1f} s", flush=True)
        if arguments.verbose:
            print(verdict.output[-3000:], flush=True)

    tasks = {m.name: lambda m=m: try_mutant(m, programs, arguments.budget) for m in run if not m.alone}
    in_turns(arguments.jobs, tasks, tell)
    for mutant in run:
        if mutant.alone:
            print(f"building {mutant.name} alone", flush=True)
            source = source_of(mutant.file)
            text = source[:mutant.start] + mutant.becomes + source[mutant.end:]
            make_tree([])
            replace_file(TREE / mutant.file, text.encode())
            needed = {commands_of(suite)[0] for suite in mutant.suites}
            own = build(needed, PROGRAMS / "alone", lambda error: error["rendered"].strip())
            tell(0, mutant.name, try_mutant(mutant, own, arguments.budget))
    return verdicts


def main():
    arguments = options()
    try:
        everything = read_lists()
        mutants = chosen_of(everything, arguments.only)
        if arguments.check:
            print(f"{len(mutants)} mutants: each fragment occurs once")
            return 0
        verdicts = run_all(everything, mutants, arguments)
    except Mistake as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    survivors = [m for m in mutants if m.name in verdicts and verdicts[m.name].state == "survived"]
    failed = [m for m in survivors if m.known is None]
    known = len(survivors) - len(failed)
    killed = len(verdicts) - len(survivors)
    equivalent = sum(mutant.equivalent is not None for mutant in mutants)
    counts = (f"{killed} passed, {len(failed)} failed, {known} known to survive, {equivalent} equivalent")
    for mutant in mutants:
        if mutant.known and mutant not in survivors:
            print(f"{mutant.name} is killed now: its line `known` can go")
    print(table(mutants, verdicts))
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "summary.md").write_text(summary(mutants, verdicts, counts, arguments.budget))
    for mutant in failed:
        print(f"survived: {mutant.name} ({mutant.file})")
    print(counts)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
