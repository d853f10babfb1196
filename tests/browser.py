"""Pages in a real browser: opened without a word on the console, measured, looked at in light and dark."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (Debian: apt-get install chromium)")

MEASURE = """<!doctype html><title>measuring</title><body style="margin:0">
<iframe id="page" src="index.html" style="border:0;width:{width}px;height:900px"></iframe><pre id="out"></pre>
<script>
document.getElementById("page").addEventListener("load", (event) => {{
  const page = event.target.contentDocument, root = page.documentElement;
  const wide = [...page.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, .picture, nav")
    && e.getBoundingClientRect().right > {width} + 1).map((e) => e.tagName + "." + e.className);
  const broken = [...page.images].filter((image) => !image.naturalWidth).length;
  const sizes = `width=${{root.scrollWidth}} wide=${{wide.join(",")}} broken=${{broken}}`;
  document.getElementById("out").textContent = `${{sizes}} title=${{page.title}}`;
}});
</script>"""


def open_in_browser(folder: Path, address: str, *flags: str) -> tuple[str, list[str]]:
    """What Chromium prints, and what its console said."""
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--hide-scrollbars",
        f"--user-data-dir={folder / 'profile'}", "--allow-file-access-from-files", "--enable-logging=stderr", "--v=0",
        "--virtual-time-budget=4000", *flags, address,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


COLOURS = """<!doctype html><title>colours</title><body>
<iframe id="page" src="index.html" style="border:0;width:1000px;height:900px"></iframe><pre id="out"></pre>
<script>
document.getElementById("page").addEventListener("load", (event) => {
  const page = event.target.contentDocument, style = (e) => event.target.contentWindow.getComputedStyle(e);
  const opaque = (colour) => colour !== "rgba(0, 0, 0, 0)" && colour !== "transparent";
  const behind = (e) => {
    while (e && !opaque(style(e).backgroundColor)) e = e.parentElement;
    return e ? style(e).backgroundColor : "rgb(255, 255, 255)";
  };
  const light = (colour) => {
    const linear = (x) => (x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = colour.match(/[0-9.]+/g).map((x) => linear(x / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const texts = [...page.querySelectorAll("h1, h2, h3, p, li, td, th, summary, a, code")].filter((e) => e.textContent.trim());
  const contrasts = texts.map((e) => {
    const [a, b] = [light(style(e).color), light(behind(e))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.tagName + ": " + e.textContent.trim().slice(0, 40)];
  });
  contrasts.sort((a, b) => a[0] - b[0]);
  document.getElementById("out").textContent = [light(behind(page.body)), ...contrasts[0]].join(" ");
});
</script>"""


def colours(folder: Path, *, dark: bool) -> tuple[float, float, str]:
    """Of index.html in the folder: how light its ground is (0 to 1), the least contrast of a text (1 to 21), and that text."""
    (folder / "colours.html").write_text(COLOURS)
    flag = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    dom, console = open_in_browser(folder, (folder / "colours.html").as_uri(), "--dump-dom", flag)
    assert console == []
    ground, contrast, text = re.findall(r'<pre id="out">(.*?)</pre>', dom, re.DOTALL)[0].split(" ", 2)
    return float(ground), float(contrast), text


def measure(folder: Path, width: int) -> tuple[str, list[str]]:
    """Of index.html in the folder, at this width: what is too wide or broken, its title; and what the console said."""
    (folder / "measure.html").write_text(MEASURE.format(width=width))
    dom, console = open_in_browser(folder, (folder / "measure.html").as_uri(), "--dump-dom")
    (found,) = re.findall(r'<pre id="out">(.*?)</pre>', dom)
    return found, console
