//! What is not there, is no file or may not be read is refused by its name, and is no error of the vault.

use std::path::Path;

use zhiku_ingest::{Imported, import_path};
use zhiku_vault::{Home, OpenOptions, Urgency};

fn check(path: &Path, detail: &str) {
    let dir = tempfile::tempdir().expect("temp dir");
    let home = Home::open(dir.path().join("home")).expect("home");
    home.add_profile("owner").expect("profile");
    let owner = home.sign_in("owner").expect("sign in");
    let vault = home.create_vault(&owner, "v", None, &OpenOptions::default()).expect("vault");
    let scope = vault.scope(&owner).expect("scope");
    let imported = import_path(&vault, &scope, path, Urgency::default()).expect("no error");
    let Imported::Refused(reason) = imported else { panic!("{imported:?}") };
    assert_eq!((&*reason.code, reason.args["detail"].as_str()), ("file_unreadable", detail));
    assert_eq!(reason.args["name"], path.file_name().expect("a name").to_string_lossy());
}

#[test]
fn what_is_gone_or_no_file_is_told_by_its_name() {
    let dir = tempfile::tempdir().expect("temp dir");
    check(&dir.path().join("gone.pdf"), "entity not found");
    check(dir.path(), "invalid input parameter");
    #[cfg(target_os = "linux")]
    check(Path::new("/dev/zero"), "invalid input parameter");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_is_told_by_its_name() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().expect("temp dir");
    let path = dir.path().join("salaries.pdf");
    std::fs::write(&path, "%PDF-1.4").expect("writes");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("sets");
    if std::fs::File::open(&path).is_ok() {
        eprintln!("skipped: an administrator may read every file");
        return;
    }
    check(&path, "permission denied");
}
