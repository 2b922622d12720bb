//! Code pages, and the signs that have control words.

use encoding_rs::{
    BIG5, EUC_KR, Encoding, GBK, MACINTOSH, SHIFT_JIS, UTF_8, WINDOWS_874, WINDOWS_1250, WINDOWS_1251,
    WINDOWS_1252, WINDOWS_1253, WINDOWS_1254, WINDOWS_1255, WINDOWS_1256, WINDOWS_1257, WINDOWS_1258,
};

/// What `\ansicpg` names.
pub(super) fn code_page(number: i32) -> &'static Encoding {
    match number {
        874 => WINDOWS_874,
        932 => SHIFT_JIS,
        936 | 54936 => GBK,
        949 => EUC_KR,
        950 => BIG5,
        1250 => WINDOWS_1250,
        1251 => WINDOWS_1251,
        1253 => WINDOWS_1253,
        1254 => WINDOWS_1254,
        1255 => WINDOWS_1255,
        1256 => WINDOWS_1256,
        1257 => WINDOWS_1257,
        1258 => WINDOWS_1258,
        10000 => MACINTOSH,
        65001 => UTF_8,
        _ => WINDOWS_1252,
    }
}

/// What a font's `\fcharset` says; `None` where it says nothing.
pub(super) fn charset(number: i32) -> Option<&'static Encoding> {
    Some(code_page(match number {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    }))
}

pub(super) fn sign(word: &str) -> Option<char> {
    Some(match word {
        "tab" | "nestcell" => '\t',
        "line" | "softline" => '\n',
        "emdash" => '—',
        "endash" => '–',
        "page" | "column" | "emspace" | "enspace" | "qmspace" => ' ',
        "bullet" => '•',
        "lquote" => '‘',
        "rquote" => '’',
        "ldblquote" => '“',
        "rdblquote" => '”',
        _ => return None,
    })
}

/// Groups whose text is not the document's.
pub(super) fn is_unread(word: &str) -> bool {
    matches!(
        word,
        "colortbl"
            | "info"
            | "pict"
            | "object"
            | "header"
            | "headerl"
            | "headerr"
            | "headerf"
            | "footer"
            | "footerl"
            | "footerr"
            | "footerf"
            | "fldinst"
            | "listtable"
            | "listoverridetable"
            | "filetbl"
            | "revtbl"
            | "rsidtbl"
            | "generator"
            | "nonshppict"
            | "xe"
            | "tc"
            | "sp"
            | "ftnsep"
            | "ftnsepc"
            | "aftnsep"
            | "aftnsepc"
            | "pntxta"
            | "pntxtb"
            | "atnid"
            | "bkmkstart"
            | "bkmkend"
    )
}

/// Groups that old programs may skip (`\*`), but that hold text.
pub(super) fn is_read_though_optional(word: &str) -> bool {
    matches!(word, "shpinst" | "annotation" | "atnauthor" | "atrfend" | "nesttableprops" | "pn")
}
