//! Which files are recordings: by their first bytes, and by the name where those leave it open.

use zhiku_core::DocumentKind;
use zhiku_parse::detect::extension;

pub(crate) fn media_kind(head: &[u8], name: &str) -> Option<DocumentKind> {
    let extension = extension(name);
    let named = |kind: DocumentKind| extension.as_deref().is_some_and(|ext| kind.extensions().contains(&ext));
    let (audio, video) = (Some(DocumentKind::Audio), Some(DocumentKind::Video));
    if let [b'R', b'I', b'F', b'F', _, _, _, _, form @ ..] = head {
        return match form {
            [b'W', b'A', b'V', b'E', ..] => audio,
            [b'A', b'V', b'I', b' ', ..] => video,
            _ => None,
        };
    }
    if let [_, _, _, _, b'f', b't', b'y', b'p', brand @ ..] = head {
        return match brand {
            // Pictures of the same family of containers.
            [b'h' | b'a' | b'm', b'e' | b'v' | b'i', b'i' | b'f', ..] => None,
            [b'M', b'4', b'A', ..] => audio,
            _ if named(DocumentKind::Audio) => audio,
            _ => video,
        };
    }
    match head {
        [b'O', b'g', b'g', b'S', ..] if extension.as_deref() != Some("ogv") => audio,
        [b'f', b'L', b'a', b'C', ..] | [b'I', b'D', b'3', ..] => audio,
        // A frame of MPEG sound has no signature beyond its first eleven bits.
        [0xff, second, ..] if second & 0xe0 == 0xe0 && named(DocumentKind::Audio) => audio,
        [b'O', b'g', b'g', b'S', ..] | [0x1a, 0x45, 0xdf, 0xa3, ..] => video,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_told_by_their_first_bytes() {
        let cases: [(&[u8], &str, Option<DocumentKind>); 8] = [
            (b"RIFF\0\0\0\0WAVEfmt ", "a.wav", Some(DocumentKind::Audio)),
            (b"RIFF\0\0\0\0WEBPVP8 ", "a.webp", None),
            (b"\0\0\0\x20ftypisom", "a.mp4", Some(DocumentKind::Video)),
            (b"\0\0\0\x20ftypisom", "a.m4a", Some(DocumentKind::Audio)),
            (b"\0\0\0\x20ftypheic", "a.heic", None),
            (b"\xff\xfb\x90\0", "a.mp3", Some(DocumentKind::Audio)),
            (b"\xff\xfe\x41\0", "utf16.txt", None),
            (b"\x1a\x45\xdf\xa3", "a.webm", Some(DocumentKind::Video)),
        ];
        for (head, name, expected) in cases {
            assert_eq!(media_kind(head, name), expected, "{name}");
        }
    }
}
