"""The page: inert whatever people call things, readable without the network, opened in a real browser."""

import html
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.claims import CLAIMS, Rules
from hardlabels.reporting.claims.claim import Row, Verdict
from hardlabels.reporting.figures import Figure
from hardlabels.reporting.page import Overview, Page, Part, render
from hardlabels.reporting.provenance import Fact
from hardlabels.reporting.tables import Entry, Table
from hardlabels.reporting.verdicts_by_data import verdict_matrix
from hardlabels.reporting.write import draw

EVIL = "<script>document.title = 'owned'</script><img src=x onerror=alert(1)>\"'>&"
VOID = {"meta", "link", "img", "br"}


def a_picture() -> Canvas:
    figure = Canvas(figsize=(6.4, 3))
    figure.subplots().plot([0, 1, 2], [3, 1, 2], label="x")
    return figure


def a_page(name: str = "sls", columns: int = 8) -> Page:
    row = Row(f"soft NLL, {name} − soft", 0.5, 0.6, -0.1, -0.2, -0.05, 0.9375, 5, 5, 5, 0.03125, 0.375, name)
    how = {"test": name, "direction": "lower", "margin": "none"}
    claims = list(CLAIMS.values())
    verdicts = (
        Verdict(
            claims[0],
            "inconclusive",
            f"12 of 12 comparisons. {name}",
            5,
            0.375,
            0.375,
            8,
            (row,) * 12,
            (name,),
            (f"run {name}",),
            how=how,
        ),
        Verdict(claims[1], "supported", "All of it.", 8, 0.01, 0.01, 7, (row,), how=how),
        Verdict(claims[2], "contradicted", "None of it.", 8, 1.0, 0.01, 7, (row,), how=how),
        Verdict(
            claims[3], "not run", "No numbers yet.", needed=7, how=how, commands=("python -m hardlabels.reproduce study=sparse",)
        ),
        Verdict(
            claims[4], "not run", "Elsewhere.", how=how, elsewhere=True, commands=("python -m hardlabels.reproduce study=x",)
        ),
    )
    heads = [f"a metric with a long name {place}" for place in range(columns - 1)] + [name]
    cells = {(name, head): Entry(0.5, 0.02, 5, 0.51, 0.03, p=0.03, best=True, target_interval=(0.49, 0.51)) for head in heads}
    table = Table("1", name, name, [name], heads, cells, [name, f"Missing. To train: python -m hardlabels.train {name}"])
    drawing = draw(Figure("1", name, name, [name], a_picture))
    part = Part(
        name, name, 3, 5, verdicts, (table,), (drawing,), ((name, (name,)),), ((f"/a/{name}", name),), (name,), (name,), 0.154
    )  # fmt: skip
    facts = (Fact(name, ((name, 2), ("other", 1))),)
    rules = Rules(margins={"soft_nll": 0.01}, thresholds={"barrier": 0.1})
    overview = Overview(verdict_matrix({name: verdicts}), (table,), (drawing,), ((name, (name,)),))
    return Page(name, name, (part,), rules, facts, facts, (name,), overview)


class Reader(HTMLParser):
    """Collects what tests ask about, and checks that tags close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def named(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]


@pytest.fixture(scope="module")
def text() -> str:
    return render(a_page())


@pytest.mark.parametrize("name", [EVIL, "sls,hold=5"])
def test_names_are_text_and_never_markup(name):
    found = Reader(render(a_page(name)))
    assert found.open == []
    assert not found.named("script")
    assert all(not key.startswith("on") for _, attributes in found.tags for key in attributes)
    assert all(attributes["src"].startswith("data:image/") for attributes in found.named("img"))
    assert html.escape(name).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in render(a_page(name))


def test_the_page_needs_nothing_from_anywhere(text):
    assert not re.search(r"https?://|@import|url\(", text)
    assert "default-src 'none'" in text
    assert len(text.encode()) < 5_000_000


def test_verdicts_come_first_and_every_part_is_there(text):
    places = [
        text.index(f'<section id="{name}"')
        for name in ("data-sets", "verdicts", "tables", "figures", "methods", "environment", "missing")
    ]
    assert places == sorted(places)
    for words in (
        "12 of 12 comparisons",
        "? inconclusive",
        "✓ supported",
        "✗ contradicted",
        "– not run",
        "least possible p 0.375",
    ):
        assert words in text
    assert "the test needs 8 seeds" in text
    assert "votes 0.4900 to 0.5100" in text
    assert "paper 0.5100 ± 0.0300" in text
    assert "0.1540 nat" in text  # the floor of soft NLL, beside KL


def test_the_page_can_be_read_without_seeing_it(text):
    found = Reader(text)
    assert all(attributes.get("alt", "").startswith("Figure 1") for attributes in found.named("img"))
    assert all(attributes.get("scope") in ("row", "col") for attributes in found.named("th"))
    assert found.named("html") == [{"lang": "en"}]
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in found.named("a")]
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_several_data_sets_stand_above_their_parts_and_lead_to_them(text):
    (matrix,) = re.findall(r'<table class="wrap matrix">.*?</table>', text, re.DOTALL)
    assert len(re.findall(r'href="#claim-1-', matrix)) == 3  # of five verdicts, those that were tested
    one = render(replace(a_page(), overview=None))
    assert "data-sets" not in one
    assert 'id="verdicts"' in one


def test_margins_say_where_they_come_from(text):
    assert "These SDs and thresholds are of CIFAR-10H" in text
    page = a_page()
    own = replace(page, parts=(replace(page.parts[0], data="cifar10h"),))
    assert "carried over" not in render(own)


def test_counts_leave_out_the_claims_of_other_studies(text):
    (part,) = a_page().parts
    assert part.counts == {"supported": 1, "contradicted": 1, "inconclusive": 1, "not run": 1}
    assert "1 claims that other studies answer" in text


# ---- in a real browser ----

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


@browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_opens_without_a_word_on_the_console_and_fits_the_screen(tmp_path, width):
    (tmp_path / "index.html").write_text(render(a_page("a_rather_long_method_name,with=a_variant", columns=12)))
    (tmp_path / "measure.html").write_text(MEASURE.format(width=width))
    dom, console = open_in_browser(tmp_path, (tmp_path / "measure.html").as_uri(), "--dump-dom")
    assert console == []
    (found,) = re.findall(r'<pre id="out">(.*?)</pre>', dom)
    assert found == f"width={width} wide= broken=0 title=a_rather_long_method_name,with=a_variant – hardlabels"


@browser
def test_a_fault_would_be_seen(tmp_path):
    (tmp_path / "index.html").write_text("<body style='width:900px'><script>no_such_function()</script>")
    (tmp_path / "measure.html").write_text(MEASURE.format(width=390))
    dom, console = open_in_browser(tmp_path, (tmp_path / "measure.html").as_uri(), "--dump-dom")
    assert "no_such_function" in console[0]
    assert int(re.findall(r">width=(\d+) ", dom)[0]) >= 900


@browser
def test_hostile_names_do_nothing_in_a_browser(tmp_path):
    (tmp_path / "index.html").write_text(render(a_page(EVIL)))
    dom, console = open_in_browser(tmp_path, (tmp_path / "index.html").as_uri(), "--dump-dom")
    assert console == []
    assert "<title>owned" not in dom
    assert "&lt;script&gt;document.title" in dom


@browser
def test_a_picture_of_the_page_is_no_blank_sheet(tmp_path):
    from matplotlib.image import imread

    (tmp_path / "index.html").write_text(render(a_page()))
    target = tmp_path / "page.png"
    open_in_browser(tmp_path, (tmp_path / "index.html").as_uri(), f"--screenshot={target}", "--window-size=390,844")
    pixels = imread(target)
    assert pixels.shape[:2] == (844, 390)
    assert 0.02 < pixels[..., :3].std() < 0.5
