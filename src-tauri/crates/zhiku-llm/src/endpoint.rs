//! From the address a person typed to the address of one request; what must not be sent in the clear is refused here.

use std::net::IpAddr;

use reqwest::Url;
use zhiku_core::model::ModelError;

use crate::failure;
use crate::providers::TransportRule;

/// Joins `base_url` and the protocol's `path`. A base that already ends in the path, or in its version part, is understood.
pub(crate) fn endpoint(base_url: &str, path: &str, rule: TransportRule) -> Result<Url, ModelError> {
    let refuse =
        |reason: &str, hint: &str| failure::invalid_input(format!("the base URL {reason}"), Some(hint));
    let example = "Enter an address like https://api.example.com/v1.";
    let Ok(mut url) = Url::parse(base_url.trim()) else {
        return Err(refuse("is not an address", example));
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(refuse("does not start with https:// or http://", example));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refuse(
            "holds a user name or password",
            "Keys go into the key field; it is stored in the system keychain.",
        ));
    }
    if url.scheme() == "http" && !is_loopback(&url) && rule == TransportRule::HttpsOrLoopback {
        return Err(refuse(
            "would send your key and documents unencrypted",
            "Use https://, or allow plain HTTP for this provider if the server stands in your own network.",
        ));
    }
    let base = url.path().trim_end_matches('/');
    let base = base.strip_suffix(path).unwrap_or(base);
    let version = path.trim_start_matches('/').split('/').next().filter(|part| part.starts_with('v'));
    let base = version.and_then(|version| base.strip_suffix(&format!("/{version}"))).unwrap_or(base);
    let joined = format!("{base}{path}");
    url.set_path(&joined);
    url.set_fragment(None);
    Ok(url)
}

/// Loopback never leaves the machine: plain HTTP is fine there, and no proxy may see it.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, path: &str, expect: &str) {
        let joined = endpoint(base, path, TransportRule::HttpsOrLoopback);
        assert_eq!(joined.map_err(|error| error.message).as_ref().map(Url::as_str), Ok(expect));
    }

    #[test]
    fn bases_as_people_type_them() {
        check(
            "https://api.example.com/v1",
            "/chat/completions",
            "https://api.example.com/v1/chat/completions",
        );
        check(
            " https://api.example.com/v1/ ",
            "/chat/completions",
            "https://api.example.com/v1/chat/completions",
        );
        check(
            "https://a.example/v1/chat/completions",
            "/chat/completions",
            "https://a.example/v1/chat/completions",
        );
        check(
            "https://a.example/x?api-version=2",
            "/chat/completions",
            "https://a.example/x/chat/completions?api-version=2",
        );
        check("https://api.example.com", "/v1/messages", "https://api.example.com/v1/messages");
        check("https://api.example.com/v1", "/v1/messages", "https://api.example.com/v1/messages");
        check("https://api.example.com/v1/messages", "/v1/messages", "https://api.example.com/v1/messages");
        check("http://127.0.0.1:8080/v1", "/chat/completions", "http://127.0.0.1:8080/v1/chat/completions");
        check("http://[::1]:8080", "/chat/completions", "http://[::1]:8080/chat/completions");
        check("http://localhost:11434/v1", "/chat/completions", "http://localhost:11434/v1/chat/completions");
    }

    #[test]
    fn what_must_not_be_sent_is_refused() {
        let refused =
            |base: &str| endpoint(base, "/x", TransportRule::HttpsOrLoopback).expect_err("refused").message;
        assert_eq!(refused("api.example.com/v1"), "the base URL is not an address");
        assert_eq!(refused("ftp://example.com"), "the base URL does not start with https:// or http://");
        assert_eq!(refused("https://me:key@example.com"), "the base URL holds a user name or password");
        for base in ["http://api.example.com", "http://192.168.1.5:8080", "http://127.0.0.1.example.com"] {
            assert_eq!(refused(base), "the base URL would send your key and documents unencrypted");
        }
        assert!(endpoint("http://192.168.1.5:8080", "/x", TransportRule::AllowPlainHttp).is_ok());
    }
}
