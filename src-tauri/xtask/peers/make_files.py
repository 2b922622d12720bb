"""Writes the files that `cargo xtask bench formats` reads: the same contents on every run.

usage: make_files.py FOLDER SCANS [RECORDING]

SCANS is a folder of scanned pages; of RECORDING the first minute is taken, with ffmpeg.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import docx
import openpyxl
import pptx
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen import canvas

N_PAGES, N_LONG_PAGES, N_SLIDES, N_ROWS = 200, 300, 100, 20_000
PARAGRAPHS_PER_PAGE, LINES_PER_PAGE = 6, 42
SENTENCE = "Part {n} was checked on site, written down, and signed by the customer before the team left. "


def sentences(first: int, count: int) -> str:
    return "".join(SENTENCE.format(n=first + i) for i in range(count))


def report_pdf(path: Path) -> None:
    page = canvas.Canvas(str(path), pagesize=A4, invariant=1)
    for number in range(N_PAGES):
        text = page.beginText(72, A4[1] - 72)
        for line in range(LINES_PER_PAGE):
            text.textLine(SENTENCE.format(n=number * LINES_PER_PAGE + line))
        page.drawText(text)
        page.showPage()
    page.save()


def report_docx(path: Path, n_pages: int, added: str = "") -> None:
    """`added` goes to the end of a paragraph in the middle."""
    document = docx.Document()
    for number in range(n_pages):
        document.add_heading(f"Chapter {number + 1}", 1)
        for part in range(PARAGRAPHS_PER_PAGE):
            own = added if number == n_pages // 2 and part == 2 else ""
            document.add_paragraph(sentences((number * PARAGRAPHS_PER_PAGE + part) * 7, 7) + own)
        if number % 10 == 0:
            table = document.add_table(rows=8, cols=4)
            for row, cells in enumerate(table.rows):
                for column, cell in enumerate(cells.cells):
                    cell.text = f"row {row} column {column} of {number}"
    document.save(str(path))


def orders_xlsx(path: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Orders")
    sheet.append(["Order", "Customer", "Material", "Supplier", "Amount", "Price", "Place", "Note"])
    for n in range(N_ROWS):
        row = [f"O-{n:05}", f"Customer {n % 97}", f"Material {n % 41}", f"Supplier {n % 13}"]
        sheet.append([*row, n % 500, n * 1.25, f"Store {n % 7}", SENTENCE.format(n=n)])
    book.save(str(path))


def deck_pptx(path: Path) -> None:
    deck = pptx.Presentation()
    for number in range(N_SLIDES):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = f"Step {number + 1}"
        slide.placeholders[1].text = "\n".join(SENTENCE.format(n=number * 5 + i) for i in range(5))
        slide.notes_slide.notes_text_frame.text = sentences(number, 2)
    deck.save(str(path))


def first_minute(recording: str, path: Path) -> None:
    take = ["-i", recording, "-t", "60", "-ar", "16000", "-ac", "1"]
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", *take, str(path)], check=True)


def main(folder: Path, scans: str, recording: str | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    report_pdf(folder / "report.pdf")
    report_docx(folder / "report.docx", N_PAGES)
    report_docx(folder / "long.docx", N_LONG_PAGES)
    report_docx(folder / "long_edited.docx", N_LONG_PAGES, "The archive moved to the ninth floor.")
    orders_xlsx(folder / "orders.xlsx")
    deck_pptx(folder / "deck.pptx")
    shutil.copytree(scans, folder / "scans", dirs_exist_ok=True)
    if recording:
        first_minute(recording, folder / "talk.wav")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(Path(sys.argv[1]), *sys.argv[2:])
