"""The pages of `throng watch`, in a browser: the counter, simulated and on this machine; structures, step by step.

usage: watch.py THRONG
"""

import os
import signal
import subprocess
import sys
import time

from browser import Browser
from checks import Checks, contrast, fits, same

OWN = {
    "/", "/page.css", "/page.js", "/tree.js", "/icon.svg", "/state", "/load",
    "/drawing.css", "/run", "/frame",
}
PATIENCE_S = 40


class Server:
    """The running program; ended as by Ctrl-C."""

    def __init__(self, throng, *options):
        command = [throng, "watch", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=20)


def text(page, name):
    return page.evaluate(f"document.getElementById({name!r}).textContent.trim()")


def until(page, what, is_so, shown="headline"):
    """Waits until a condition holds on the page. `shown` is the part to report if it never does."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}, {PATIENCE_S} s later: {text(page, shown)!r}"
        time.sleep(0.1)
        page.settle()


def slide(page, value):
    page.evaluate(
        f"(() => {{ const it = document.getElementById('callers'); it.value = {value};"
        " it.dispatchEvent(new Event('input', { bubbles: true })); })()"
    )


def is_live(page):
    return page.evaluate("document.getElementById('status').dataset.state") == "live"


def shows_a_word(page):
    until(page, "one word", lambda: text(page, "headline").startswith("One word: 4 processors"))
    same(page.evaluate("document.getElementById('callers').max"), "192", "the slider's end")
    line = "document.querySelector('#throughput-chart .line').getAttribute('d')"
    until(page, "a line", lambda: page.evaluate(line))
    colours = page.evaluate(
        """(() => {
          const it = document.getElementById("tree");
          const image = it.getContext("2d").getImageData(0, 0, it.width, it.height);
          return new Set(new Uint32Array(image.data.buffer)).size;
        })()"""
    )
    assert colours > 3, f"the drawing has {colours} colours"
    before = text(page, "handed-out")
    until(page, "more numbers", lambda: text(page, "handed-out") != before)


def moves(page):
    """Returns the number of lasting changes of shape, without trials."""
    return int("".join(digit for digit in text(page, "moves") if digit.isdigit()))


def grows_and_shrinks(page):
    slide(page, 192)
    same(text(page, "callers-number"), "192", "beside the slider")
    until(page, "groups", lambda: moves(page) >= 1 and text(page, "headline").startswith("Groups of"))
    grown = moves(page)
    slide(page, 2)
    is_small = lambda: text(page, "headline").startswith("One word: 2 processors")
    until(page, "one word again", lambda: moves(page) > grown and is_small())


def asks_for_its_own(page, address):
    page.settle()
    assert not page.errors, "; ".join(page.errors)
    root = address.rstrip("/")
    others = [url for url in page.requests if not url.startswith("data:") and url.removeprefix(root).split("?")[0] not in OWN]
    assert not others, f"asks for {others}"


def is_for_phones_and_nights(page, selectors=("#headline", "#depth-now", "#callers-number")):
    page.size(390, 844)
    page.settle()
    fits(page)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for dark in [False, True]:
        page.dark(dark)
        page.settle()
        for selector in selectors:
            assert contrast(page, selector) >= 4.5, f"{selector}, dark: {dark}"
    assert page.evaluate(ground) != light, "dark is light"


def tells_when_it_is_alone(page, server):
    same(server.end(), 0, "exit code")
    gone = "document.getElementById('status').dataset.state"
    until(page, "gone", lambda: page.evaluate(gone) == "gone")


def is_of_this_machine(page):
    until(page, "numbers", lambda: "numbers a second" in text(page, "headline"))
    most = page.evaluate("Number(document.getElementById('callers').max)")
    assert most >= os.cpu_count(), f"at most {most} threads"
    slide(page, 1)
    until(page, "one thread", lambda: text(page, "headline").startswith("One word: 1 thread"))


def number(page, name):
    """Returns the step that the page shows, as the sentence beside the player says."""
    return int(text(page, name).split()[1])


def tokens(page):
    return page.evaluate("document.querySelectorAll('#drawing .token').length")


def press(page, name):
    page.evaluate(f"document.getElementById({name!r}).click()")
    page.settle()


def shows_the_step_of_its_address(page):
    until(page, "a drawing", lambda: tokens(page) == 8, "sentence")
    same(number(page, "where"), 120, "the step")
    assert text(page, "sentence").startswith("Processor "), text(page, "sentence")
    assert "seed=7" in page.evaluate("location.search") and "step=120" in page.evaluate("location.search")


def goes_on_and_back(page):
    first = text(page, "sentence")
    press(page, "forth")
    until(page, "step 121", lambda: number(page, "where") == 121, "where")
    page.key("ArrowLeft")
    until(page, "step 120", lambda: number(page, "where") == 120, "where")
    same(text(page, "sentence"), first, "the sentence")
    press(page, "event")
    until(page, "an event", lambda: number(page, "where") > 120, "where")
    press(page, "play")
    at = number(page, "where")
    until(page, "it plays", lambda: number(page, "where") > at + 2, "where")
    press(page, "play")


def shows_every_structure(page):
    options = page.evaluate("[...document.getElementById('structure').options].map((it) => it.value)")
    assert len(options) > 30, options
    for option in options:
        page.evaluate(
            f"(() => {{ const it = document.getElementById('structure'); it.value = {option!r};"
            " it.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )
        name = option.split("=")[1]
        is_there = lambda: text(page, "name") == name and tokens(page) == 8 and option in page.evaluate("location.search")
        until(page, option, is_there, "name")
        same(page.evaluate("document.getElementById('refused').hidden"), True, f"{option}: no refusal")


def steps_page(checks, browser, throng):
    server = Server(throng, "--counter", "diffracting", "--seed", "7", "--step", "120")
    page = browser.open(server.address)
    root = server.address.split("?")[0]
    checks.run("watch: a structure, at the step of the address", shows_the_step_of_its_address, page)
    checks.run("watch: steps on and back, events, play", goes_on_and_back, page)
    checks.run("watch: every counter and barrier", shows_every_structure, page)
    checks.run("watch: steps for phones, light and dark", is_for_phones_and_nights, page, ["#name", "#sentence", "#about"])
    checks.run("watch: steps without errors and foreign requests", asks_for_its_own, page, root)
    checks.run("watch: steps end well", lambda: same(server.end(), 0, "exit code"))
    page.close()


def main():
    throng = sys.argv[1]
    checks = Checks()
    with Browser(os.environ.get("CHROMIUM", "chromium")) as browser:
        server = Server(throng, "--machine", "server", "--processors", "192")
        page = browser.open(server.address)
        checks.run("watch: live", until, page, "live", lambda: is_live(page))
        checks.run("watch: one word, a drawing, a line", shows_a_word, page)
        checks.run("watch: groups for many processors, one word for few", grows_and_shrinks, page)
        checks.run("watch: no errors, no foreign requests", asks_for_its_own, page, server.address)
        checks.run("watch: phones, light and dark", is_for_phones_and_nights, page)
        checks.run("watch: says when the program has ended", tells_when_it_is_alone, page, server)
        page.close()
        server = Server(throng)
        page = browser.open(server.address)
        checks.run("watch: threads of this machine", is_of_this_machine, page)
        page.close()
        checks.run("watch: ends well", lambda: same(server.end(), 0, "exit code"))
        steps_page(checks, browser, throng)
    checks.finish()


main()
