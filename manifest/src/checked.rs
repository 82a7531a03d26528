//! Stored bytes behind a checksum. SQLite does not notice a flipped bit in a value; a bound that grew by one would make a
//! plan wrong without a word.
//!
//! ```text
//! xxh3 of the payload: u64, little-endian   payload
//! ```

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::FormatError;

pub(crate) fn seal(payload: &[u8]) -> Vec<u8> {
    [&xxh3_64(payload).to_le_bytes(), payload].concat()
}

/// The payload, if it is what was sealed.
pub(crate) fn open(bytes: &[u8]) -> Result<&[u8], FormatError> {
    let (checksum, payload) = bytes.split_first_chunk().ok_or(FormatError::Checksum)?;
    if u64::from_le_bytes(*checksum) == xxh3_64(payload) { Ok(payload) } else { Err(FormatError::Checksum) }
}

/// Seals a value as MessagePack.
pub(crate) fn pack<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, FormatError> {
    Ok(seal(&rmp_serde::to_vec(value)?))
}

/// The inverse of [`pack`].
pub(crate) fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FormatError> {
    Ok(rmp_serde::from_slice(open(bytes)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_or_lost_byte_is_an_error() {
        let bytes = pack(&vec!["one", "two"]).unwrap();
        assert_eq!(unpack::<Vec<String>>(&bytes).unwrap(), ["one", "two"]);
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert!(matches!(unpack::<Vec<String>>(&damaged), Err(FormatError::Checksum)));
            assert!(matches!(unpack::<Vec<String>>(&bytes[..position]), Err(FormatError::Checksum)));
        }
    }
}
