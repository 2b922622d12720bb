//! Standard encryption ([MS-OFFCRYPTO] 2.3.4.5 and following): AES with a key from SHA-1, each block for itself.

use super::Refusal;
use super::cipher::{Aes, Hash};

const N_TURNS: u32 = 50_000;
/// The parts of the header in front of the provider's name.
const HEADER_BYTES: usize = 32;
const HASH_BYTES: usize = 20;
const AES_IDS: std::ops::RangeInclusive<u32> = 0x660E..=0x6610;

/// Decrypts whole blocks in place.
pub(super) fn decrypt(description: &[u8], package: &mut [u8], password: &[u8]) -> Result<(), Refusal> {
    let cut = || Refusal::Damaged("its encryption is not described in full");
    let number = |bytes: &[u8], at: usize| {
        let found = bytes.get(at..at + 4).and_then(|bytes| bytes.first_chunk::<4>().copied());
        found.map(u32::from_le_bytes).ok_or_else(cut)
    };
    let n_header = number(description, 0)? as usize;
    let header = description.get(4..4 + HEADER_BYTES.min(n_header)).ok_or_else(cut)?;
    let algorithm = number(header, 8)?;
    if !AES_IDS.contains(&algorithm) {
        return Err(Refusal::Unknown(format!("algorithm {algorithm:#x}")));
    }
    let n_key = number(header, 16)? as usize / 8;
    let verifier = description.get(4_usize.saturating_add(n_header)..).ok_or_else(cut)?;
    // A length, the salt, the verifier, a length, the verifier's hash.
    let salt = verifier.get(4..20).ok_or_else(cut)?;
    let mut sealed = verifier.get(20..36).ok_or_else(cut)?.to_vec();
    let mut sealed_hash = verifier.get(40..72).ok_or_else(cut)?.to_vec();
    let key = key(&Hash::Sha1.spun(salt, password, N_TURNS));
    let aes =
        key.get(..n_key).and_then(Aes::new).ok_or(Refusal::Damaged("its key has no possible length"))?;
    aes.decrypt_ecb(&mut sealed);
    aes.decrypt_ecb(&mut sealed_hash);
    if Hash::Sha1.of(&[&sealed]) != sealed_hash[..HASH_BYTES] {
        return Err(Refusal::WrongPassword);
    }
    aes.decrypt_ecb(package);
    Ok(())
}

/// 2.3.4.7, with the block number 0 of the package: 40 bytes, of which a key takes what it needs.
fn key(hash: &[u8]) -> Vec<u8> {
    let last = Hash::Sha1.of(&[hash, &0_u32.to_le_bytes()]);
    let half = |pad: u8| {
        let mut mixed = [pad; 64];
        mixed.iter_mut().zip(&last).for_each(|(byte, mix)| *byte ^= mix);
        Hash::Sha1.of(&[&mixed])
    };
    [half(0x36), half(0x5c)].concat()
}
