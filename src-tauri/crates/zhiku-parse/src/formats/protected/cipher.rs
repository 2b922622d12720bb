//! The primitives of both encryptions: hashes by name, AES in the two modes that Office uses.

use aes::cipher::{Array, BlockCipherDecrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::Refusal;

pub(super) const BLOCK: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    pub(super) fn named(name: &str) -> Result<Self, Refusal> {
        match name {
            "SHA1" | "SHA-1" => Ok(Self::Sha1),
            "SHA256" | "SHA-256" => Ok(Self::Sha256),
            "SHA384" | "SHA-384" => Ok(Self::Sha384),
            "SHA512" | "SHA-512" => Ok(Self::Sha512),
            other => Err(Refusal::Unknown(other.to_owned())),
        }
    }

    pub(super) fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        fn hash<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
            let mut hash = D::new();
            for part in parts {
                hash.update(part);
            }
            hash.finalize().to_vec()
        }
        match self {
            Self::Sha1 => hash::<Sha1>(parts),
            Self::Sha256 => hash::<Sha256>(parts),
            Self::Sha384 => hash::<Sha384>(parts),
            Self::Sha512 => hash::<Sha512>(parts),
        }
    }

    /// The password's hash, made slow to guess: `n_turns` times over with a counter in front.
    pub(super) fn spun(self, salt: &[u8], password: &[u8], n_turns: u32) -> Vec<u8> {
        let mut hash = self.of(&[salt, password]);
        for turn in 0..n_turns {
            hash = self.of(&[&turn.to_le_bytes(), &hash]);
        }
        hash
    }
}

pub(super) enum Aes {
    Of128(Aes128),
    Of192(Aes192),
    Of256(Aes256),
}

impl Aes {
    /// `None` for a key of another length than 16, 24 or 32 bytes.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        match key.len() {
            16 => Aes128::new_from_slice(key).ok().map(Self::Of128),
            24 => Aes192::new_from_slice(key).ok().map(Self::Of192),
            32 => Aes256::new_from_slice(key).ok().map(Self::Of256),
            _ => None,
        }
    }

    fn decrypt_block(&self, block: &mut [u8; BLOCK]) {
        let mut bytes = Array::from(*block);
        match self {
            Self::Of128(aes) => aes.decrypt_block(&mut bytes),
            Self::Of192(aes) => aes.decrypt_block(&mut bytes),
            Self::Of256(aes) => aes.decrypt_block(&mut bytes),
        }
        *block = bytes.into();
    }

    /// Each block for itself. What is behind the last whole block stays.
    pub(super) fn decrypt_ecb(&self, bytes: &mut [u8]) {
        for block in bytes.as_chunks_mut::<BLOCK>().0 {
            self.decrypt_block(block);
        }
    }

    /// Each block mixed with the one before it, the first with `start`. What is behind the last whole block stays.
    pub(super) fn decrypt_cbc(&self, start: [u8; BLOCK], bytes: &mut [u8]) {
        let mut before = start;
        for block in bytes.as_chunks_mut::<BLOCK>().0 {
            let sealed = *block;
            self.decrypt_block(block);
            block.iter_mut().zip(before).for_each(|(byte, mix)| *byte ^= mix);
            before = sealed;
        }
    }
}
