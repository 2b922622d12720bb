//! Downloads from a model hub, resumed where they stopped.
//!
//! The bytes go to `<file>.part`; beside it `<file>.part.validator` keeps the server's name for exactly this content (a strong
//! ETag, else Last-Modified). A resumed request sends it as `If-Range`, so a file that changed in between starts over.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::blocking::{Client, Response};
use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, HeaderName, IF_RANGE, LAST_MODIFIED, RANGE};

use crate::error::ModelsError;
use crate::fetch::{Fetch, FetchOptions, FetchStep, Progress};
use crate::manifest::FileSpec;
use crate::stamp::with_suffix;

/// Tries without a single new byte before giving up.
const ATTEMPTS: u32 = 4;
/// Requests per file, however well each goes: some server may cut every connection and change the file every time.
const MOST_REQUESTS: u32 = 1000;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
/// Without a byte for this long the connection counts as lost.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const BLOCK: usize = 64 * 1024;

pub(crate) struct Hub {
    client: Client,
    base: String,
    retry_delay: Duration,
}

/// Whether trying again can help.
enum Failure {
    Final(ModelsError),
    Passing(ModelsError),
}

/// A download in progress on disk.
struct Part {
    path: PathBuf,
    validator: PathBuf,
}

impl Part {
    fn of(target: &Path) -> Self {
        Self { path: with_suffix(target, ".part"), validator: with_suffix(target, ".part.validator") }
    }

    fn len(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    fn discard(&self) {
        // Absent is what is wanted; a part that cannot be removed fails at the next write.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.validator);
    }

    fn validator(&self) -> Option<String> {
        fs::read_to_string(&self.validator).ok().filter(|text| !text.is_empty())
    }
}

impl Hub {
    pub(crate) fn connect(options: &FetchOptions) -> Result<Self, ModelsError> {
        let base = options.hub.clone().unwrap_or_default().trim_end_matches('/').to_owned();
        let mut builder = Client::builder()
            .user_agent(concat!("zhiku/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(READ_TIMEOUT);
        if let Some(path) = &options.ca_file {
            builder = builder.tls_certs_merge(certificates(path)?);
        }
        let client = builder
            .build()
            .map_err(|error| ModelsError::Network { url: base.clone(), detail: all_causes(&error) })?;
        Ok(Self { client, base, retry_delay: options.retry_delay })
    }

    /// Downloads one file into its place in the store.
    pub(crate) fn download(
        &self,
        fetch: &mut Fetch<'_>,
        repository: &str,
        revision: &str,
        file: &FileSpec,
    ) -> Result<(), ModelsError> {
        let url = format!("{}/{repository}/resolve/{revision}/{}", self.base, file.name);
        let part = Part::of(&fetch.store.path(fetch.entry, file));
        let resumed = part.len() > 0;
        self.complete(fetch, &url, &part, file)?;
        match fetch.install(&part.path, file) {
            // Part of it was from an earlier day: the whole file gets one chance.
            Err(ModelsError::WrongSum { .. }) if resumed => {
                part.discard();
                self.complete(fetch, &url, &part, file)?;
                fetch.install(&part.path, file).inspect_err(|_| part.discard())?;
            }
            other => other.inspect_err(|_| part.discard())?,
        }
        part.discard();
        Ok(())
    }

    /// Repeats requests until the part has its full length.
    fn complete(
        &self,
        fetch: &mut Fetch<'_>,
        url: &str,
        part: &Part,
        file: &FileSpec,
    ) -> Result<(), ModelsError> {
        let mut failures_in_a_row = 0;
        for n_requests in 1.. {
            let before = part.len();
            let error = match self.request(fetch, url, part, file) {
                Ok(()) => return Ok(()),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(error)) => error,
            };
            failures_in_a_row = if part.len() > before { 0 } else { failures_in_a_row + 1 };
            if failures_in_a_row >= ATTEMPTS || n_requests >= MOST_REQUESTS {
                return Err(error);
            }
            tracing::debug!(url, %error, "trying a download again");
            self.pause(failures_in_a_row, fetch)?;
        }
        Ok(())
    }

    /// One request; returns when the part is complete.
    fn request(&self, fetch: &mut Fetch<'_>, url: &str, part: &Part, file: &FileSpec) -> Result<(), Failure> {
        if part.len() > file.bytes {
            part.discard();
        }
        if part.len() == file.bytes {
            return Ok(());
        }
        let validator = part.validator();
        let have = if validator.is_some() { part.len() } else { 0 };
        let mut request = self.client.get(url);
        if let Some(validator) = validator.as_deref().filter(|_| have > 0) {
            request = request.header(RANGE, format!("bytes={have}-")).header(IF_RANGE, validator);
        }
        let network = |detail: String| Failure::Passing(ModelsError::Network { url: url.to_owned(), detail });
        let response = request.send().map_err(|error| network(all_causes(&error)))?;
        let start = match response.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT if continues(&response, have, validator.as_deref()) => have,
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                part.discard();
                return Err(network("the file changed on the server".to_owned()));
            }
            status => {
                let error = ModelsError::Refused { url: url.to_owned(), status: status.as_u16() };
                let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
                return Err(if passing { Failure::Passing(error) } else { Failure::Final(error) });
            }
        };
        let written = |error| Failure::Final(ModelsError::io("write", &part.path, error));
        let target = open_part(part, start, response.headers()).map_err(written)?;
        receive(fetch, response, target, start, part, file).and_then(|done| {
            let cut = || network(format!("the connection ended after {done} of {} bytes", file.bytes));
            if done < file.bytes { Err(cut()) } else { Ok(()) }
        })
    }

    fn pause(&self, failures: u32, fetch: &Fetch<'_>) -> Result<(), ModelsError> {
        let mut left = self.retry_delay * 2_u32.pow(failures.saturating_sub(1));
        while !left.is_zero() {
            if fetch.cancel.is_cancelled() {
                break;
            }
            let step = left.min(Duration::from_millis(50));
            std::thread::sleep(step);
            left -= step;
        }
        if fetch.cancel.is_cancelled() { Err(fetch.cancelled()) } else { Ok(()) }
    }
}

/// Whether a 206 carries on exactly where the part ends, with the same content.
fn continues(response: &Response, have: u64, validator: Option<&str>) -> bool {
    let header = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    let starts_right = header(CONTENT_RANGE)
        .and_then(|range| range.strip_prefix("bytes "))
        .and_then(|range| range.split('-').next())
        .is_some_and(|start| start.trim().parse() == Ok(have));
    // Some servers ignore If-Range, so what they name is compared as well.
    let same_content = validator_of(response.headers()).is_none_or(|now| Some(now.as_str()) == validator);
    have > 0 && starts_right && same_content
}

/// A weak ETag names no exact bytes and is no use here.
fn validator_of(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(ETAG).filter(|etag| !etag.starts_with("W/")).or_else(|| text(LAST_MODIFIED))
}

fn open_part(part: &Part, start: u64, headers: &HeaderMap) -> std::io::Result<File> {
    if start > 0 {
        return File::options().append(true).open(&part.path);
    }
    part.discard();
    let file = File::create(&part.path)?;
    // The name of the content is noted before its first byte, so a part never has the name of another.
    if let Some(validator) = validator_of(headers) {
        fs::write(&part.validator, validator)?;
    }
    Ok(file)
}

/// Writes the body behind the `start` bytes that are there; returns how many there are now. Stops one byte after the
/// expected length: the sum will tell.
fn receive(
    fetch: &mut Fetch<'_>,
    mut response: Response,
    mut target: File,
    start: u64,
    part: &Part,
    file: &FileSpec,
) -> Result<u64, Failure> {
    let url = response.url().to_string();
    let mut done = start;
    let mut block = vec![0; BLOCK];
    while done <= file.bytes {
        if fetch.cancel.is_cancelled() {
            return Err(Failure::Final(fetch.cancelled()));
        }
        (fetch.progress)(Progress {
            step: FetchStep::Downloading,
            name: &file.name,
            done,
            total: file.bytes,
        });
        let n = response.read(&mut block).map_err(|error| {
            Failure::Passing(ModelsError::Network { url: url.clone(), detail: all_causes(&error) })
        })?;
        if n == 0 {
            break;
        }
        target
            .write_all(&block[..n])
            .map_err(|error| Failure::Final(ModelsError::io("write", &part.path, error)))?;
        done += n as u64;
    }
    Ok(done)
}

fn certificates(path: &Path) -> Result<Vec<reqwest::Certificate>, ModelsError> {
    let refuse = |detail: String| ModelsError::Certificates { path: path.to_owned(), detail };
    let pem = fs::read(path).map_err(|error| refuse(error.to_string()))?;
    let found = reqwest::Certificate::from_pem_bundle(&pem).map_err(|error| refuse(all_causes(&error)))?;
    if found.is_empty() {
        return Err(refuse("the file holds no certificate".to_owned()));
    }
    Ok(found)
}

/// The HTTP client's own message says little; the cause is at the end of the chain.
fn all_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
