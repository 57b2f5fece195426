"""The page of a survey, in a browser.

usage: report.py THRONG SAMPLE.json FIGURES FOLDER [REPORT.json..]

THRONG is the binary; pages go to FOLDER. SAMPLE.json is an invented survey with every part; the other
reports are checked as far as they have these parts.
"""

import copy
import html
import json
import os
import subprocess
import sys

from browser import Browser
from checks import Checks, contrast, fits, quiet, same

EVIL = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>"


def short(text):
    """Formats a number with about three digits, as the lab does; an implementation of its own."""
    number = float(text)
    size = abs(number)
    if size >= 99.95 or size == int(size):
        return f"{int(size + 0.5):,}".replace(",", " ")
    digits = 1 if size >= 9.995 else 2 if size >= 0.0995 else 4
    return f"{number:.{digits}f}"


class Report:
    """A survey, its page, and the expected contents. Numbers stay strings."""

    def __init__(self, throng, path, folder, *options):
        self.page = os.path.join(folder, os.path.basename(path).replace(".json", ".html"))
        subprocess.run([throng, "page", path, "--html", self.page, *options], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as file:
            self.survey = json.load(file, parse_float=str, parse_int=str)

    @property
    def needs(self):
        return self.survey["needs"]

    def shown(self, need):
        """Returns the entrants whose lines are visible at first."""
        pick = (need["advice"] or {}).get("pick")
        known = [one for one in need["entrants"] if any(cell["median"] is not None for cell in one["cells"])]
        return [one for one in known if one["whose"] != "method" or one["name"] in (pick, need["usual"])]

    def rows(self):
        """Returns the expected table of all numbers."""
        of = {"ours": "throng", "method": "variant", "peer": "other"}
        for need in self.needs:
            for entrant in need["entrants"]:
                for cell in entrant["cells"]:
                    numbers = [cell[key] or "–" for key in ("median", "min", "max")]
                    start = [need["name"], entrant["name"], of[entrant["whose"]], cell["threads"]]
                    yield [*start, *numbers, str(len(cell["runs"]))]


def cell_of(entrant, threads):
    """Returns an entrant's cell for a number of threads, or None where it was not measured."""
    return next((cell for cell in entrant["cells"] if cell["threads"] == threads), None)


def chart(i):
    return f'document.querySelector(\'figure.chart[data-need="{i}"]\')'


def tip(page):
    """Returns the lines of the box with numbers, or None where it is hidden."""
    return page.evaluate(
        """(() => {
          const tip = document.getElementById("tip");
          return tip.hidden ? null : [...tip.children].map((line) => line.textContent);
        })()"""
    )


def point(page, i, name, nth):
    """Returns the place of a line's point in the window."""
    return page.evaluate(
        f"""(() => {{
          const place = {chart(i)};
          place.querySelector(".drawing").scrollIntoView({{ block: "center" }});
          const line = [...place.querySelectorAll("g.line")].find((it) => it.dataset.entrant === {json.dumps(name)});
          const spots = line.querySelectorAll("circle, rect");
          const box = spots[({nth} + spots.length) % spots.length].getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()"""
    )


def says(found, need, threads):
    """Checks that the box has the numbers of an entrant as in the JSON. Returns its name."""
    assert found, "no numbers are shown"
    entrant = next(one for one in need["entrants"] if one["name"] == found[0])
    cell = cell_of(entrant, threads)
    assert cell, f"{found} instead of {threads} threads"
    runs = len(cell["runs"])
    wanted = [
        entrant["code"],
        f"{threads} thread{'' if threads == '1' else 's'}",
        f"median {short(cell['median'])} ",
        f"min {short(cell['min'])}, max {short(cell['max'])}, {runs} run{'' if runs == 1 else 's'}",
    ]
    for line, start in zip(found[1:], wanted, strict=False):
        assert line.startswith(start), f"{found} instead of {wanted}"
    assert len(found) > len(wanted), found
    return found[0]


def first_lines(report, page):
    """Checks for one chart a need, with a line for each entrant that is visible at first."""
    same(page.evaluate("document.querySelectorAll('figure.chart svg[role]').length"), len(report.needs), "charts")
    for i, need in enumerate(report.needs):
        lines = page.evaluate(f"[...{chart(i)}.querySelectorAll('g.line')].map((it) => it.dataset.entrant)")
        same(sorted(lines), sorted(one["name"] for one in report.shown(need)), need["title"])
        for one in report.shown(need):
            mine = f"it.dataset.entrant === {json.dumps(one['name'])}"
            line = f"[...{chart(i)}.querySelectorAll('g.line')].find((it) => {mine})"
            dots = page.evaluate(f"{line}.querySelectorAll('circle, rect').length")
            same(dots, len([cell for cell in one["cells"] if cell["median"] is not None]), one["name"])
        labels = page.evaluate(f"[...{chart(i)}.querySelectorAll('.axes text.along')].map((it) => it.textContent)")
        threads = {cell["threads"] for one in need["entrants"] for cell in one["cells"]}
        assert threads <= set(labels), f"{need['title']}: {threads} are not all among {labels}"
        for word in labels + [page.evaluate(f"{chart(i)}.outerHTML")]:
            assert "NaN" not in word, f"{need['title']}: drawn with numbers that are none"


def order_of_points(report, page):
    """Checks that higher numbers are higher up, and that the scale is named."""
    for i, need in enumerate(report.needs):
        for one in report.shown(need):
            ups = [point(page, i, one["name"], nth)[1] for nth in range(len(one["cells"]))]
            medians = [float(cell["median"]) for cell in sorted(one["cells"], key=lambda cell: int(cell["threads"]))]
            for a in range(len(ups) - 1):
                higher = medians[a + 1] > medians[a]
                assert (ups[a + 1] <= ups[a] + 0.01) == higher or abs(ups[a] - ups[a + 1]) < 1, one["name"]
        values = [float(cell["median"]) for one in report.shown(need) for cell in one["cells"]]
        words = page.evaluate(f"{chart(i)}.querySelector('figcaption').textContent")
        same("logarithmic" in words, max(values) / min(values) > 10, f"scale of {need['title']}")
        better = "more" if need["unit"] == "million-per-second" else "less"
        assert f"{better} is better" in words, words


def pointed(report, page):
    """Checks that numbers are shown at the pointer, and vanish when it leaves."""
    for i, need in enumerate(report.needs):
        for one in report.shown(need):
            for nth in {0, len(one["cells"]) - 1}:
                threads = one["cells"][nth]["threads"]
                at = point(page, i, one["name"], nth)
                page.mouse(*at)
                name = says(tip(page), need, threads)
                # Two lines may meet in a point: then either is right.
                meant = next(other for other in need["entrants"] if other["name"] == name)
                there = point(page, i, name, meant["cells"].index(cell_of(meant, threads)))
                assert max(abs(a - b) for a, b in zip(at, there)) < 1.5, f"{name} instead of {one['name']}"
                range_parts = f"{chart(i)}.querySelectorAll('.hover .band, .hover .whisker').length"
                same(page.evaluate(range_parts), 2, "band and bar from the smallest to the largest")
        page.mouse(1, 1)
        same(tip(page), None, "after the pointer has left")


def walked(report, page):
    """Checks that the arrow keys move along a line, and to the next one."""
    for i, need in enumerate(report.needs):
        page.evaluate(f"{chart(i)}.querySelector('.drawing').scrollIntoView({{ block: 'center' }})")
        page.settle()
        page.evaluate(f"{chart(i)}.querySelector('.drawing svg').focus({{ preventScroll: true }})")
        found = tip(page)
        assert found, "nothing is shown when the chart has the focus"
        entrant = next(one for one in need["entrants"] if one["name"] == found[0])
        threads = [cell["threads"] for cell in entrant["cells"]]
        says(found, need, threads[-1])
        if len(threads) > 1:
            page.key("ArrowLeft")
            same(says(tip(page), need, threads[-2]), entrant["name"], "one to the left")
        column = threads[max(0, len(threads) - 2)]
        there = [one for one in report.shown(need) if cell_of(one, column)]
        names = [one["name"] for one in sorted(there, key=lambda one: float(cell_of(one, column)["median"]))]
        above = min(names.index(entrant["name"]) + 1, len(names) - 1)
        page.key("ArrowUp")
        same(says(tip(page), need, column), names[above], "one up")
        page.key("ArrowDown")
        same(says(tip(page), need, column), names[max(0, above - 1)], "one down")
        page.key("Escape")
        same(tip(page), None, "after Escape")
        page.evaluate("document.activeElement.blur()")


def touched(report, page):
    """Checks that touch works as the pointer does."""
    one = report.shown(report.needs[0])[0]
    at = point(page, 0, one["name"], -1)
    page.touch(*at)
    says(tip(page), report.needs[0], one["cells"][-1]["threads"])


def switched(report, page):
    """Checks that the legend switches lines off and on, and shows the methods of the papers."""
    count = lambda i: page.evaluate(f"{chart(i)}.querySelectorAll('g.line').length")
    for i, need in enumerate(report.needs):
        before = count(i)
        press = f"{chart(i)}.querySelector('.legend button[aria-pressed=true]').click()"
        name = page.evaluate(f"{chart(i)}.querySelector('.legend button[aria-pressed=true]').dataset.entrant")
        page.evaluate(press)
        same(count(i), before - 1, f"without {name}")
        page.evaluate(f"{chart(i)}.querySelector('.legend button[aria-pressed=false]').click()")
        same(count(i), before, f"with {name} again")
        if page.evaluate(f"!!{chart(i)}.querySelector('.legend .all')"):
            page.evaluate(f"{chart(i)}.querySelector('.legend .all').click()")
            everybody = [one for one in need["entrants"] if any(cell["median"] for cell in one["cells"])]
            same(count(i), len(everybody), "with all methods")
            page.evaluate(f"{chart(i)}.querySelector('.legend .all').click()")
            same(count(i), before, "without methods again")


def table(page, only_seen=False):
    seen = "(row) => !row.hidden" if only_seen else "() => true"
    return page.evaluate(
        f"[...document.querySelectorAll('#raw tbody tr')].filter({seen})"
        ".map((row) => [...row.cells].slice(0, 8).map((cell) => cell.textContent))"
    )


def numbers(report, page):
    """Checks that every number is in the table, to the last digit, and that the page carries the same JSON."""
    rows, wanted = table(page), list(report.rows())
    same(len(rows), len(wanted), "rows")
    for row, should in zip(rows, wanted):
        same(row, should, "row")
    carried = json.loads(page.evaluate("document.getElementById('survey').textContent"), parse_float=str, parse_int=str)
    assert carried == report.survey, "the page carries another survey"
    href, name = page.evaluate("(({ href, download }) => [href, download])(document.getElementById('download'))")
    assert href.startswith("blob:") and name.endswith(".json"), f"{name} is {href}"


def sorted_and_filtered(report, page):
    """Checks that the table can be sorted by numbers, and filtered by need and name."""
    column = "[...document.querySelectorAll('#raw thead button')].find((it) => it.textContent === 'median')"
    for up in [True, False]:
        page.evaluate(f"{column}.click()")
        medians = [float(row[4]) for row in table(page)]
        same(medians, sorted(medians, reverse=not up), "medians")
    last = len(report.needs) - 1
    page.evaluate(
        f"(() => {{ const it = document.getElementById('filter-need'); it.value = '{last}';"
        " it.dispatchEvent(new Event('change')); })()"
    )
    same({row[0] for row in table(page, only_seen=True)}, {report.needs[last]["name"]}, "needs")
    name = report.needs[last]["entrants"][0]["name"]
    page.evaluate(
        f"(() => {{ const it = document.getElementById('filter-text'); it.value = {json.dumps(name)};"
        " it.dispatchEvent(new Event('input')); })()"
    )
    found = {row[1] for row in table(page, only_seen=True)}
    assert found and all(name in one for one in found), found


def advice(report, page):
    """Checks that every need has a card that says what to write, and why."""
    text = page.evaluate("document.getElementById('advice').innerText")
    same(page.evaluate("document.querySelectorAll('.card').length"), len(report.needs), "cards")
    for need in report.needs:
        assert need["title"] in text, need["title"]
        if need["advice"]:
            assert need["advice"]["words"] in text, need["advice"]["words"]
            assert need["advice"]["code"] in text, need["advice"]["code"]
            for gain in need["advice"]["gains"]:
                assert f"{short(gain['times'])}×" in text, gain


def colours(page):
    """Checks that light and dark differ, and that both are readable."""
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for dark in [False, True]:
        page.dark(dark)
        page.settle()
        for selector in ["main p", "figcaption", "#advice a", ".use code", "#raw th", ".contents a", "dt", "#tip"]:
            found = contrast(page, selector)
            assert found >= 4.5, f"{selector}: a contrast of {found:.1f} only, dark: {dark}"
    assert page.evaluate(ground) != light, "dark is light"
    page.dark(False)


def heat(report, page):
    """Checks that the map of the cores shows the time between two of them, by pointer and keys."""
    times = report.survey["calibration"]["transfer_ns"]
    cores = len(times)
    box = page.evaluate(
        """(() => {
          const it = document.querySelector("#heat canvas");
          it.scrollIntoView({ block: "center" });
          const { left, top, width } = it.getBoundingClientRect();
          return [left, top, width];
        })()"""
    )
    for i, j in [(0, 1), (3, cores - 1), (cores - 1, 2)]:
        page.mouse(box[0] + (j + 0.5) / cores * box[2], box[1] + (i + 0.5) / cores * box[2])
        same(tip(page), [f"core {i} to core {j}", f"{short(times[i][j])} nanoseconds"], "map")
    page.evaluate("document.querySelector('#heat canvas').focus({ preventScroll: true })")
    page.key("ArrowUp")
    i, j = cores - 2, 2
    same(tip(page), [f"core {i} to core {j}", f"{short(times[i][j])} nanoseconds"], "map, by keys")
    colours = page.evaluate(
        """(() => {
          const { width, height } = document.querySelector("#heat canvas");
          const image = document.querySelector("#heat canvas").getContext("2d").getImageData(0, 0, width, height);
          return new Set(new Uint32Array(image.data.buffer)).size;
        })()"""
    )
    assert colours > 3, f"{colours} colours"


def pictures(page):
    """Checks that the figures of the papers can be opened and are loaded."""
    width = page.evaluate(
        """(async () => {
          const folded = document.querySelector("details.figure");
          folded.open = true;
          const picture = folded.querySelector("img");
          picture.scrollIntoView();
          await picture.decode();
          return picture.naturalWidth;
        })()"""
    )
    assert width > 0, "no picture"


def without_script(browser, report):
    """Checks that everything but the charts is there without JavaScript."""
    page = browser.open(report.page, script=False)
    root = page.command("DOM.getDocument", depth=-1)["root"]["nodeId"]
    text = page.command("DOM.getOuterHTML", nodeId=root)["outerHTML"]
    page.close()
    assert "Without JavaScript there are no charts here" in text
    assert 'class="line' not in text, "scripts ran"
    for need in report.needs:
        words = need["advice"]["words"] if need["advice"] else need["title"]
        assert html.escape(words, quote=False) in text, words
    for row in report.rows():
        cells = "".join(f'<td class="number">{number}</td>' for number in row[3:])
        assert cells in text, row


def harmless(report, page):
    """Checks that text of the data is shown as text."""
    same(page.evaluate("window.harmed"), None, "code of the data ran")
    same(page.evaluate("document.scripts.length"), 2, "scripts")
    same(page.evaluate("document.querySelectorAll('main img').length"), 0, "pictures")
    assert EVIL in page.evaluate("document.querySelector('.machine').textContent")
    page.mouse(*point(page, 0, EVIL, 0))
    same(tip(page)[0], EVIL, "name")
    same(page.evaluate("window.harmed"), None, "code of the data ran")


def variants(sample):
    """Makes other surveys from the sample."""
    large = copy.deepcopy(sample)
    cores = 24
    times = [[0.0 if i == j else 40.5 + 7 * abs(i // 8 - j // 8) + j / 8 for j in range(cores)] for i in range(cores)]
    large["calibration"].update(cores=list(range(cores)), transfer_ns=times)
    large["layout"].update(processors=512, groups=[2, 8, 64], cores=list(range(512)))
    yield "large", large
    evil = copy.deepcopy(sample)
    evil["setup"]["processor"] = EVIL
    need = evil["needs"][0]
    for key in ["title", "workload"]:
        need[key] = EVIL
    need["entrants"][0].update(name=EVIL, code=EVIL)
    need["advice"].update(pick=EVIL, code=EVIL, words=EVIL)
    evil["calibration"]["machine"] = EVIL
    yield "evil", evil
    early = copy.deepcopy(sample)
    early.update(complete=False, needs=early["needs"][:1])
    for entrant in early["needs"][0]["entrants"]:
        del entrant["cells"][1:]
    early["needs"][0]["entrants"][0]["cells"] = []
    early["needs"][0]["advice"] = None
    del early["calibration"], early["validation"]
    yield "early", early
    empty = copy.deepcopy(early)
    empty["needs"] = []
    yield "empty", empty


def all_of(checks, browser, report, name):
    """Runs the checks that apply to every survey."""
    page = browser.open(report.page)
    checks.run(f"{name}: every number as in the JSON", numbers, report, page)
    checks.run(f"{name}: a card for every need", advice, report, page)
    checks.run(f"{name}: a chart for every need, a line for every entrant", first_lines, report, page)
    checks.run(f"{name}: more is higher up", order_of_points, report, page)
    checks.run(f"{name}: numbers at the pointer", pointed, report, page)
    checks.run(f"{name}: numbers for the keys", walked, report, page)
    checks.run(f"{name}: lines are switched", switched, report, page)
    checks.run(f"{name}: sorted and filtered", sorted_and_filtered, report, page)
    checks.run(f"{name}: nothing went wrong, nothing was asked for", quiet, page)
    page.close()
    page = browser.open(report.page, width=390, height=844)
    checks.run(f"{name}: fits a phone", fits, page)
    checks.run(f"{name}: numbers for a finger", touched, report, page)
    checks.run(f"{name}: nothing went wrong on a phone", quiet, page)
    page.close()


def main():
    throng, sample, figures, folder, *others = sys.argv[1:]
    checks = Checks()
    with open(sample, encoding="utf-8") as file:
        made = json.load(file)
    with Browser(os.environ.get("CHROMIUM", "chromium")) as browser:
        report = Report(throng, sample, folder, "--figures", figures)
        all_of(checks, browser, report, "sample")
        page = browser.open(report.page)
        checks.run("sample: light and dark", colours, page)
        checks.run("sample: figures of the papers", pictures, page)
        checks.run("sample: nothing went wrong in the dark", quiet, page)
        page.close()
        checks.run("sample: without JavaScript", without_script, browser, report)
        for other in others:
            name = os.path.basename(other).removesuffix(".json")
            all_of(checks, browser, Report(throng, other, folder), name)
        for name, survey in variants(made):
            path = os.path.join(folder, f"{name}.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(survey, file)
            report = Report(throng, path, folder)
            page = browser.open(report.page)
            checks.run(f"{name}: every number as in the JSON", numbers, report, page)
            checks.run(f"{name}: a chart for every need, a line for every entrant", first_lines, report, page)
            if name == "large":
                checks.run("large: the map of the cores", heat, report, page)
            if name == "evil":
                checks.run("evil: text is text", harmless, report, page)
            early = page.evaluate("!!document.getElementById('incomplete')")
            checks.run(f"{name}: announced if ended early", same, early, name in ("early", "empty"), "notice")
            page.size(390, 844)
            page.settle()
            checks.run(f"{name}: fits a phone", fits, page)
            checks.run(f"{name}: nothing went wrong, nothing was asked for", quiet, page)
            page.close()
    checks.finish()


main()
