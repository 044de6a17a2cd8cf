"""The pages lead where they say."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def links(page: Path) -> list[str]:
    text = CODE.sub("", FENCED.sub("", page.read_text()))
    return [next(filter(None, found)) for found in LINK.findall(text)]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.*)$", FENCED.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page):
    """Files and headings that are named are there; whatever is elsewhere is https."""
    for link in links(page):
        if "://" in link:
            assert link.startswith(("https://", "http://127.0.0.1", "http://localhost")), link
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{link}: there is no {target}"
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), f"{link}: {target.name} has no such heading"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name in ("DESIGN.md", "CONTRIBUTING.md")], ids=str)
def test_every_file_that_is_named_is_there(page):
    """A page for who reads the code names it as it is."""
    for path in re.findall(r"`([\w.]+(?:/\w+)*/(?:\w+\.\w+)?)`", page.read_text()):
        assert (ROOT / "src" / "rejoinder" / path).exists() or (ROOT / path).exists(), path


def test_every_page_can_be_reached():
    """From the README, by following links."""
    seen, queue = set[Path](), [ROOT / "README.md"]
    while queue:
        page = queue.pop().resolve()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        paths = (link.partition("#")[0] for link in links(page) if "://" not in link)
        queue += [page.parent / path for path in paths if path and (page.parent / path).exists()]
    assert {page for page in PAGES if page.parent.name == "docs"} <= seen
