/** The part of a passage around the words looked for, with those words marked. */
export interface ExcerptPart {
  text: string;
  marked: boolean;
}

/** Latin words and codes as they are, Chinese in pairs of characters: enough to show why a passage was found. */
export function queryTerms(query: string): string[] {
  const terms = new Set<string>();
  for (const [word] of query.toLowerCase().matchAll(/\p{Script=Han}+|[\p{L}\p{N}][\p{L}\p{N}.\-/]*/gu)) {
    const characters = [...word];
    if (!/\p{Script=Han}/u.test(word)) {
      if (characters.length > 1) terms.add(word);
    } else if (characters.length <= 2) terms.add(word);
    else for (let at = 0; at + 2 <= characters.length; at += 1) terms.add(characters.slice(at, at + 2).join(""));
  }
  return [...terms].toSorted((a, b) => b.length - a.length);
}

export function excerpt(passage: string, query: string, length: number): ExcerptPart[] {
  const text = passage.replace(/\s+/gu, " ").trim();
  const terms = queryTerms(query).map((term) => term.replace(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`));
  if (terms.length === 0) return [{ text: text.slice(0, length), marked: false }];
  const pattern = new RegExp(terms.join("|"), "giu");
  const first = text.search(pattern);
  const from = first > length / 2 ? Math.max(0, first - Math.floor(length / 4)) : 0;
  const part = (from > 0 ? "…" : "") + text.slice(from, from + length) + (from + length < text.length ? "…" : "");
  const parts: ExcerptPart[] = [];
  let at = 0;
  for (const match of part.matchAll(pattern)) {
    if (match.index > at) parts.push({ text: part.slice(at, match.index), marked: false });
    parts.push({ text: match[0], marked: true });
    at = match.index + match[0].length;
  }
  if (at < part.length) parts.push({ text: part.slice(at), marked: false });
  return parts;
}
