"""The page of `throng watch`, in a browser, on a simulated machine and on this one.

usage: watch.py THRONG
"""

import os
import signal
import subprocess
import sys
import time

from browser import Browser
from checks import Checks, contrast, fits, same

OWN = {"/", "/page.css", "/page.js", "/tree.js", "/icon.svg", "/state", "/load"}
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


def until(page, what, is_so):
    """Waits until a condition holds on the page."""
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, f"{what}, {PATIENCE_S} s later: {text(page, 'headline')!r}"
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
    others = [url for url in page.requests if not url.startswith("data:") and url.removeprefix(root) not in OWN]
    assert not others, f"asks for {others}"


def is_for_phones_and_nights(page):
    page.size(390, 844)
    page.settle()
    fits(page)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for dark in [False, True]:
        page.dark(dark)
        page.settle()
        for selector in ["#headline", "#depth-now", "#callers-number"]:
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
        checks.run("watch: ends well", lambda: same(server.end(), 0, "exit code"))
    checks.finish()


main()
