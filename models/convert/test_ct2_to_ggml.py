"""python -m unittest test_ct2_to_ggml, with requirements.txt installed.

CT2_FOLDER=… with model.bin and vocabulary.json also converts the real model and compares the sum with models/manifest.toml.
"""

import hashlib
import io
import os
import struct
import tempfile
import tomllib
import unittest
from pathlib import Path

import numpy as np

import ct2_to_ggml as converter


def name(text: str) -> bytes:
    encoded = text.encode("utf-8") + b"\0"
    return struct.pack("<H", len(encoded)) + encoded


def tensor(text: str, values: np.ndarray, kind: int) -> bytes:
    head = name(text) + struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape)
    return head + struct.pack("<BI", kind, values.nbytes) + values.tobytes()


def file_of(specification: str, tensors: list[bytes], aliases: list[tuple[str, str]] = ()) -> bytes:
    head = struct.pack("<I", 6) + name(specification) + struct.pack("<II", 3, len(tensors))
    tail = struct.pack("<I", len(aliases)) + b"".join(name(alias) + name(of) for alias, of in aliases)
    return head + b"".join(tensors) + tail


class Ct2ToGgml(unittest.TestCase):
    def test_tensors_and_aliases_are_read(self):
        values = np.arange(6, dtype="<f2").reshape(2, 3)
        source = converter.Source(file_of("WhisperSpec", [tensor("a/b", values, 4)], [("c", "a/b")]))
        np.testing.assert_array_equal(source["a/b"], values)
        np.testing.assert_array_equal(source["c"], values)

    def test_other_models_are_refused(self):
        with self.assertRaisesRegex(ValueError, "TransformerSpec"):
            converter.Source(file_of("TransformerSpec", []))

    def test_layers_are_counted_per_side(self):
        one = np.zeros(1, "<f4")
        names = ["encoder/layer_0/x", "encoder/layer_11/x", "encoder/layer_norm/gamma", "decoder/layer_0/x"]
        source = converter.Source(file_of("WhisperSpec", [tensor(text, one, 0) for text in names]))
        self.assertEqual((source.layers("encoder"), source.layers("decoder")), (2, 1))

    def test_matrices_keep_16_bits_and_vectors_get_32(self):
        for values, kind, size in [(np.ones((2, 3), "<f2"), 1, 12), (np.ones(3, "<f2"), 0, 12)]:
            file = io.BytesIO()
            converter.Target(file).tensor("t", values)
            head = struct.pack("<3i", values.ndim, 1, kind) + struct.pack(f"<{values.ndim}i", *values.shape[::-1])
            self.assertEqual(file.getvalue()[: len(head) + 1], head + b"t")
            self.assertEqual(len(file.getvalue()), len(head) + 1 + size)

    def test_each_byte_has_one_character(self):
        table = converter.byte_of_character()
        self.assertEqual(sorted(table.values()), list(range(256)))
        self.assertEqual((table["A"], table["\u0120"]), (0x41, 0x20))

    def test_filters_have_area_one_and_rise_in_frequency(self):
        filters = converter.mel_filters(80)
        self.assertEqual(filters.shape, (80, 201))
        peaks = filters.argmax(axis=1)
        self.assertTrue((np.diff(peaks) >= 0).all())
        step = converter.SAMPLE_RATE / converter.FFT_SIZE
        np.testing.assert_allclose(filters[-10:].sum(axis=1) * step, 1, atol=0.02)

    def test_the_real_model_comes_out_byte_for_byte(self):
        folder = os.environ.get("CT2_FOLDER")
        if folder is None:
            self.skipTest("CT2_FOLDER is not set")
        manifest = tomllib.loads((Path(__file__).parent.parent / "manifest.toml").read_text("utf-8"))
        entry = next(entry for entry in manifest["entry"] if entry["role"] == "speech_recognition")
        made = Path(self.enterContext(tempfile.TemporaryDirectory()))
        converter.convert(Path(folder) / "model.bin", Path(folder) / "vocabulary.json", made)
        content = (made / converter.OUTPUT).read_bytes()
        self.assertEqual(hashlib.sha256(content).hexdigest(), entry["file"][0]["sha256"])


if __name__ == "__main__":
    unittest.main()
