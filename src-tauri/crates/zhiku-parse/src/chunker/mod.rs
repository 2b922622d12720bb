//! Units to chunks: text cut for recall that follows the structure of its source. Pure.
//!
//! Paragraphs, list items and table rows ([`pieces`]) are packed to a target length. What is cut, and only if it alone is over
//! the limit, is cut at sentences, then at lines, then at spaces. A chunk is one stretch of one unit; what it needs from
//! outside (title, headings, the head of its table) stands in its header ([`header`]). Chunks do not overlap: retrieval
//! fetches neighbours instead.

mod header;
mod pieces;

use zhiku_core::{ChunkKind, ChunkSpan, Locator, ParsedUnit, UnitId};

use header::HeaderWriter;
use pieces::{Piece, PieceKind, UnitText, halves, make_pieces};

/// Changes whenever the same units would give other chunks. Stored with each vault.
pub const CHUNKER_VERSION: u32 = 1;

#[derive(Clone, Copy, Debug)]
pub struct ChunkInput<'a> {
    pub unit_id: UnitId,
    pub unit: &'a ParsedUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// Tokens that no chunk exceeds, header and special tokens included.
    pub max_tokens: usize,
    /// Tokens to which short pieces are packed.
    pub target_tokens: usize,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self { max_tokens: 480, target_tokens: 300 }
    }
}

/// A chunk before it has an id; see [`zhiku_core::Chunk`] for the fields.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkDraft {
    pub kind: ChunkKind,
    pub header: String,
    pub text: String,
    pub spans: Vec<ChunkSpan>,
    pub locator: Locator,
    pub n_tokens: u32,
}

/// Cuts the units of one version, in order. `count` tells how many tokens the embedding model makes of a text, prefix and
/// special tokens included; it is called about twice per sentence.
pub fn chunk(
    units: &[ChunkInput<'_>],
    title: &str,
    count: &dyn Fn(&str) -> usize,
    options: &ChunkOptions,
) -> Vec<ChunkDraft> {
    let mut chunks = Vec::new();
    for input in units {
        let text = UnitText::new(&input.unit.text);
        let mut packer = Packer {
            input: *input,
            text: &text,
            count,
            empty_cost: count(""),
            options: *options,
            headers: HeaderWriter::new(title, count, options.max_tokens / 3),
            current: Vec::new(),
            chunks: Vec::new(),
        };
        for piece in make_pieces(&text, &input.unit.heading_path) {
            packer.add(piece);
        }
        chunks.extend(packer.finish());
    }
    chunks
}

/// A piece with its tokens.
struct Weighed {
    piece: Piece,
    cost: usize,
}

struct Packer<'a> {
    input: ChunkInput<'a>,
    text: &'a UnitText<'a>,
    count: &'a dyn Fn(&str) -> usize,
    /// Tokens that even an empty text has.
    empty_cost: usize,
    options: ChunkOptions,
    headers: HeaderWriter<'a>,
    current: Vec<Weighed>,
    chunks: Vec<Vec<Weighed>>,
}

impl Packer<'_> {
    fn cost(&self, text: &str) -> usize {
        // The line break or space before it may cost one more.
        (self.count)(text).saturating_sub(self.empty_cost) + 1
    }

    fn weigh(&self, piece: Piece) -> Weighed {
        let cost = self.cost(self.text.slice(&piece.range));
        Weighed { piece, cost }
    }

    /// Tokens left for text beside the header that a chunk of these pieces would get.
    fn room(&self, first: &Piece) -> usize {
        let header = self.headers.cost(&[first], self.text);
        self.options.max_tokens.saturating_sub(header + self.empty_cost + 2).max(1)
    }

    fn current_cost(&self) -> usize {
        self.current.iter().map(|weighed| weighed.cost).sum()
    }

    /// Below this a section is too short to be found for itself, and is packed with its neighbour.
    fn tiny(&self) -> usize {
        self.options.target_tokens / 5
    }

    fn add(&mut self, piece: Piece) {
        let weighed = self.weigh(piece);
        if weighed.cost <= self.room(&weighed.piece) {
            self.pack(weighed);
            return;
        }
        for part in self.text.sentences_of(&weighed.piece) {
            let part = self.weigh(part);
            self.pack_or_halve(part);
        }
    }

    /// For what is over the limit even as one sentence.
    fn pack_or_halve(&mut self, weighed: Weighed) {
        if weighed.cost <= self.room(&weighed.piece) {
            self.pack(weighed);
            return;
        }
        let Some((left, right)) = halves(self.text, &weighed.piece) else {
            self.pack(weighed);
            return;
        };
        for half in [left, right] {
            let half = self.weigh(half);
            self.pack_or_halve(half);
        }
    }

    fn pack(&mut self, weighed: Weighed) {
        if !self.current.is_empty() && !self.belongs(&weighed) {
            self.flush(&weighed);
        }
        self.current.push(weighed);
    }

    fn belongs(&self, next: &Weighed) -> bool {
        let cost = self.current_cost();
        let room = self.room(&self.current[0].piece);
        let only_headings = self.current.iter().all(|weighed| weighed.piece.kind == PieceKind::Heading);
        if only_headings {
            return cost + next.cost <= room;
        }
        if next.piece.kind == PieceKind::Heading {
            return cost < self.tiny() && cost + next.cost <= self.options.target_tokens;
        }
        let last = &self.current[self.current.len() - 1].piece;
        let same_table = last.table.is_some() && last.table == next.piece.table;
        let starts_table = next.piece.table.is_some() && !same_table;
        if starts_table && !table_fits(next, cost, self.options.target_tokens.min(room)) {
            return false;
        }
        // A table stays whole up to the limit, whatever the target is.
        let limit = if same_table && table_fits(next, cost, room) {
            room
        } else {
            self.options.target_tokens.min(room)
        };
        cost + next.cost <= limit
            || (cost * 2 < limit && cost + next.cost <= room && cost + next.cost < limit * 5 / 4)
    }

    /// Ends the chunk. What leads to the next piece (headings, "as follows:") goes over to it, if there is room.
    fn flush(&mut self, next: &Weighed) {
        let body = self.current.iter().rposition(|weighed| !weighed.piece.leads).map_or(0, |n| n + 1);
        let carried: usize = self.current[body..].iter().map(|weighed| weighed.cost).sum();
        let fits = body < self.current.len() && carried + next.cost <= self.room(&self.current[body].piece);
        let leads = if body > 0 && fits { self.current.split_off(body) } else { Vec::new() };
        let chunk = std::mem::replace(&mut self.current, leads);
        self.chunks.push(chunk);
    }

    fn finish(mut self) -> Vec<ChunkDraft> {
        if !self.current.is_empty() {
            let rest = std::mem::take(&mut self.current);
            self.chunks.push(rest);
        }
        self.merge_tiny_tail();
        let mut drafts = Vec::new();
        for pieces in std::mem::take(&mut self.chunks) {
            self.emit(pieces, &mut drafts);
        }
        drafts
    }

    /// A page number or a last short line is no chunk of its own.
    fn merge_tiny_tail(&mut self) {
        let total = |chunk: &[Weighed]| chunk.iter().map(|weighed| weighed.cost).sum::<usize>();
        let [.., before, tail] = self.chunks.as_slice() else { return };
        let fits = total(before) + total(tail) <= self.room(&before[0].piece);
        let same_path = before[before.len() - 1].piece.path == tail[0].piece.path;
        if total(tail) < self.tiny() && fits && same_path {
            let tail = self.chunks.pop().unwrap_or_default();
            if let Some(before) = self.chunks.last_mut() {
                before.extend(tail);
            }
        }
    }

    /// Makes the chunk, or more than one if the estimate was too low: the count of the whole text decides.
    fn emit(&self, mut pieces: Vec<Weighed>, drafts: &mut Vec<ChunkDraft>) {
        let refs: Vec<&Piece> = pieces.iter().map(|weighed| &weighed.piece).collect();
        let range = refs[0].range.start..refs[refs.len() - 1].range.end;
        let text = self.text.slice(&range).to_owned();
        let mut header = self.headers.write(&refs, self.text);
        let kind = chunk_kind(&refs);
        let whole = |header: &str| if header.is_empty() { text.clone() } else { format!("{header}\n{text}") };
        let mut n_tokens = (self.count)(&whole(&header));
        if n_tokens > self.options.max_tokens {
            if pieces.len() > 1 {
                let tail = pieces.split_off(pieces.len() / 2);
                self.emit(pieces, drafts);
                self.emit(tail, drafts);
                return;
            }
            if let Some((left, right)) = halves(self.text, &pieces[0].piece) {
                self.emit(vec![self.weigh(left)], drafts);
                self.emit(vec![self.weigh(right)], drafts);
                return;
            }
            // One character and a header that leaves no room for it.
            header.clear();
            n_tokens = (self.count)(&text);
        }
        let (char_start, char_end) = (range.start as u32, range.end as u32);
        drafts.push(ChunkDraft {
            kind,
            header,
            spans: vec![ChunkSpan { unit_id: self.input.unit_id, char_start, char_end }],
            locator: self.input.unit.place_of(char_start, char_end),
            n_tokens: n_tokens as u32,
            text,
        });
    }
}

/// Whether what is left of the table, by its characters, still fits beside what is there.
fn table_fits(next: &Weighed, cost: usize, room: usize) -> bool {
    let n_left = next.piece.table_chars_left;
    let n_own = next.piece.range.len().max(1);
    cost + next.cost * n_left.max(n_own) / n_own <= room
}

fn chunk_kind(pieces: &[&Piece]) -> ChunkKind {
    let mut kinds = pieces.iter().map(|piece| piece.kind).filter(|kind| *kind != PieceKind::Heading);
    let Some(first) = kinds.next() else { return ChunkKind::Text };
    let uniform = kinds.all(|kind| kind == first);
    match first {
        PieceKind::TableRow if uniform => ChunkKind::Table,
        PieceKind::ListItem if uniform => ChunkKind::List,
        _ => ChunkKind::Text,
    }
}

#[cfg(test)]
mod tests;
