//! Agile encryption ([MS-OFFCRYPTO] 2.3.4.10 and following): described in XML, a key of its own sealed by the password, the
//! package in segments of AES-CBC.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Refusal;
use super::cipher::{Aes, BLOCK, Hash};
use crate::formats::xml::{Element, parse_part};

/// The most that the specification allows.
const MAX_TURNS: u32 = 10_000_000;
const SEGMENT: usize = 4096;
/// What each sealed value's key is made for.
const VERIFIER: &[u8] = &[0xfe, 0xa7, 0xd2, 0x76, 0x3b, 0x4b, 0x9e, 0x79];
const VERIFIER_HASH: &[u8] = &[0xd7, 0xaa, 0x0f, 0x6d, 0x30, 0x61, 0x34, 0x4e];
const PACKAGE_KEY: &[u8] = &[0x14, 0x6e, 0x0b, 0xe7, 0xab, 0xac, 0xd0, 0xd6];

/// Decrypts whole blocks in place.
pub(super) fn decrypt(description: &[u8], package: &mut [u8], password: &[u8]) -> Result<(), Refusal> {
    let missing = || Refusal::Damaged("its encryption is not described in full");
    let text = std::str::from_utf8(description).map_err(|_| missing())?;
    let root = parse_part(text).0.ok_or_else(missing)?;
    let data = Parameters::of(root.find("keyData").ok_or_else(missing)?)?;
    // Documents may open by certificates as well; those have no such element.
    let sealed = root.find("encryptedKey").ok_or_else(|| Refusal::Unknown("certificate".to_owned()))?;
    let lock = Parameters::of(sealed)?;
    let n_turns = sealed.attr("spinCount").and_then(|n| n.parse().ok()).filter(|n| *n <= MAX_TURNS);
    let spun = lock.hash.spun(&lock.salt, password, n_turns.ok_or_else(missing)?);
    let unseal = |name: &str, purpose: &[u8]| {
        let mut value = attr_bytes(sealed, name)?;
        let aes = lock.aes(&lock.hash.of(&[&spun, purpose]))?;
        aes.decrypt_cbc(start(&lock.salt), &mut value);
        Ok(value)
    };
    let verifier = unseal("encryptedVerifierHashInput", VERIFIER)?;
    let verifier = verifier.get(..lock.n_salt).ok_or_else(missing)?;
    let expected = unseal("encryptedVerifierHashValue", VERIFIER_HASH)?;
    if !expected.starts_with(&lock.hash.of(&[verifier])) {
        return Err(Refusal::WrongPassword);
    }
    let key = unseal("encryptedKeyValue", PACKAGE_KEY)?;
    let aes = key.get(..data.n_key).and_then(Aes::new).ok_or_else(missing)?;
    for (segment, number) in package.chunks_mut(SEGMENT).zip(0_u32..) {
        aes.decrypt_cbc(start(&data.hash.of(&[&data.salt, &number.to_le_bytes()])), segment);
    }
    Ok(())
}

struct Parameters {
    hash: Hash,
    salt: Vec<u8>,
    /// Also the length of the verifier.
    n_salt: usize,
    n_key: usize,
}

impl Parameters {
    fn of(element: &Element) -> Result<Self, Refusal> {
        let named = |name: &str| element.attr(name).unwrap_or_default();
        for (name, known) in [("cipherAlgorithm", "AES"), ("cipherChaining", "ChainingModeCBC")] {
            if named(name) != known {
                return Err(Refusal::Unknown(named(name).to_owned()));
            }
        }
        let n_key = named("keyBits").parse::<usize>().ok().filter(|n| matches!(n, 128 | 192 | 256));
        let n_key = n_key.ok_or(Refusal::Damaged("its key has no possible length"))? / 8;
        let salt = attr_bytes(element, "saltValue")?;
        Ok(Self { hash: Hash::named(named("hashAlgorithm"))?, n_salt: salt.len(), salt, n_key })
    }

    fn aes(&self, hash: &[u8]) -> Result<Aes, Refusal> {
        let mut key = hash.to_vec();
        key.resize(self.n_key, 0x36);
        Aes::new(&key).ok_or(Refusal::Damaged("its key has no possible length"))
    }
}

/// What the first block is mixed with: a salt or hash, as long as a block.
fn start(bytes: &[u8]) -> [u8; BLOCK] {
    let mut start = [0x36; BLOCK];
    start.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    start
}

fn attr_bytes(element: &Element, name: &str) -> Result<Vec<u8>, Refusal> {
    // Some producers break the lines.
    let text = element.attr(name).map(|text| text.split_ascii_whitespace().collect::<String>());
    let bytes = text.and_then(|text| STANDARD.decode(text).ok());
    bytes.ok_or(Refusal::Damaged("its encryption is not described in full"))
}
