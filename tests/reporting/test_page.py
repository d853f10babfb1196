"""The page: inert whatever people call things, readable without the network, opened in a real browser."""

import base64
import hashlib
import html
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

from hardlabels.reporting.answer import Answer, Point
from hardlabels.reporting.claims import CLAIMS, Rules
from hardlabels.reporting.claims.claim import Finding, Row, Verdict
from hardlabels.reporting.drawing import draw
from hardlabels.reporting.explorer import Explorer
from hardlabels.reporting.figures import Figure
from hardlabels.reporting.page import SAME_ITEMS, Overview, Page, Part, render
from hardlabels.reporting.primary import Outcome, PrimaryResult
from hardlabels.reporting.provenance import Fact
from hardlabels.reporting.tables import Entry, Table
from hardlabels.reporting.verdict_lines import verdict_lines
from hardlabels.reporting.verdicts_by_data import verdict_matrix
from hardlabels.statistics import Limit
from tests.browser import browser, colours, measure, open_in_browser

EVIL = "<script>document.title = 'owned'</script><img src=x onerror=alert(1)>\"'>&"
VOID = {"meta", "link", "img", "br"}


def a_picture() -> Canvas:
    figure = Canvas(figsize=(6.4, 3))
    figure.subplots().plot([0, 1, 2], [3, 1, 2], label="x")
    return figure


def an_explorer(name: str = "sls", items: int = 30, text: str = "") -> Explorer:
    """Items whose votes get more disputed with their number, and whose gain falls with it."""
    first = np.linspace(1.0, 0.5, items)
    p = np.stack([first, 1 - first], axis=1)
    gain = np.linspace(0.3, -0.3, items)
    texts = tuple(f"{text}{item}" for item in range(items)) if text else ()
    return Explorer(name, (name, "b"), ("soft", name), np.arange(items), p, {"soft": p, name: p[::-1]}, {name: gain}, texts)


def a_page(name: str = "sls", columns: int = 8) -> Page:
    row = Row(
        f"soft NLL, {name} − soft", "soft_nll", "less", 5, 0.5, 0.6, -0.1, -0.2, -0.05, 0.9375, -0.15, -0.06, 0.03, 5, True, 5
    )
    row = replace(row, differences=(-0.1, -0.2, -0.05, -0.08, -0.07))
    row = replace(row, p=0.03125, p_corrected=0.04, margin=0.02, margin_why=name, untestable=name, detectable=0.01, note=name)
    how = {"test": name, "direction": "lower", "margin": "none"}
    claims = list(CLAIMS.values())

    def verdict(place: int, *findings: Finding, **about) -> Verdict:
        return Verdict(claims[place], {"best": findings[0], "last": findings[-1]}, own_regime=False, **about)

    open_one = Finding(
        "inconclusive", f"12 of 12 comparisons. {name}", 5, 0.375, 0.375, 8, (row,) * 12, (name,), (f"run {name}",), how=how
    )
    sparse, other = (f"python -m hardlabels.reproduce study={study}" for study in ("sparse", "x"))
    verdicts = (
        verdict(0, replace(open_one, tempered=open_one)),
        verdict(
            1, Finding("supported", "All of it.", 8, 0.01, 0.01, 7, (row,), how=how), replace(open_one, status="no difference")
        ),
        verdict(2, Finding("contradicted", "None of it.", 8, 1.0, 0.01, 7, (row,), how=how)),
        verdict(3, Finding("not run", "No numbers yet.", needed=7, how=how, commands=(sparse,))),
        verdict(4, Finding("not run", "Elsewhere.", how=how, commands=(other,)), elsewhere=True),
    )
    heads = [f"a metric with a long name {place}" for place in range(columns - 1)] + [name]
    cells = {(name, head): Entry(0.5, 0.02, 5, 0.51, 0.03, p=0.03, best=True, target_interval=(0.49, 0.51)) for head in heads}
    table = Table("1", name, name, [name], heads, cells, [name, f"Missing. To train: python -m hardlabels.train {name}"])
    drawing = draw(Figure("1", name, name, [name], a_picture))
    outcome = Outcome(name, "same", "5", name, name, 2, 0.1, 0.1, 0, 1, 0.5, 0.5, 0.1, True, True, "supported")
    part = Part(
        name, name, 3, 5, verdicts, (table,), (drawing,), ((name, (name,)),), ((f"/a/{name}", name),), (name,), (name,),
        Limit(0.154), PrimaryResult(name, (1, 2), 1, 0.9, (outcome,), (name,)),
    )  # fmt: skip
    points = tuple(Point(method, k, 0.5 + k / 100, 0.4, 0.6, 5) for method in ("soft", name) for k in (1.0, 5.0))
    part = replace(
        part, answer=Answer({"best": points, "last": points}, (name, "It was found.")), explorer=an_explorer(name, text=name)
    )
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
    assert [attributes.get("type") for attributes in found.named("script")] == ["application/json", None]
    assert all(not key.startswith("on") for _, attributes in found.tags for key in attributes)
    assert all(attributes["src"].startswith("data:image/") for attributes in found.named("img"))
    assert html.escape(name).replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in render(a_page(name))


def test_seeds_that_share_their_items_are_said_to_do_so_above_the_verdicts(text):
    assert SAME_ITEMS not in text
    page = a_page()
    shared = replace(page, parts=tuple(replace(part, same_items=True) for part in page.parts))
    assert render(shared).count(SAME_ITEMS) == len(page.parts)
    assert SAME_ITEMS in verdict_lines(shared.parts[0]).caption


def test_the_page_needs_nothing_from_anywhere(text):
    assert not re.search(r"https?://|@import|url\(", text)
    assert "default-src 'none'" in text
    assert len(text.encode()) < 5_000_000


def test_the_answer_comes_first_and_every_part_is_there(text):
    places = [
        text.index(f'<section id="{name}"')
        for name in ("answer", "data-sets", "verdicts", "items", "tables", "figures", "methods", "environment", "missing")
    ]
    assert places == sorted(places)
    for words in (
        "<b>sls</b>, one label drawn from the votes, anew in every epoch",
        "12 of 12 comparisons",
        "? undecided",
        "✓ carries over",
        "✗ does not carry over",
        "≈ no difference that matters",
        "– not run",
        "(least possible 0.375)",
        "<b>Last epoch:</b> 12 of 12 comparisons",
        "Selected epoch, after one temperature",
        "Primary outcomes, written down beforehand",
    ):
        assert words in text
    assert "the exact test can show it from 8 seeds on" in text
    assert "<strong>1 <small>selected,</small> 0 <small>last</small></strong><span>✓ carries over</span>" in text
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
    assert len(re.findall(r'href="#claim-1-', matrix)) == 2 * 3  # of five verdicts, those that were tested, at two checkpoints
    one = render(replace(a_page(), overview=None))
    assert "data-sets" not in one
    assert 'id="verdicts"' in one


def test_the_policy_names_the_one_script_that_may_run(text):
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    without = replace(a_page(), parts=tuple(replace(part, explorer=None) for part in a_page().parts))
    assert "<script" not in render(without)


def test_every_verdict_with_numbers_has_its_small_picture_and_groups_open_where_something_is_decided(text):
    assert len(re.findall(r'<svg class="strips"', text)) == 6  # of four verdicts here, one was not run; each at both checkpoints
    charts = re.findall(r'<svg class="chart".*?</svg>', text, re.DOTALL)
    assert [chart.count("<circle") for chart in charts] == [4, 4]
    assert ["selected epoch" in charts[0], "last epoch" in charts[1]] == [True, True]
    groups = re.findall(r'<details class="topic"( open)?><summary><h3>(.*?)</h3> <span>(.*?)</span>', text)
    assert groups
    assert all((opened != "") == ("carry over" in counts or "carries" in counts) for opened, _, counts in groups)


def test_the_first_number_of_a_difference_is_the_first_side_minus_the_second():
    """The Hodges-Lehmann estimate may be another number, so it stands below by its name."""
    [row] = a_page().parts[0].verdicts[1].at["best"].rows
    assert (row.left, row.right, row.estimate) == (0.5, 0.6, -0.1)
    skewed = replace(row, estimate=-0.123)
    finding = replace(a_page().parts[0].verdicts[1].at["best"], rows=(skewed,))
    verdict = replace(a_page().parts[0].verdicts[1], at={"best": finding, "last": finding})
    page = render(replace(a_page(), parts=(replace(a_page().parts[0], verdicts=(verdict,)),)))
    cells = re.findall(r"<td>0.5000</td><td>0.6000</td><td>(\S+?)<small>\[.*?\]<br>Hodges-Lehmann (\S+) \[", page)
    assert cells == [("−0.1000", "−0.1230")] * 2


def test_margins_say_where_they_come_from(text):
    assert "share of the gap between majority and soft labels" in text
    assert "Settled in conf/report.yaml" in text


def test_counts_leave_out_the_claims_of_other_studies(text):
    (part,) = a_page().parts
    assert part.counts == {
        ("supported", "carries over"): (1, 0),
        ("contradicted", "does not carry over"): (1, 1),
        ("no difference", "no difference that matters"): (0, 1),
        ("inconclusive", "undecided"): (1, 1),
        ("not run", "not run"): (1, 1),
    }
    assert "1 claims that other studies answer" in text


# ---- in a real browser ----


@browser
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_opens_without_a_word_on_the_console_and_fits_the_screen(tmp_path, width):
    (tmp_path / "index.html").write_text(render(a_page("a_rather_long_method_name,with=a_variant", columns=12)))
    found, console = measure(tmp_path, width)
    assert console == []
    assert found == f"width={width} wide= broken=0 title=a_rather_long_method_name,with=a_variant – hardlabels"


@browser
def test_a_fault_would_be_seen(tmp_path):
    (tmp_path / "index.html").write_text("<body style='width:900px'><script>no_such_function()</script>")
    found, console = measure(tmp_path, 390)
    assert "no_such_function" in console[0]
    assert int(re.findall(r"width=(\d+) ", found)[0]) >= 900


@browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read_in_light_and_dark(tmp_path, dark):
    (tmp_path / "index.html").write_text(render(a_page()))
    ground, contrast, text = colours(tmp_path, dark=dark)
    assert (ground < 0.1) if dark else (ground > 0.8)
    assert contrast > 4.5, text  # WCAG 2.1, AA


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


EXPLORE = """<!doctype html><title>exploring</title><body>
<iframe id="page" src="index.html" style="border:0;width:{width}px;height:900px"></iframe><pre id="out"></pre>
<script>
document.getElementById("page").addEventListener("load", (event) => {{
  const page = event.target.contentDocument, root = page.querySelector(".explorer");
  const [sort, order] = root.querySelectorAll("select"), [back, on] = root.querySelectorAll("button");
  const first = () => root.querySelector(".item header p").textContent;
  const where = () => root.querySelector(".where").textContent;
  const choose = (select, place) => {{ select.selectedIndex = place; select.dispatchEvent(new Event("change")); }};
  const press = (key) => root.dispatchEvent(new KeyboardEvent("keydown", {{ key }}));
  const seen = [first(), where(), root.querySelectorAll(".item").length];
  on.click(); seen.push(where());
  press("ArrowRight"); seen.push(where(), on.disabled);
  press("ArrowRight"); seen.push(where());
  press("ArrowLeft"); back.click(); seen.push(where(), back.disabled);
  choose(sort, 3); seen.push(sort.selectedOptions[0].textContent, first());
  choose(order, 1); seen.push(first());
  const start = performance.now();
  for (let turn = 0; turn < 20; turn++) choose(order, turn % 2);
  const topic = page.querySelector("details.topic"), before = topic.open;
  topic.querySelector("summary").click(); seen.push(before !== topic.open);
  const each = (performance.now() - start) / 20;
  document.getElementById("out").textContent = JSON.stringify([seen, each, root.scrollWidth <= {width}]);
}});
</script>"""


@browser
@pytest.mark.parametrize("width", [390, 1280])
def test_items_are_sorted_and_turned_by_mouse_and_keyboard(tmp_path, width):
    (tmp_path / "index.html").write_text(render(a_page()))
    (tmp_path / "explore.html").write_text(EXPLORE.format(width=width))
    dom, console = open_in_browser(tmp_path, (tmp_path / "explore.html").as_uri(), "--dump-dom")
    assert console == []
    (found,) = re.findall(r'<pre id="out">(.*?)</pre>', dom)
    seen, _, fits = json.loads(html.unescape(found))
    disputed = "disagreement of the annotators (entropy of the votes)"
    assert seen == [
        f"Item 29: {disputed} 0.6931", "1 to 12 of 30", 12, "13 to 24 of 30", "25 to 30 of 30", True, "25 to 30 of 30",
        "1 to 12 of 30", True, "gain over soft labels, sls", "Item 0: gain over soft labels 0.3",
        "Item 29: gain over soft labels -0.3", True,
    ]  # fmt: skip
    assert fits


@browser
def test_two_thousand_items_are_still_one_file_that_opens(tmp_path):
    part = replace(a_page().parts[0], explorer=an_explorer(items=2000, text="A premise of some length, and its hypothesis. " * 4))
    text = render(replace(a_page(), parts=(part,)))
    assert len(text.encode()) < 5_000_000
    (tmp_path / "index.html").write_text(text)
    (tmp_path / "explore.html").write_text(EXPLORE.format(width=1280))
    dom, console = open_in_browser(tmp_path, (tmp_path / "explore.html").as_uri(), "--dump-dom")
    assert console == []
    (found,) = re.findall(r'<pre id="out">(.*?)</pre>', dom)
    assert json.loads(html.unescape(found))[0][1] == "1 to 12 of 2000"
