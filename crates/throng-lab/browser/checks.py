"""Named checks, counted and reported as cargo does."""

import sys
import traceback


class Checks:
    """Runs one check after the other, also after a failure."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def run(self, name, check, *arguments):
        try:
            check(*arguments)
        except Exception as error:  # Whatever it is, it is this check that failed.
            self.failed += 1
            print(f"test {name} ... FAILED: {error}")
            if not isinstance(error, AssertionError):
                traceback.print_exc(file=sys.stdout)
        else:
            self.passed += 1
            print(f"test {name} ... ok")
        sys.stdout.flush()

    def finish(self):
        """Prints the result in the words of cargo, and ends the program."""
        word = "FAILED" if self.failed else "ok"
        print(f"test result: {word}. {self.passed} passed; {self.failed} failed; 0 ignored;")
        sys.exit(1 if self.failed else 0)


def same(found, wanted, what):
    assert found == wanted, f"{what}: {found!r} instead of {wanted!r}"


def quiet(page):
    """Checks that the page has no errors and requested nothing but itself."""
    page.settle()
    assert not page.errors, "; ".join(page.errors)
    others = [url for url in page.requests if url != page.address and not url.startswith("data:")]
    assert not others, f"asks for {others}"


def fits(page):
    """Checks that no part of the page is wider than the window, except inside scrolling boxes."""
    wide = page.evaluate(
        """(() => {
          const room = document.documentElement.clientWidth;
          const inBox = (it) => it && (getComputedStyle(it).overflowX !== "visible" || inBox(it.parentElement));
          const wide = [...document.body.querySelectorAll("*")].filter(
            (it) => it.getBoundingClientRect().right > room + 0.5 && !inBox(it.parentElement));
          const names = wide.slice(0, 3).map((it) => it.tagName + "." + it.getAttribute("class"));
          return [document.documentElement.scrollWidth, room, names];
        })()"""
    )
    assert wide[0] <= wide[1] and not wide[2], f"{wide[0]} wide in a window of {wide[1]}: {wide[2]}"


def contrast(page, selector):
    """Returns the contrast ratio of text and background, as defined by the accessibility guidelines."""
    return page.evaluate(
        f"""(() => {{
          const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
          const light = (colour) => numbers(colour).slice(0, 3).map((part) => {{
            const c = part / 255;
            return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
          }}).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
          const ground = (it) => {{
            const colour = getComputedStyle(it).backgroundColor;
            return numbers(colour)[3] === 0 && it.parentElement ? ground(it.parentElement) : colour;
          }};
          const it = document.querySelector({selector!r});
          const [a, b] = [light(getComputedStyle(it).color), light(ground(it))].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        }})()"""
    )
