use std::fs;

use tokio_util::sync::CancellationToken;
use zhiku_core::ErrorCode;
use zhiku_models::{FetchOptions, Fetched, ModelsError, Progress, State};

use crate::server::{Reply, Server, serve_file};
use crate::{Fixture, content, options};

const ETAG: &str = "\"one\"";

#[test]
fn a_file_is_fetched_verified_and_then_never_asked_for_again() {
    let content = content();
    let fixture = Fixture::new(&content);
    let served = content.clone();
    let server = Server::start(move |_, request| serve_file(request, &served, ETAG));

    assert_eq!(fixture.fetch(&server).expect("fetches"), Fetched::FromHub);
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), content);
    assert_eq!(fixture.store.state(fixture.entry()), State::Verified);
    assert_eq!(server.requests()[0].target, "/org/m/resolve/v1/model.bin");
    assert!(!fixture.file("model.bin.part").exists() && !fixture.file("model.bin.part.validator").exists());

    assert_eq!(fixture.fetch(&server).expect("is there"), Fetched::AlreadyThere);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_cut_download_resumes_where_it_stopped() {
    let content = content();
    let fixture = Fixture::new(&content);
    let served = content.clone();
    let server = Server::start(move |n, request| {
        let reply = serve_file(request, &served, ETAG);
        if n == 0 { reply.cut(100_000) } else { reply }
    });

    fixture.fetch(&server).expect("fetches");
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), content);
    let again = &server.requests()[1];
    assert_eq!((again.range_start(), again.header("if-range")), (Some(100_000), Some(ETAG)));
}

#[test]
fn a_cancelled_download_keeps_what_it_has_for_the_next_one() {
    let content = content();
    let fixture = Fixture::new(&content);
    let served = content.clone();
    let server = Server::start(move |_, request| serve_file(request, &served, ETAG));

    let cancel = CancellationToken::new();
    let mut stop_half_way = |progress: Progress<'_>| {
        if progress.done > 100_000 {
            cancel.cancel();
        }
    };
    let outcome =
        fixture.store.fetch(fixture.entry(), &options(&server.address()), &mut stop_half_way, &cancel);
    assert!(matches!(outcome, Err(ModelsError::Cancelled { .. })), "{outcome:?}");

    fixture.fetch(&server).expect("fetches the rest");
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), content);
    assert!(server.requests()[1].range_start().is_some_and(|start| start > 100_000));
}

#[test]
fn a_file_that_changed_between_two_parts_starts_over() {
    let content = content();
    let fixture = Fixture::new(&content);
    let (old, new) = (vec![7; content.len()], content.clone());
    let server = Server::start(move |n, request| match n {
        0 => serve_file(request, &old, ETAG).cut(100_000),
        _ => serve_file(request, &new, "\"two\""),
    });

    fixture.fetch(&server).expect("fetches");
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), content);
}

#[test]
fn a_server_that_ignores_if_range_cannot_mix_two_files() {
    let content = content();
    let fixture = Fixture::new(&content);
    let (old, new) = (vec![7; content.len()], content.clone());
    let server = Server::start(move |n, request| match n {
        0 => serve_file(request, &old, ETAG).cut(100_000),
        1 => {
            let start = request.range_start().expect("range");
            let range = format!("bytes {start}-{}/{}", new.len() - 1, new.len());
            let headers = vec![("ETag", "\"two\"".to_owned()), ("Content-Range", range)];
            Reply { status: 206, headers, body: new[start..].to_vec(), cut_after: None }
        }
        _ => serve_file(request, &new, "\"two\""),
    });

    fixture.fetch(&server).expect("fetches");
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), content);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_part_from_an_earlier_day_that_does_not_fit_gets_one_fresh_start() {
    let content = content();
    let fixture = Fixture::new(&content);
    fixture.put("model.bin.part", &vec![7; 1000]);
    fixture.put("model.bin.part.validator", ETAG.as_bytes());
    let served = content.clone();
    let server = Server::start(move |_, request| serve_file(request, &served, ETAG));

    fixture.fetch(&server).expect("fetches");
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), content);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_file_with_the_wrong_sum_is_refused_and_the_old_one_stays() {
    let content = content();
    let fixture = Fixture::new(&content);
    fixture.put("model.bin", b"old");
    let wrong = vec![7; content.len()];
    let server = Server::start(move |_, request| serve_file(request, &wrong, ETAG));

    let error = fixture.fetch(&server).expect_err("wrong");
    assert!(matches!(error, ModelsError::WrongSum { .. }), "{error}");
    assert_eq!(error.code(), ErrorCode::ModelDamaged);
    assert_eq!(fs::read(fixture.file("model.bin")).expect("file"), b"old");
    assert!(!fixture.file("model.bin.part").exists());
}

#[test]
fn an_absent_file_is_reported_at_once_with_its_address() {
    let fixture = Fixture::new(&content());
    let server = Server::start(|_, _| Reply::status(404));

    let error = fixture.fetch(&server).expect_err("absent");
    let expected = format!(
        "could not download {}/org/m/resolve/v1/model.bin: the server answered 404",
        server.address()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_server_in_trouble_is_asked_a_few_times() {
    let content = content();
    let fixture = Fixture::new(&content);
    let server = Server::start(move |n, request| match n {
        0 | 1 => Reply::status(503),
        _ => serve_file(request, &content, ETAG),
    });
    fixture.fetch(&server).expect("fetches");

    let fixture = Fixture::new(&[1, 2, 3]);
    let server = Server::start(|_, _| Reply::status(503));
    assert!(matches!(fixture.fetch(&server), Err(ModelsError::Refused { status: 503, .. })));
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn two_fetches_at_once_download_one_time() {
    let content = content();
    let fixture = Fixture::new(&content);
    let server = Server::start(move |_, request| serve_file(request, &content, ETAG));
    std::thread::scope(|scope| {
        let both = [scope.spawn(|| fixture.fetch(&server)), scope.spawn(|| fixture.fetch(&server))];
        for fetch in both {
            fetch.join().expect("thread").expect("fetches");
        }
    });
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn no_hub_means_a_clear_message_and_no_request() {
    let fixture = Fixture::new(&content());
    let without = FetchOptions { hub: None, ..options("") };
    let error = fixture
        .store
        .fetch(fixture.entry(), &without, &mut |_| {}, &CancellationToken::new())
        .expect_err("no source");
    assert_eq!(error.code(), ErrorCode::ModelMissing);
    assert!(error.hint().is_some_and(|hint| hint.contains("ZHIKU_HUB")));
}

#[test]
fn options_come_from_the_environment() {
    let got = FetchOptions::from_variables(|name| match name {
        "ZHIKU_HUB" => Some("https://hub.example".into()),
        "ZHIKU_CA_FILE" => Some("/etc/company.pem".into()),
        "ZHIKU_PYTHON" => Some("".into()),
        _ => None,
    });
    assert_eq!(got.hub.as_deref(), Some("https://hub.example"));
    assert_eq!(got.ca_file.as_deref(), Some(std::path::Path::new("/etc/company.pem")));
    assert_eq!(got.python, std::path::PathBuf::from("python3"));
}

#[test]
fn a_certificate_file_without_certificates_is_named() {
    let fixture = Fixture::new(&content());
    let server = Server::start(|_, _| Reply::status(404));
    let ca_file = fixture.folder.path().join("ca.pem");
    let with = FetchOptions { ca_file: Some(ca_file.clone()), ..options(&server.address()) };
    let attempt = || {
        let never = CancellationToken::new();
        fixture
            .store
            .fetch(fixture.entry(), &with, &mut |_| {}, &never)
            .expect_err("no certificate")
            .to_string()
    };
    assert!(attempt().contains(&ca_file.display().to_string()));
    fs::write(&ca_file, "nothing in here").expect("write");
    assert!(attempt().ends_with("the file holds no certificate"), "{}", attempt());
    assert!(server.requests().is_empty());
}

/// The environment of this process cannot be changed safely, so the test starts itself again with a proxy.
#[test]
fn a_proxy_from_the_environment_is_used() {
    const CHILD: &str = "ZHIKU_TEST_FETCH_THROUGH_PROXY";
    let content = content();
    if std::env::var_os(CHILD).is_some() {
        let fixture = Fixture::new(&content);
        let through = options("http://hub.invalid");
        fixture
            .store
            .fetch(fixture.entry(), &through, &mut |_| {}, &CancellationToken::new())
            .expect("fetches");
        return;
    }
    let server = Server::start(move |_, request| serve_file(request, &content, ETAG));
    let status = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "hub::a_proxy_from_the_environment_is_used"])
        .env(CHILD, "1")
        .env("HTTP_PROXY", server.address())
        .env("http_proxy", server.address())
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .expect("runs");
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    assert_eq!(server.requests()[0].target, "http://hub.invalid/org/m/resolve/v1/model.bin");
}
