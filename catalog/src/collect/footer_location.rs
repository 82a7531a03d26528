//! Where in a file its footer is: a Parquet file ends with the footer, its length and a magic word.
//!
//! The caller fetches the end of the file, [`FOOTER_SUFFIX_BYTES`] of it, asks [`footer_range`] where the footer is, and
//! fetches that range only if [`metadata_within`] does not find it in what is already there. The magic word that a
//! Parquet file begins with is not read: that would be a request more, and it says nothing that the footer does not.

use std::ops::Range;

use super::footer_error::FooterError;

/// How many bytes at the end of a file are worth fetching at once: most footers fit in them.
pub const FOOTER_SUFFIX_BYTES: u64 = 64 * 1024;
/// The longest footer that is read.
pub const MAX_FOOTER_BYTES: u64 = 64 * 1024 * 1024;

/// Two magic words and the footer's length.
const SMALLEST_FILE_BYTES: u64 = 12;
/// What follows the footer: its length and the magic word.
pub const FOOTER_TRAILER_BYTES: u64 = 8;

/// The range of a file that its footer is in.
///
/// `suffix` is the end of the file, 8 bytes at least; `size_bytes` is the size of the whole file.
///
/// # Errors
/// [`FooterError`] if the file is too short, does not end as a Parquet file, has an encrypted footer, or a footer that is
/// longer than the file or than [`MAX_FOOTER_BYTES`].
pub fn footer_range(suffix: &[u8], size_bytes: u64) -> Result<Range<u64>, FooterError> {
    let (Some((_, [a, b, c, d, magic @ ..])), SMALLEST_FILE_BYTES..) = (suffix.split_last_chunk::<8>(), size_bytes)
    else {
        let suffix_bytes = u64::try_from(suffix.len()).unwrap_or(u64::MAX);
        return Err(FooterError::TooShort { size_bytes: size_bytes.min(suffix_bytes) });
    };
    match magic {
        b"PAR1" => {}
        b"PARE" => return Err(FooterError::EncryptedFooter),
        other => return Err(FooterError::NotParquet { trailing_bytes: *other }),
    }
    let footer_bytes = u64::from(u32::from_le_bytes([*a, *b, *c, *d]));
    let end = size_bytes - FOOTER_TRAILER_BYTES;
    let start = end.checked_sub(footer_bytes).ok_or(FooterError::LengthBeyondFile { footer_bytes, size_bytes })?;
    if footer_bytes > MAX_FOOTER_BYTES {
        return Err(FooterError::TooLong { footer_bytes });
    }
    Ok(start..end)
}

/// The footer, if the end of the file that was fetched holds the whole of it.
pub fn metadata_within<'a>(suffix: &'a [u8], size_bytes: u64, range: &Range<u64>) -> Option<&'a [u8]> {
    let suffix_start = size_bytes.checked_sub(u64::try_from(suffix.len()).ok()?)?;
    let start = usize::try_from(range.start.checked_sub(suffix_start)?).ok()?;
    let end = usize::try_from(range.end.checked_sub(suffix_start)?).ok()?;
    suffix.get(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(footer: &[u8], claimed: u32, magic: &[u8]) -> Vec<u8> {
        [b"PAR1", footer, &claimed.to_le_bytes(), magic].concat()
    }

    fn check(bytes: &[u8], expected: &Result<Range<u64>, FooterError>) {
        assert_eq!(&footer_range(bytes, bytes.len() as u64), expected);
    }

    #[test]
    fn the_footer_stands_before_its_length() {
        check(&file(b"abcde", 5, b"PAR1"), &Ok(4..9));
        assert_eq!(footer_range(b"\x05\x00\x00\x00PAR1", 1000), Ok(987..992));
    }

    #[test]
    fn what_is_no_parquet_file_is_refused() {
        check(b"", &Err(FooterError::TooShort { size_bytes: 0 }));
        check(b"PAR1PAR1", &Err(FooterError::TooShort { size_bytes: 8 }));
        check(&file(b"abc", 3, b"PARE"), &Err(FooterError::EncryptedFooter));
        check(b"id,name\n1,Alice\n", &Err(FooterError::NotParquet { trailing_bytes: *b"ice\n" }));
        // Bytes after the magic word.
        check(&file(b"abc", 3, b"PAR1\n"), &Err(FooterError::NotParquet { trailing_bytes: *b"AR1\n" }));
    }

    #[test]
    fn a_length_beyond_the_file_or_the_limit_is_refused() {
        let error = FooterError::LengthBeyondFile { footer_bytes: 100, size_bytes: 15 };
        check(&file(b"abc", 100, b"PAR1"), &Err(error));
        let trailer = |length: u64| [&u32::try_from(length).unwrap().to_le_bytes()[..], b"PAR1"].concat();
        assert!(footer_range(&trailer(MAX_FOOTER_BYTES), u64::MAX).is_ok());
        let footer_bytes = MAX_FOOTER_BYTES + 1;
        assert_eq!(footer_range(&trailer(footer_bytes), u64::MAX), Err(FooterError::TooLong { footer_bytes }));
    }

    #[test]
    fn a_footer_is_found_in_the_suffix_only_if_it_is_there_whole() {
        let bytes = file(b"abcde", 5, b"PAR1");
        let size = bytes.len() as u64;
        let range = footer_range(&bytes, size).unwrap();
        assert_eq!(metadata_within(&bytes, size, &range), Some(&b"abcde"[..]));
        assert_eq!(metadata_within(&bytes[4..], size, &range), Some(&b"abcde"[..]));
        assert_eq!(metadata_within(&bytes[5..], size, &range), None);
    }
}
