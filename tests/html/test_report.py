"""The HTML report: what is in it, and, in a browser, that one can step through it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from aggmc.checker import Checker, Options, ask
from aggmc.html.report import report, trace_page
from aggmc.model.core import Model
from aggmc.model.dve import load as load_dve
from aggmc.model.load import load_model
from aggmc.simulation import Simulation
from aggmc.trace.formats.document import Document
from aggmc.trace.trace import Trace

MODELS = Path(__file__).parents[2] / "models"
LOSSY = MODELS / "lossy_channel.dve"
FORMULA = "G F Receiver.check -> G F Consumer.consume"


def made(model: Model, formula: str, product: str = "slap-tgta") -> tuple[str, Trace]:
    verdict = Checker(model, Options(graph=150)).ltl(ask(model, formula), product)
    assert verdict.trace is not None
    document = Document(verdict.trace, model.path or "m", "dve", "ltl", formula)
    return report(model, document, verdict.graph), verdict.trace


class Outside(HTMLParser):
    """Whatever a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {name}" for name, _ in attributes if name in ("src", "href", "srcset", "data")]
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_self_contained() -> None:
    text, _ = made(load_model(LOSSY), FORMULA)
    parser = Outside()
    parser.feed(text)
    assert parser.found == []
    assert parser.open == []
    assert "@import" not in text and "url(" not in text and "fetch(" not in text
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) <= {"http://www.w3.org/2000/svg"}


def test_the_same_input_gives_the_same_page() -> None:
    assert made(load_model(LOSSY), FORMULA)[0] == made(load_model(LOSSY), FORMULA)[0]


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(found[1])


def test_data() -> None:
    text, trace = made(load_model(LOSSY), FORMULA)
    data = data_of(text)
    assert [dict(zip(data["variables"], s, strict=True)) for s in data["states"]] == [dict(s) for s in trace.states]
    assert data["loop"] == len(trace.prefix)
    assert len(data["automaton"]) == len(data["graph"]) == len(trace.states)
    assert all(data["automaton"]) and all(data["graph"])
    assert data["source"] == LOSSY.read_text().split("\n")


def test_nothing_of_the_model_becomes_markup() -> None:
    """A comment of a model, or a formula, cannot end the script or begin an element."""
    nasty = "// </script><script>alert(1)</script><!-- & ]]>\n"
    rest = "byte x;\nprocess P { state a; init a; trans a -> a { }; }\nsystem async;\n"
    model = load_dve(nasty + rest, "</title><b>.dve")
    text, _ = made(model, '!G"x < 3"')
    assert "<script>alert" not in text
    assert "<b>" not in text
    assert '!G"x &lt; 3"' in text or "!G&quot;x &lt; 3&quot;" in text
    assert data_of(text)["source"][0].endswith("<!-- & ]]>")


def test_without_source_or_property() -> None:
    model = load_model(LOSSY)
    walk = Simulation(model, seed=1)
    walk.random_start()
    walk.random_steps(5)
    text = trace_page(Document(walk.trace(), "m", "dve", "simulation"))
    assert data_of(text)["loop"] is None
    assert "a simulated run" in text


# --- in a browser -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    binary = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("there is no Chromium with its driver (Debian: chromium and chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1500,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    yield found
    found.quit()


class Page:
    """What a person sees."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.browser = browser
        browser.get("about:blank")
        browser.get(path.as_uri())

    def texts(self, selector: str) -> list[str]:
        return [e.text for e in self.browser.find_elements("css selector", selector)]

    def names(self, selector: str) -> list[str]:
        return [e.get_attribute("data-node") for e in self.browser.find_elements("css selector", selector)]

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.browser).send_keys(*keys).perform()

    def click(self, selector: str) -> None:
        self.browser.find_element("css selector", selector).click()

    @property
    def step(self) -> int:
        (row,) = self.browser.find_elements("css selector", "#steps tr.now")
        return int(row.get_attribute("data-step"))

    def state(self) -> dict[str, str]:
        names = self.texts("#state tr td:first-child")
        return dict(zip(names, self.texts("#state tr .new"), strict=True))

    def errors(self) -> list[Any]:
        return [entry for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

    def lines(self) -> list[int]:
        script = "return [...document.querySelectorAll('#source li')].map((l, i) => [i, l]).filter(" + (
            "([i, l]) => l.classList.contains('now')).map(([i, l]) => i + 1)"
        )
        return list(self.browser.execute_script(script))


@pytest.mark.browser
def test_stepping_through(browser: Any, tmp_path: Path) -> None:
    """Each position, by key: state, changes, line of the source, propositions, nodes of both pictures."""
    text, trace = made(load_model(LOSSY), FORMULA)
    (tmp_path / "r.html").write_text(text)
    page = Page(browser, tmp_path / "r.html")
    data = data_of(text)
    steps = len(trace.steps)
    evidence = trace.evidence
    assert evidence is not None
    for number in range(steps + 1):
        position = trace.position(number)
        assert page.step == number
        assert page.state() == {n: str(v) for n, v in trace.states[position].items()}
        changed = trace.steps[number - 1].changes if number else {}
        assert page.texts("#state tr.changed td:first-child") == list(changed)
        assert page.texts("#state tr.changed .old") == [str(old) for old, _ in changed.values()]
        assert sorted(page.lines()) == sorted(data["steps"][number - 1]["lines"] if number else [])
        assert page.names("#automaton .now") == [str(q) for q in evidence.run[position]]
        assert sorted(page.names("#graph .now")) == sorted(map(str, data["graph"][position]))
        truths = page.texts("#formula td:nth-child(2)")
        assert truths == [str(part.values[position]).lower() for part in evidence.parts]
        page.press("\ue014")  # right
    assert page.step == len(trace.prefix) + 1  # past the end of the cycle comes its first step again
    assert page.errors() == []


@pytest.mark.browser
def test_other_keys_and_buttons(browser: Any, tmp_path: Path) -> None:
    text, trace = made(load_model(LOSSY), FORMULA)
    (tmp_path / "r.html").write_text(text)
    page = Page(browser, tmp_path / "r.html")
    page.press("\ue010")  # End
    assert page.step == len(trace.steps)
    page.press("k", "\ue012")  # and left
    assert page.step == len(trace.steps) - 2
    page.press("\ue011")  # Home
    assert page.step == 0
    page.press("j", "j")
    assert page.step == 2
    page.click("#steps tr[data-step='5']")
    assert page.step == 5
    page.click("#back")
    assert page.step == 4
    page.click("#next")
    page.click("#first")
    assert page.step == 0
    page.click("#last")
    assert page.step == len(trace.steps)
    reason = browser.find_elements("css selector", "#why li")[-1]
    reason.click()
    assert evidence_position(trace) == page.step
    page.press("\ue011", "j", "h")
    assert list(page.state()) == list(trace.steps[0].changes)
    page.press("h")
    assert len(page.state()) == len(trace.initial)
    assert page.texts("#steps th.lane") == data_of(text)["lanes"]
    page.press("l")
    assert browser.find_element("css selector", "#steps td.event").is_displayed()
    assert not browser.find_element("css selector", "#steps th.lane").is_displayed()
    assert page.errors() == []


def evidence_position(trace: Trace) -> int:
    assert trace.evidence is not None
    return trace.evidence.reasons[-1].position


@pytest.mark.browser
def test_light_and_dark(browser: Any, tmp_path: Path) -> None:
    text, _ = made(load_model(LOSSY), FORMULA)
    (tmp_path / "r.html").write_text(text)

    def brightness(selector: str, what: str) -> float:
        element = browser.find_element("css selector", selector)
        numbers = re.findall(r"[\d.]+", element.value_of_css_property(what))[:3]
        return sum(map(float, numbers)) / 3

    for scheme, is_dark in (("light", False), ("dark", True)):
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        page = Page(browser, tmp_path / "r.html")
        for _ in range(2):
            assert (brightness("body", "background-color") < 128) == is_dark
            assert (brightness("body", "color") > 128) == is_dark
            assert (brightness("#graph text", "fill") > 128) == is_dark
            page.press("t")
            is_dark = not is_dark
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.browser
def test_a_long_run(browser: Any, tmp_path: Path) -> None:
    """Thousands of steps and hundreds of variables; the step that is shown is in sight."""
    many = ", ".join(f"v{i}" for i in range(200))
    text = f"int x; byte {many}; process P {{ state a; init a; trans a -> a {{ guard x < 3000; effect x = x + 1; }}; }}"
    model = load_dve(text + "\nsystem async;\n", "long.dve")
    walk = Simulation(model)
    walk.random_start()
    walk.random_steps(3000)
    (tmp_path / "r.html").write_text(report(model, Document(walk.trace(), "long.dve", "dve", "simulation")))
    page = Page(browser, tmp_path / "r.html")
    assert browser.find_element("id", "hide").is_selected()
    page.press("\ue010")
    assert page.step == 3000
    assert page.state() == {"x": "3000"}
    script = """const row = document.querySelector('#steps tr.now').getBoundingClientRect();
    const box = document.querySelector('#steps .scroll').getBoundingClientRect();
    return row.top >= box.top - 1 && row.bottom <= box.bottom + 1;"""
    assert browser.execute_script(script)
    assert page.errors() == []


@pytest.mark.browser
def test_a_narrow_window(browser: Any, tmp_path: Path) -> None:
    text, _ = made(load_model(LOSSY), FORMULA)
    (tmp_path / "r.html").write_text(text)
    browser.set_window_size(500, 900)
    try:
        Page(browser, tmp_path / "r.html")
        script = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        assert browser.execute_script(script)
    finally:
        browser.set_window_size(1500, 1000)
