"""Converts a Whisper model from CTranslate2 (16-bit floats) to the file that whisper.cpp reads.

    python ct2_to_ggml.py model.bin vocabulary.json OUTPUT_FOLDER

writes `ggml-base-f16.bin`. Matrices keep their 16 bits; vectors, biases and positions become 32-bit floats, as whisper.cpp
expects them. The result is the same byte for byte on every run.

A CTranslate2 file is little endian and holds: version u32, name of the specification, its revision u32, number of tensors
u32, and per tensor: name, dimensions u8, sizes u32 each, type u8, bytes u32, the values. Then the number of aliases u32, and
per alias its own name and the name of a tensor. A name is its length with the final zero byte u16, then the bytes.

A ggml file holds: magic, eleven sizes i32, the mel filters (rows i32, columns i32, f32 each), the number of tokens i32, per
token its length i32 and bytes, and until the end per tensor: dimensions i32, length of the name i32, type i32 (0 = f32,
1 = f16), sizes i32 from the innermost, the name, the values.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

OUTPUT = "ggml-base-f16.bin"
MAGIC = 0x67676D6C
F32, F16 = 0, 1
TYPES = {0: "<f4", 1: "<i1", 2: "<i2", 3: "<i4", 4: "<f2"}
# Tokens after these (languages, tasks, times) are added by whisper.cpp itself.
N_TEXT_TOKENS = 50257
SAMPLE_RATE = 16000
FFT_SIZE = 400


class Source:
    """A parsed CTranslate2 file: its tensors by name."""

    def __init__(self, data: bytes):
        self._data = data
        self._at = 0
        self.version = self._number("I")
        self.specification = self._name()
        if self.specification != "WhisperSpec":
            raise ValueError(f"not a Whisper model but {self.specification!r}")
        self._number("I")
        self.tensors = {}
        for _ in range(self._number("I")):
            name = self._name()
            shape = [self._number("I") for _ in range(self._number("B"))]
            dtype = np.dtype(TYPES[self._number("B")])
            n_bytes = self._number("I")
            values = np.frombuffer(data, dtype, n_bytes // dtype.itemsize, self._at)
            self.tensors[name] = values.reshape(shape)
            self._at += n_bytes
        for _ in range(self._number("I") if self._at < len(data) else 0):
            alias, name = self._name(), self._name()
            self.tensors[alias] = self.tensors[name]

    def _number(self, kind: str) -> int:
        (value,) = struct.unpack_from("<" + kind, self._data, self._at)
        self._at += struct.calcsize("<" + kind)
        return value

    def _name(self) -> str:
        length = self._number("H")
        text = self._data[self._at : self._at + length - 1].decode("utf-8")
        self._at += length
        return text

    def __getitem__(self, name: str) -> np.ndarray:
        return self.tensors[name]

    def layers(self, side: str) -> int:
        """How many layers the encoder or the decoder has."""
        prefix = f"{side}/layer_"
        numbers = {name[len(prefix) :].split("/")[0] for name in self.tensors if name.startswith(prefix)}
        return sum(number.isdigit() for number in numbers)


def byte_of_character() -> dict[str, int]:
    """The vocabulary writes each byte as one printable character: printable Latin-1 as itself, the rest from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in set(printable)]
    table = {chr(byte): byte for byte in printable}
    table.update({chr(256 + i): byte for i, byte in enumerate(hidden)})
    return table


def mel_filters(n_mels: int) -> np.ndarray:
    """Triangles of area 1 on Slaney's mel scale (linear below 1 kHz, logarithmic above), f32 [mels, frequencies]."""
    log_step = np.log(6.4) / 27

    def to_mel(hertz: float) -> float:
        return 15 + np.log(hertz / 1000) / log_step if hertz >= 1000 else hertz * 3 / 200

    mels = np.linspace(to_mel(0.0), to_mel(SAMPLE_RATE / 2), n_mels + 2)
    corners = np.where(mels >= 15, 1000 * np.exp(log_step * (mels - 15)), mels * 200 / 3)
    frequencies = np.linspace(0, SAMPLE_RATE / 2, FFT_SIZE // 2 + 1)
    widths = np.diff(corners)
    distances = corners[:, None] - frequencies[None]
    rising = -distances[:-2] / widths[:-1, None]
    falling = distances[2:] / widths[1:, None]
    triangles = np.maximum(0, np.minimum(rising, falling))
    return (triangles * (2 / (corners[2:] - corners[:-2]))[:, None]).astype("<f4")


class Target:
    """Writes a ggml file."""

    def __init__(self, file):
        self._file = file

    def numbers(self, *values: int) -> None:
        self._file.write(struct.pack(f"<{len(values)}i", *values))

    def head(self, source: Source, n_mels: int) -> None:
        audio_positions, audio_state = source["encoder/position_encodings/encodings"].shape
        text_positions, text_state = source["decoder/position_encodings/encodings"].shape
        n_tokens = source["decoder/embeddings/weight"].shape[0]
        self._file.write(struct.pack("<I", MAGIC))
        self.numbers(n_tokens, audio_positions, audio_state)
        self.numbers(int(source["encoder/num_heads"]), source.layers("encoder"))
        self.numbers(text_positions, text_state)
        self.numbers(int(source["decoder/num_heads"]), source.layers("decoder"))
        self.numbers(n_mels, F16)

    def filters(self, filters: np.ndarray) -> None:
        self.numbers(*filters.shape)
        self._file.write(filters.tobytes())

    def tokens(self, vocabulary: list[str]) -> None:
        byte_of = byte_of_character()
        self.numbers(N_TEXT_TOKENS)
        for token in vocabulary[:N_TEXT_TOKENS]:
            content = bytes(byte_of[character] for character in token)
            self.numbers(len(content))
            self._file.write(content)

    def tensor(self, name: str, values: np.ndarray) -> None:
        wide = values.ndim < 2 or name.endswith((".bias", "positional_embedding"))
        values = np.ascontiguousarray(values).astype("<f4" if wide else "<f2")
        encoded = name.encode("utf-8")
        self.numbers(values.ndim, len(encoded), F32 if wide else F16)
        self.numbers(*values.shape[::-1])
        self._file.write(encoded)
        self._file.write(values.tobytes())


class Network:
    """Moves the tensors, in the order in which whisper.cpp's own converter writes them."""

    def __init__(self, source: Source, target: Target):
        self.source = source
        self.target = target

    def move(self) -> None:
        source, target = self.source, self.target
        for side in ("encoder", "decoder"):
            target.tensor(f"{side}.positional_embedding", source[f"{side}/position_encodings/encodings"])
        for name in ("conv1", "conv2"):
            target.tensor(f"encoder.{name}.weight", source[f"encoder/{name}/weight"])
            # One value per channel, to be spread over time.
            target.tensor(f"encoder.{name}.bias", source[f"encoder/{name}/bias"].reshape(-1, 1))
        target.tensor("decoder.token_embedding.weight", source["decoder/embeddings/weight"])
        self._norm("encoder.ln_post", "encoder/layer_norm")
        self._norm("decoder.ln", "decoder/layer_norm")
        for side in ("encoder", "decoder"):
            for layer in range(source.layers(side)):
                self._layer(side, f"{side}.blocks.{layer}.", f"{side}/layer_{layer}/")

    def _layer(self, side: str, to: str, of: str) -> None:
        self._attention(to + "attn.", of + "self_attention/", ["query", "key", "value"])
        self._norm(to + "attn_ln", of + "self_attention/layer_norm")
        if side == "decoder":
            self._cross_attention(to + "cross_attn.", of + "attention/")
            self._norm(to + "cross_attn_ln", of + "attention/layer_norm")
        for number, part in ((0, 0), (2, 1)):
            self._linear(f"{to}mlp.{number}", f"{of}ffn/linear_{part}")
        self._norm(to + "mlp_ln", of + "ffn/layer_norm")

    def _attention(self, to: str, of: str, stacked: list[str]) -> None:
        """One matrix holds the projections above each other; the key has no bias."""
        weights = np.split(self.source[of + "linear_0/weight"], len(stacked))
        biases = np.split(self.source[of + "linear_0/bias"], len(stacked))
        for name, weight, bias in zip(stacked, weights, biases):
            self.target.tensor(f"{to}{name}.weight", weight)
            if name != "key":
                self.target.tensor(f"{to}{name}.bias", bias)
        self._linear(to + "out", of + "linear_1")

    def _cross_attention(self, to: str, of: str) -> None:
        self._linear(to + "query", of + "linear_0")
        key, value = np.split(self.source[of + "linear_1/weight"], 2)
        self.target.tensor(to + "key.weight", key)
        self.target.tensor(to + "value.weight", value)
        self.target.tensor(to + "value.bias", np.split(self.source[of + "linear_1/bias"], 2)[1])
        self._linear(to + "out", of + "linear_2")

    def _linear(self, to: str, of: str) -> None:
        self.target.tensor(to + ".weight", self.source[of + "/weight"])
        self.target.tensor(to + ".bias", self.source[of + "/bias"])

    def _norm(self, to: str, of: str) -> None:
        self.target.tensor(to + ".weight", self.source[of + "/gamma"])
        self.target.tensor(to + ".bias", self.source[of + "/beta"])


def convert(model: Path, vocabulary: Path, folder: Path) -> None:
    """Reads model and vocabulary and writes the one result."""
    source = Source(model.read_bytes())
    tokens = json.loads(vocabulary.read_text("utf-8"))
    n_mels = source["encoder/conv1/weight"].shape[1]
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / OUTPUT, "wb") as file:
        target = Target(file)
        target.head(source, n_mels)
        target.filters(mel_filters(n_mels))
        target.tokens(tokens)
        Network(source, target).move()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: ct2_to_ggml.py model.bin vocabulary.json OUTPUT_FOLDER")
    convert(*map(Path, sys.argv[1:]))
