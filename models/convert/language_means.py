"""Makes ../language_means.bin: the mean vectors of each language, which retrieval subtracts when question and passage differ
in language.

    python language_means.py MODEL_FOLDER

MODEL_FOLDER holds the embedding model, `model_q4.onnx`, and its `tokenizer.json`. The sentences are in
`../language_means/<language>/<side>.txt`, one per line, hundreds of them on subjects as different as possible: the mean of a
corpus that is searched must never take their place, for it also holds what the corpus is about.

The file is little endian: magic "ZKLM", format version u32 (1), dimensions u32, entries u32, sha256 of the model (32 bytes);
then per entry the language as two ASCII letters, the side u8 (0 question, 1 passage), 0 u8, the mean of the sentence vectors
and the mean of the token vectors, f32[dimensions] each. Sentence and token vectors have norm 1 before they are averaged; the
means are not normalised. Token vectors are those of the sentence itself, without special tokens and prefix.
"""

import hashlib
import struct
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

LANGUAGES = ("en", "zh")
SIDES = {"query": 0, "passage": 1}
FORMAT = 1
MODEL_FILE = "model_q4.onnx"
SENTENCES = Path(__file__).parent.parent / "language_means"
TARGET = Path(__file__).parent.parent / "language_means.bin"


class Model:
    """The embedding model, one sentence at a time."""

    def __init__(self, folder: Path):
        self.session = onnxruntime.InferenceSession(folder / MODEL_FILE, providers=["CPUExecutionProvider"])
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def embed(self, sentence: str, side: str) -> tuple[np.ndarray, np.ndarray]:
        """The vector of the sentence [dim] and of its tokens [n, dim], each of norm 1."""
        prefix = side + ": "
        encoding = self.tokenizer.encode(prefix + sentence)
        ids = np.array([encoding.ids], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        outputs = ["sentence_embedding", "last_hidden_state"]
        (sentence_vector,), (states,) = self.session.run(outputs, inputs)
        # A piece that holds the prefix's last space and the first letters of the sentence belongs to the sentence.
        own = [i for i, (_, end) in enumerate(encoding.offsets) if end > len(prefix)]
        tokens = states[own].astype(np.float64)
        return sentence_vector.astype(np.float64), tokens / np.linalg.norm(tokens, axis=1, keepdims=True)


def means(model: Model, language: str, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Over all sentences, and over all their tokens."""
    lines = (SENTENCES / language / f"{side}.txt").read_text("utf-8").splitlines()
    sentences = [line.strip() for line in lines if line.strip()]
    embedded = [model.embed(sentence, side) for sentence in sentences]
    tokens = np.concatenate([tokens for _, tokens in embedded])
    print(f"{language} {side}: {len(sentences)} sentences, {len(tokens)} tokens")
    return np.mean([vector for vector, _ in embedded], axis=0), tokens.mean(axis=0)


def main(folder: Path) -> None:
    model = Model(folder)
    entries = [(language, side, *means(model, language, side)) for language in LANGUAGES for side in SIDES]
    dim = len(entries[0][2])
    digest = hashlib.sha256((folder / MODEL_FILE).read_bytes()).digest()
    content = b"ZKLM" + struct.pack("<III", FORMAT, dim, len(entries)) + digest
    for language, side, sentence, tokens in entries:
        content += struct.pack("<2sBB", language.encode("ascii"), SIDES[side], 0)
        content += sentence.astype("<f4").tobytes() + tokens.astype("<f4").tobytes()
    TARGET.write_bytes(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: language_means.py MODEL_FOLDER")
    main(Path(sys.argv[1]))
