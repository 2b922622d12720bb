use std::fmt::Write;
use std::path::Path;

use zhiku_models::{LanguageMeans, Manifest, Role, Source};

/// What is fetched from where, and what must come out.
#[test]
fn the_built_in_manifest() {
    let manifest = Manifest::built_in().expect("valid");
    let mut text = String::new();
    for entry in &manifest.entries {
        let platform = entry.platform.as_deref().unwrap_or("any platform");
        let _ = writeln!(text, "{} = {} ({platform}, {})", entry.role.as_str(), entry.id, entry.licence);
        for file in &entry.files {
            let _ = writeln!(text, "  {} {} {}", file.name, file.bytes, file.sha256);
        }
        for source in &entry.sources {
            let _ = match source {
                Source::Package(package) => {
                    for member in &package.members {
                        let (name, version) = package.package_of(member);
                        let _ = writeln!(text, "  {name}=={version} {} -> {}", member.file, member.target());
                    }
                    writeln!(text, "    {}", package.convert.as_deref().unwrap_or("as it is"))
                }
                Source::Hub { repository, revision } => writeln!(text, "  hub {repository} {revision}"),
                Source::Bundled => writeln!(text, "  bundled"),
            };
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_language_means_belong_to_the_embedding_model() {
    let manifest = Manifest::built_in().expect("valid");
    let embedding = manifest.by_role(Role::Embedding).expect("entry");
    let means = LanguageMeans::built_in().expect("whole");
    assert_eq!(means.model_sha256(), embedding.files[0].sha256);
    assert_eq!(Some(means.dim() as u32), embedding.dims);

    let listed = manifest.entries.iter().find(|entry| entry.role == Role::LanguageMeans).expect("entry");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../models").join(&listed.files[0].name);
    assert_eq!(crate::sha256(&std::fs::read(path).expect("file")), listed.files[0].sha256);
}

fn check_refused(change: impl Fn(&str) -> String, expected: &str) {
    let good = r#"
schema = 1
[[entry]]
role = "pdfium"
id = "p"
title = "p"
licence = "MIT"
[[entry.file]]
name = "lib.so"
bytes = 1
sha256 = "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f"
[[entry.source]]
kind = "package"
package = "p"
version = "1"
platform = "any"
python = "3.11"
member = [{ file = "p/lib.so" }]
"#;
    Manifest::parse(good).expect("the unchanged one is valid");
    let error = Manifest::parse(&change(good)).expect_err(expected).to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn what_could_not_be_fetched_safely_is_refused() {
    check_refused(|good| good.replace("schema = 1", "schema = 2"), "schema 2 is not known");
    check_refused(|good| good.replace("\"lib.so\"", "\"../lib.so\""), "is not a plain file name");
    check_refused(|good| good.replace("id = \"p\"", "id = \"..\""), "the id is not a plain file name");
    check_refused(|good| good.replace("6c15", "6C15"), "is not 64 lower-case");
    check_refused(|good| format!("{good}convert = \"c\"\n"), "needs a sha256 of its own");
    check_refused(|good| good.replace("bytes = 1", "bites = 1"), "bites");
    check_refused(|good| good.replace("p/lib.so", "p/lib.dll"), "gives no lib.so");
    check_refused(|good| good.replace("[{ file = \"p/lib.so\" }]", "[]"), "needs a member");
    check_refused(
        |good| good.replace("p/lib.so\"", "p/lib.so\", as = \"../lib.so\""),
        "is not a plain file name",
    );
    check_refused(|good| good.replace("platform = \"any\"", ""), "needs a platform");
    check_refused(|good| format!("{good}{}", good.replace("schema = 1", "")), "appears twice");
}
