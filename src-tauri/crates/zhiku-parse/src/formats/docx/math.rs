//! Office formulas (OMML) as linear text in LaTeX notation, which readers, indexes and models know: `$\frac{a}{b}$`.

use crate::formats::blocks::tidy_line;
use crate::formats::xml::{Element, Ns};

/// A formula within text.
pub(in crate::formats) fn inline(element: &Element) -> String {
    let formula = tidy_line(&sequence(element));
    if formula.is_empty() { String::new() } else { format!("${formula}$") }
}

fn sequence(parent: &Element) -> String {
    let mut out = String::new();
    for element in parent.elements() {
        let piece = piece(element);
        // A command must not run into the letter behind it.
        let ends_in_command = out
            .rsplit_once('\\')
            .is_some_and(|(_, name)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic()));
        if ends_in_command && piece.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    out
}

fn piece(element: &Element) -> String {
    if element.ns != Ns::Math {
        return match &*element.name {
            "t" => escape(&element.text()),
            "r" | "ins" | "hyperlink" | "sdt" | "sdtContent" | "smartTag" => sequence(element),
            _ => String::new(),
        };
    }
    let part = |name: &str| element.child(name).map(sequence).unwrap_or_default();
    let property = |group: &str, name: &str| element.child(group).and_then(|group| group.child_val(name));
    match &*element.name {
        "t" => escape(&element.text()),
        "f" => match property("fPr", "type") {
            Some("lin" | "skw") => format!("{}/{}", braced(&part("num")), braced(&part("den"))),
            Some("noBar") => format!("\\binom{{{}}}{{{}}}", part("num"), part("den")),
            _ => format!("\\frac{{{}}}{{{}}}", part("num"), part("den")),
        },
        "sSup" => format!("{}^{{{}}}", base(&part("e")), part("sup")),
        "sSub" => format!("{}_{{{}}}", base(&part("e")), part("sub")),
        "sSubSup" => format!("{}_{{{}}}^{{{}}}", base(&part("e")), part("sub"), part("sup")),
        "sPre" => format!("{{}}_{{{}}}^{{{}}}{}", part("sub"), part("sup"), part("e")),
        "rad" => match part("deg") {
            degree if degree.trim().is_empty() => format!("\\sqrt{{{}}}", part("e")),
            degree => format!("\\sqrt[{degree}]{{{}}}", part("e")),
        },
        "nary" => {
            let sign = property("naryPr", "chr").unwrap_or("∫");
            let limit =
                |mark: char, text: String| if text.is_empty() { text } else { format!("{mark}{{{text}}}") };
            format!(
                "{}{}{} {}",
                escape(sign).trim_end(),
                limit('_', part("sub")),
                limit('^', part("sup")),
                part("e")
            )
        }
        "d" => {
            let open = property("dPr", "begChr").unwrap_or("(");
            let close = property("dPr", "endChr").unwrap_or(")");
            let separator = property("dPr", "sepChr").unwrap_or("|");
            let parts: Vec<String> = element.elements().filter(|e| &*e.name == "e").map(sequence).collect();
            format!("{}{}{}", escape(open), parts.join(separator), escape(close))
        }
        "m" => {
            let rows = element.elements().filter(|e| &*e.name == "mr").map(|row| {
                row.elements().filter(|e| &*e.name == "e").map(sequence).collect::<Vec<_>>().join(" & ")
            });
            format!("\\begin{{matrix}} {} \\end{{matrix}}", rows.collect::<Vec<_>>().join(" \\\\ "))
        }
        "eqArr" => {
            element.elements().filter(|e| &*e.name == "e").map(sequence).collect::<Vec<_>>().join(" \\\\ ")
        }
        "func" => format!("{} {}", function(&part("fName")), part("e")),
        "limLow" => format!("{}_{{{}}}", function(&part("e")), part("lim")),
        "limUpp" => format!("{}^{{{}}}", function(&part("e")), part("lim")),
        "acc" => format!("{}{{{}}}", accent(property("accPr", "chr").unwrap_or("\u{302}")), part("e")),
        "bar" => {
            let command = if property("barPr", "pos") == Some("top") { "\\overline" } else { "\\underline" };
            format!("{command}{{{}}}", part("e"))
        }
        "oMath" | "oMathPara" | "e" | "num" | "den" | "sup" | "sub" | "deg" | "lim" | "fName" | "r"
        | "box" | "borderBox" | "phant" | "groupChr" => sequence(element),
        _ => String::new(),
    }
}

/// What an exponent belongs to must be one group.
fn base(text: &str) -> String {
    let is_single = text.chars().count() <= 1 || text.chars().all(char::is_alphanumeric);
    let is_group = text.starts_with('(') && text.ends_with(')');
    if is_single || is_group { text.to_owned() } else { format!("{{{text}}}") }
}

fn braced(text: &str) -> String {
    if text.chars().all(char::is_alphanumeric) { text.to_owned() } else { format!("({text})") }
}

fn function(name: &str) -> String {
    const NAMES: &[&str] = &[
        "sin", "cos", "tan", "cot", "log", "ln", "lg", "exp", "lim", "max", "min", "arcsin", "arccos",
        "arctan", "det",
    ];
    if NAMES.contains(&name.trim()) { format!("\\{}", name.trim()) } else { name.to_owned() }
}

fn accent(mark: &str) -> &'static str {
    match mark {
        "\u{303}" => "\\tilde",
        "\u{304}" | "\u{305}" | "¯" => "\\bar",
        "\u{307}" => "\\dot",
        "\u{308}" => "\\ddot",
        "\u{20d7}" | "→" => "\\vec",
        _ => "\\hat",
    }
}

/// Letters and signs beyond ASCII as commands; a command is followed by a space.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match command(c) {
            Some(name) => {
                out.push('\\');
                out.push_str(name);
                out.push(' ');
            }
            // Typographic signs that stand for plain ones.
            None => out.push(match c {
                '−' | '–' | '—' | '‐' => '-',
                '∗' => '*',
                '\u{2061}'..='\u{2064}' | '\u{200b}' => continue,
                '\u{a0}' | '\u{2009}' | '\u{2003}' => ' ',
                c => plain_letter(c),
            }),
        }
    }
    out
}

/// 𝑥 is x: the mathematical alphabets repeat A–Z a–z in 13 styles.
fn plain_letter(c: char) -> char {
    let code = c as u32;
    if c == 'ℎ' {
        return 'h';
    }
    if !(0x1d400..0x1d6a4).contains(&code) {
        return c;
    }
    let index = (code - 0x1d400) % 52;
    let first = if index < 26 { u32::from(b'A') } else { u32::from(b'a') - 26 };
    char::from_u32(first + index).unwrap_or(c)
}

fn command(c: char) -> Option<&'static str> {
    Some(match c {
        'α' => "alpha",
        'β' => "beta",
        'γ' => "gamma",
        'δ' => "delta",
        'ε' | 'ϵ' => "epsilon",
        'ζ' => "zeta",
        'η' => "eta",
        'θ' | 'ϑ' => "theta",
        'ι' => "iota",
        'κ' => "kappa",
        'λ' => "lambda",
        'μ' | 'µ' => "mu",
        'ν' => "nu",
        'ξ' => "xi",
        'π' => "pi",
        'ρ' => "rho",
        'σ' | 'ς' => "sigma",
        'τ' => "tau",
        'υ' => "upsilon",
        'φ' | 'ϕ' => "phi",
        'χ' => "chi",
        'ψ' => "psi",
        'ω' => "omega",
        'Γ' => "Gamma",
        'Δ' | '∆' => "Delta",
        'Θ' => "Theta",
        'Λ' => "Lambda",
        'Ξ' => "Xi",
        'Π' => "Pi",
        'Σ' => "Sigma",
        'Φ' => "Phi",
        'Ψ' => "Psi",
        'Ω' => "Omega",
        '∑' => "sum",
        '∏' => "prod",
        '∫' => "int",
        '∬' => "iint",
        '∮' => "oint",
        '±' => "pm",
        '∓' => "mp",
        '×' => "times",
        '÷' => "div",
        '·' | '⋅' => "cdot",
        '≤' => "leq",
        '≥' => "geq",
        '≠' => "neq",
        '≈' => "approx",
        '≡' => "equiv",
        '∼' => "sim",
        '∝' => "propto",
        '∞' => "infty",
        '→' => "rightarrow",
        '←' => "leftarrow",
        '↔' => "leftrightarrow",
        '⇒' => "Rightarrow",
        '⇔' => "Leftrightarrow",
        '∈' => "in",
        '∉' => "notin",
        '⊂' => "subset",
        '⊆' => "subseteq",
        '∪' => "cup",
        '∩' => "cap",
        '∅' => "emptyset",
        '∀' => "forall",
        '∃' => "exists",
        '∂' => "partial",
        '∇' => "nabla",
        '√' => "sqrt",
        '…' => "dots",
        '⋯' => "cdots",
        '∧' => "wedge",
        '∨' => "vee",
        '°' => "circ",
        '′' => "prime",
        '⟨' => "langle",
        '⟩' => "rangle",
        '{' => "{",
        '}' => "}",
        _ => return None,
    })
}
