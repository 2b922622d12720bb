//! The few arguments of the window's program: whose session it is and which vault it opens.

/// `--as PROFILE` and `--vault NAME`, as on the command line of `zhiku`; everything else is left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) profile: Option<String>,
    pub(crate) vault: Option<String>,
}

impl Arguments {
    pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Self {
        let mut read = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (argument, None),
            };
            match name.as_str() {
                "--as" => read.profile = value.or_else(|| arguments.next()),
                "--vault" => read.vault = value.or_else(|| arguments.next()),
                _ => {}
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_understood_and_unknown_words_left_alone() {
        let words = ["--as", "mei", "--vault=装修", "-psn_0_1"].map(str::to_owned);
        let expected = Arguments { profile: Some("mei".to_owned()), vault: Some("装修".to_owned()) };
        assert_eq!(Arguments::read(words), expected);
    }
}
