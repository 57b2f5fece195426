"""A headless browser, driven over a pipe. Pages are opened as they are, without hooks in them.

Chromium's own protocol, which its developer tools speak, is JSON ended by a zero byte. Standard library only.
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
]

PATIENCE_S = 40


class Browser:
    """Chromium with a profile of its own, which is deleted afterwards."""

    def __init__(self, program="chromium"):
        self.profile = tempfile.mkdtemp(prefix="throng-browser-")
        to_it, self.write_end = os.pipe()
        self.read_end, from_it = os.pipe()
        # It reads commands from descriptor 3 and answers on 4, whatever their numbers are here.
        wiring = f"exec 3<&{to_it} 4>&{from_it}; exec \"$@\""
        command = [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", wiring, "bash", *command],
            pass_fds=(to_it, from_it),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_it)
        os.close(from_it)
        self.buffer = b""
        self.last_id = 0
        self.answers = {}
        self.listeners = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write_end)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def command(self, method, session=None, **parameters):
        """Sends a command and returns its answer."""
        self.last_id += 1
        wanted = self.last_id
        message = {"id": wanted, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data) :]
        self.listen(lambda: wanted in self.answers, method)
        answer = self.answers.pop(wanted)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def listen(self, until, what):
        """Handles messages until a condition holds, for at most PATIENCE_S seconds."""
        deadline = time.monotonic() + PATIENCE_S
        while not until():
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError(f"{what}: nothing after {PATIENCE_S} s")
            data = os.read(self.read_end, 1 << 16)
            if not data:
                raise RuntimeError(f"{what}: the browser is gone")
            *messages, self.buffer = (self.buffer + data).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self.answers[message["id"]] = message
                elif message.get("sessionId") in self.listeners:
                    self.listeners[message["sessionId"]](message["method"], message["params"])

    def open(self, address, **how):
        """Opens an address or a file, and returns when it is loaded."""
        return Page(self, address, **how)


class Page:
    """An open page. `errors` has what went wrong on it, `requests` the addresses it asked for."""

    def __init__(self, browser, address, width=1280, height=900, dark=False, script=True):
        self.browser = browser
        self.errors = []
        self.requests = []
        self.loaded = False
        target = browser.command("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.command("Target.attachToTarget", targetId=target, flatten=True)
        self.target, self.session = target, attached["sessionId"]
        browser.listeners[self.session] = self.heard
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.command(f"{domain}.enable")
        self.size(width, height)
        self.dark(dark)
        if not script:
            self.command("Emulation.setScriptExecutionDisabled", value=True)
        if "://" not in address:
            address = "file://" + os.path.abspath(address)
        self.address = address
        failed = self.command("Page.navigate", url=address).get("errorText")
        if failed:
            raise RuntimeError(f"{address}: {failed}")
        browser.listen(lambda: self.loaded, f"loading {address}")

    def command(self, method, **parameters):
        return self.browser.command(method, self.session, **parameters)

    def heard(self, method, message):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = message["exceptionDetails"]
            said = details.get("exception", {}).get("description", details["text"])
            self.errors.append(f"{said} (line {details['lineNumber'] + 1})")
        elif method == "Runtime.consoleAPICalled" and message["type"] in ("error", "assert"):
            self.errors.append("console: " + " ".join(str(a.get("value", a)) for a in message["args"]))
        elif method == "Log.entryAdded" and message["entry"]["level"] == "error":
            self.errors.append("log: " + message["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(message["request"]["url"])

    def size(self, width, height):
        """Sets the size of the window; a narrow one is a phone."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def dark(self, dark):
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[feature])

    def evaluate(self, script):
        """Returns the value of an expression on the page, after awaiting a promise."""
        answer = self.command(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def settle(self):
        """Lets the page draw its changes, and handles its messages."""
        self.evaluate("new Promise((go) => requestAnimationFrame(() => setTimeout(go, 0)))")

    def mouse(self, x, y, kind="mouseMoved"):
        pressed = {"button": "left", "clickCount": 1} if kind != "mouseMoved" else {}
        self.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)
        self.settle()

    def click(self, x, y):
        self.mouse(x, y, "mousePressed")
        self.mouse(x, y, "mouseReleased")

    def touch(self, x, y):
        self.command("Emulation.setTouchEmulationEnabled", enabled=True)
        self.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.settle()

    def key(self, name):
        for kind in ["keyDown", "keyUp"]:
            self.command("Input.dispatchKeyEvent", type=kind, key=name, code=name)
        self.settle()

    def picture(self, path, whole=False):
        """Saves a picture of the window, or of the whole page."""
        import base64

        answer = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(answer["data"]))

    def close(self):
        self.browser.command("Target.closeTarget", targetId=self.target)
        self.browser.listeners.pop(self.session, None)
