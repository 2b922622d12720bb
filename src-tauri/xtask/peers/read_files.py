"""Reads files as a script would that somebody writes with well-known packages, and prints what that cost as one JSON object.

usage: read_files.py KIND FILE... [--model FILE]

KIND is pdf, docx, xlsx, pptx, picture or sound. Loading of libraries and models is not counted, as it is not for Zhiku.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable

THREADS = 2


def pdf(_model: str | None) -> Callable[[str], str]:
    import pypdfium2

    def read(path: str) -> str:
        document = pypdfium2.PdfDocument(path)
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)

    return read


def docx(_model: str | None) -> Callable[[str], str]:
    import docx as library

    def read(path: str) -> str:
        document = library.Document(path)
        texts = [paragraph.text for paragraph in document.paragraphs]
        for table in document.tables:
            texts += [" | ".join(cell.text for cell in row.cells) for row in table.rows]
        return "\n".join(texts)

    return read


def xlsx(_model: str | None) -> Callable[[str], str]:
    import openpyxl

    def read(path: str) -> str:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        rows = (row for sheet in book for row in sheet.iter_rows(values_only=True))
        return "\n".join(" | ".join("" if value is None else str(value) for value in row) for row in rows)

    return read


def pptx(_model: str | None) -> Callable[[str], str]:
    import pptx as library

    def read(path: str) -> str:
        texts = []
        for slide in library.Presentation(path).slides:
            texts += [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]
            if slide.has_notes_slide:
                texts.append(slide.notes_slide.notes_text_frame.text)
        return "\n".join(texts)

    return read


def picture(_model: str | None) -> Callable[[str], str]:
    from rapidocr_onnxruntime import RapidOCR

    engine = RapidOCR(intra_op_num_threads=THREADS)

    def read(path: str) -> str:
        lines, _ = engine(path)
        return "\n".join(line[1] for line in lines or [])

    return read


def sound(model: str | None) -> Callable[[str], str]:
    from pywhispercpp.model import Model

    whisper = Model(model, n_threads=THREADS, print_progress=False, print_realtime=False)

    def read(path: str) -> str:
        return "\n".join(segment.text for segment in whisper.transcribe(path, language="zh"))

    return read


KINDS = {"pdf": pdf, "docx": docx, "xlsx": xlsx, "pptx": pptx, "picture": picture, "sound": sound}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--model")
    options = parser.parse_args()
    read = KINDS[options.kind](options.model)
    started = time.perf_counter()
    n_chars = sum(len("".join(read(path).split())) for path in options.files)
    seconds = time.perf_counter() - started
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"seconds": seconds, "n_chars": n_chars, "peak_mib": peak_mib}))


if __name__ == "__main__":
    main()
