//! Names of files within files: fit to be shown and to be joined to a folder.

use encoding_rs::GBK;

use crate::encoding::decode;

/// Longer parts of a path are cut; their extension stays.
const MAX_PART_CHARS: usize = 120;
const MAX_PARTS: usize = 16;

/// A relative path of harmless parts; `file` when nothing is left.
pub(crate) fn safe_name(name: &str) -> String {
    let parts: Vec<String> = name.split(['/', '\\']).map(safe_part).filter(|part| !part.is_empty()).collect();
    let skipped = parts.len().saturating_sub(MAX_PARTS);
    if parts.is_empty() { "file".to_owned() } else { parts[skipped..].join("/") }
}

/// A name as the bytes of an archive: UTF-8, else whatever East Asian code page fits, else GBK.
pub(super) fn decode_name(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        // A name is too short to be judged by its characters unless they are common ones.
        Err(_) => match GBK.decode_without_bom_handling_and_without_replacement(bytes) {
            Some(name) => name.into_owned(),
            None => decode(bytes, None)
                .map_or_else(|| String::from_utf8_lossy(bytes).into_owned(), |decoded| decoded.text),
        },
    }
}

fn safe_part(part: &str) -> String {
    let is_bad = |c: char| {
        c.is_control()
            || "<>:\"|?*".contains(c)
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    };
    let clean: String = part.chars().filter(|c| !is_bad(*c)).collect();
    // `.`, `..`, and names that Windows would change.
    let clean = clean.trim().trim_end_matches(['.', ' ']);
    if clean.chars().count() <= MAX_PART_CHARS {
        return clean.to_owned();
    }
    let end = crate::detect::extension(clean).map(|end| format!(".{end}")).unwrap_or_default();
    let n_kept = MAX_PART_CHARS - end.chars().count();
    clean.chars().take(n_kept).collect::<String>() + &end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_and_stay_readable() {
        for (name, expect) in [
            ("a/b.pdf", "a/b.pdf"),
            ("../../etc/passwd", "etc/passwd"),
            ("/abs\\..\\C:\\x.docx", "abs/C/x.docx"),
            ("合同😀.docx", "合同😀.docx"),
            ("a\u{202e}fdp.exe\0", "afdp.exe"),
            ("..", "file"),
            ("", "file"),
            ("v1.2.tar.gz", "v1.2.tar.gz"),
        ] {
            assert_eq!(safe_name(name), expect);
        }
        let long = safe_name(&format!("{}.pdf", "长".repeat(500)));
        assert!(long.ends_with("长.pdf") && long.chars().count() == MAX_PART_CHARS);
    }

    #[test]
    fn names_in_gbk_are_read() {
        assert_eq!(decode_name(b"\xba\xcf\xcd\xac.txt"), "合同.txt");
        assert_eq!(decode_name("合同.txt".as_bytes()), "合同.txt");
    }
}
