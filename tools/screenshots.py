"""Make the pictures of docs/figures that show the pages and the forest plot of the example.

.venv/bin/python tools/screenshots.py            after python3 tools/bootstrap.py browser
"""

import io
import os
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import credimi

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
SHOTS = {  # width, height, colours, the feature that is open
    "page": (1280, 860, "light", "glucose"),
    "page-dark": (1280, 860, "dark", "pressure_medication"),
    "page-phone": (390, 844, "light", "smoking"),
}


def main() -> None:
    """Rank the example, and take its picture in three ways."""
    os.chdir(ROOT)
    ranking = credimi.rank("examples/clinic.csv", "diabetes")
    ranking.plot(FIGURES / "forest.png")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder, "report.html")
        ranking.to_html(page_file)
        chromium = os.environ.get("CREDIMI_CHROMIUM") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, (width, height, colours, feature) in SHOTS.items():
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=colours)
            page.goto(page_file.as_uri())
            row = page.locator(f".row:has-text('{feature}')")
            row.click()
            page.mouse.move(0, 0)
            if name == "page-phone":  # the open feature below its neighbours
                row.evaluate("row => window.scrollBy(0, row.getBoundingClientRect().top - 120)")
            keep(page.screenshot(), name)
        report_file = Path(folder, "all.html")
        credimi.report("examples/clinic.csv", "diabetes", seconds=600).to_html(report_file)
        page = browser.new_page(viewport={"width": 1100, "height": 1000})
        page.goto(f"{report_file.as_uri()}#columns")
        keep(page.screenshot(), "report")
        browser.close()


def keep(screenshot: bytes, name: str) -> None:
    """Store a picture with few colours, which makes it small."""
    shot = Image.open(io.BytesIO(screenshot))
    shot.convert("RGB").quantize(200, dither=Image.Dither.NONE).save(FIGURES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
