//! The file as control words, groups and bytes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// `\par`, `\u20013`.
    Word(&'a str, Option<i32>),
    /// `\~`, `\*` and the like.
    Sign(u8),
    /// A byte of text, plain or as `\'b2`.
    Byte(u8),
}

pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Skips binary data.
    pub(super) fn pass_over(&mut self, n_bytes: usize) {
        self.at = self.at.saturating_add(n_bytes).min(self.bytes.len());
    }

    fn control(&mut self) -> Option<Token<'a>> {
        let first = *self.bytes.get(self.at)?;
        if !first.is_ascii_alphabetic() {
            self.at += 1;
            return match first {
                b'\'' => {
                    let code = self.bytes.get(self.at..self.at + 2)?;
                    let digit = |byte: u8| (byte as char).to_digit(16);
                    match (digit(code[0]), digit(code[1])) {
                        (Some(high), Some(low)) => {
                            self.at += 2;
                            Some(Token::Byte((high * 16 + low) as u8))
                        }
                        _ => Some(Token::Sign(b'\'')),
                    }
                }
                b'\\' | b'{' | b'}' => Some(Token::Byte(first)),
                b'\n' | b'\r' => Some(Token::Word("par", None)),
                sign => Some(Token::Sign(sign)),
            };
        }
        let rest = &self.bytes[self.at..];
        let n_letters = rest.iter().take(32).take_while(|byte| byte.is_ascii_alphabetic()).count();
        let number = &rest[n_letters..];
        let n_sign = usize::from(number.first() == Some(&b'-'));
        let n_digits = number[n_sign..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let n_number = if n_digits > 0 { n_sign + n_digits } else { 0 };
        let word = std::str::from_utf8(&rest[..n_letters]).ok()?;
        let number = std::str::from_utf8(&number[..n_number]).ok()?.parse().ok();
        self.at += n_letters + n_number;
        // One space ends a control word and belongs to it.
        if self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        Some(Token::Word(word, number))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            return match byte {
                b'{' => Some(Token::Open),
                b'}' => Some(Token::Close),
                b'\\' => self.control(),
                b'\r' | b'\n' | 0 => continue,
                byte => Some(Token::Byte(byte)),
            };
        }
    }
}
