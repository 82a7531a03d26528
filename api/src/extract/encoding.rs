//! Bodies that are compressed: what they hold, up to the limit of bodies, piece by piece.

use std::io::{self, Cursor, Read};

use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use flate2::bufread::GzDecoder;
use prunus_catalog::Fault;

use super::arrival::Arrival;
use super::room::FREE_BYTES;
use crate::problem::Problem;

/// How much is decompressed at first, in bytes: what most bodies hold, so that these need neither room nor a turn.
const FIRST_PIECE_BYTES: usize = FREE_BYTES / 2;
/// How much is decompressed at a time after that, in bytes.
const PIECE_BYTES: usize = 1 << 20;
/// How far back zstd may refer, as a power of two: 8 MiB, the most that its content coding allows (RFC 9659). A decoder
/// reserves as much as the body claims to need.
const ZSTD_WINDOW_LOG: u32 = 23;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Gzip,
    Zstd,
}

impl Encoding {
    /// What the headers say; `None` for a body as it is.
    pub(super) fn of(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let mut encodings = headers.get_all(header::CONTENT_ENCODING).iter();
        let Some(encoding) = encodings.next() else { return Ok(None) };
        let text = String::from_utf8_lossy(encoding.as_bytes());
        let name = text.trim().to_ascii_lowercase();
        match name.as_str() {
            _ if encodings.next().is_some() => Err(Problem::UnsupportedEncoding("several encodings".to_owned())),
            "identity" => Ok(None),
            "gzip" | "x-gzip" => Ok(Some(Self::Gzip)),
            "zstd" => Ok(Some(Self::Zstd)),
            _ => Err(Problem::UnsupportedEncoding(format!("`{}`", name.escape_default()))),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }
}

/// What is decompressed, and what of it there is so far. It is one member of gzip, or one frame of zstd: of empty ones a body
/// could hold millions, each of which takes its time.
enum Decoder {
    Gzip(Box<GzDecoder<Cursor<Bytes>>>),
    Zstd(zstd::stream::read::Decoder<'static, Cursor<Bytes>>),
}

impl Decoder {
    fn new(encoding: Encoding, compressed: Bytes) -> io::Result<Self> {
        let compressed = Cursor::new(compressed);
        Ok(match encoding {
            Encoding::Gzip => Self::Gzip(Box::new(GzDecoder::new(compressed))),
            Encoding::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(compressed)?.single_frame();
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Self::Zstd(decoder)
            }
        })
    }

    /// Adds a piece of so many bytes to what there is; `true` at the end.
    fn add_piece(&mut self, bytes: usize, decompressed: &mut Vec<u8>) -> io::Result<bool> {
        let read = match self {
            Self::Gzip(decoder) => decoder.take(bytes as u64).read_to_end(decompressed)?,
            Self::Zstd(decoder) => decoder.take(bytes as u64).read_to_end(decompressed)?,
        };
        let is_end = read < bytes;
        if is_end && self.has_more() {
            return Err(io::Error::other("something follows the end"));
        }
        Ok(is_end)
    }

    /// Whether something follows what was decompressed.
    fn has_more(&self) -> bool {
        let compressed = match self {
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
        };
        compressed.position() < compressed.get_ref().len() as u64
    }
}

/// What a body holds. No more of it is made than may be there, and none of it where others are held up.
pub(super) async fn decompress(encoding: Encoding, compressed: Bytes, arrival: &mut Arrival) -> Result<Bytes, Problem> {
    let compressed_bytes = compressed.len();
    let malformed = |_| Problem::MalformedBody(vec![Fault::new(format!("it is no {}", encoding.name()))]);
    let mut decoder = Decoder::new(encoding, compressed).map_err(malformed)?;
    let mut decompressed = Vec::new();
    loop {
        let bytes = if decompressed.is_empty() { FIRST_PIECE_BYTES } else { PIECE_BYTES };
        arrival.make_room(compressed_bytes + decompressed.len() + bytes).await?;
        // What is long takes turns with other long ones, a piece at a time: who waits for room has none, since others may need theirs
        // to give room back.
        let turn = if decompressed.is_empty() { None } else { Some(arrival.turn().await?) };
        let piece = move || {
            let is_end = decoder.add_piece(bytes, &mut decompressed);
            drop(turn);
            (decoder, decompressed, is_end)
        };
        let is_end;
        (decoder, decompressed, is_end) = arrival.rules().run(piece).await?;
        if decompressed.len() > arrival.rules().bytes_max() {
            return Err(Problem::BodyTooLarge(arrival.rules().bytes_max()));
        }
        if is_end.map_err(malformed)? {
            return Ok(decompressed.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn encodings_are_named_in_one_header() {
        let check = |values: &[&'static str]| {
            let values = values.iter().map(|value| (header::CONTENT_ENCODING, HeaderValue::from_static(value)));
            Encoding::of(&values.collect()).ok()
        };
        assert_eq!(check(&[]), Some(None));
        assert_eq!(check(&["identity"]), Some(None));
        assert_eq!(check(&["GZIP"]), Some(Some(Encoding::Gzip)));
        assert_eq!(check(&["x-gzip"]), Some(Some(Encoding::Gzip)));
        assert_eq!(check(&[" zstd"]), Some(Some(Encoding::Zstd)));
        assert_eq!(check(&["br"]), None);
        assert_eq!(check(&["gzip, gzip"]), None);
        assert_eq!(check(&["gzip", "gzip"]), None);
        assert_eq!(check(&[""]), None);
    }

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// All that is decompressed, piece by piece.
    fn decompressed(encoding: Encoding, compressed: Vec<u8>) -> io::Result<Vec<u8>> {
        let (mut decoder, mut content) = (Decoder::new(encoding, compressed.into())?, Vec::new());
        while !decoder.add_piece(PIECE_BYTES, &mut content)? {}
        Ok(content)
    }

    #[test]
    fn what_was_compressed_comes_out() {
        for bytes in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
            let content: Vec<u8> = (0..=250).cycle().take(bytes).collect();
            assert_eq!(decompressed(Encoding::Gzip, gzip(&content)).unwrap(), content, "{bytes}");
            let zstd = zstd::encode_all(&*content, 3).unwrap();
            assert_eq!(decompressed(Encoding::Zstd, zstd).unwrap(), content, "{bytes}");
        }
    }

    #[test]
    fn one_piece_is_made_at_a_time() {
        let (mut decoder, mut content) =
            (Decoder::new(Encoding::Gzip, gzip(&vec![0; 64 << 20]).into()).unwrap(), Vec::new());
        assert!(!decoder.add_piece(PIECE_BYTES, &mut content).unwrap());
        assert_eq!(content.len(), PIECE_BYTES);
    }

    #[test]
    fn what_is_cut_short_or_goes_on_is_refused() {
        let zstd = zstd::encode_all(&b"content"[..], 3).unwrap();
        for (encoding, whole) in [(Encoding::Gzip, gzip(b"content")), (Encoding::Zstd, zstd)] {
            assert!(decompressed(encoding, whole[..whole.len() - 1].to_vec()).is_err(), "{encoding:?}");
            assert!(decompressed(encoding, [&whole[..], b"x"].concat()).is_err(), "{encoding:?}");
            assert!(decompressed(encoding, [&whole[..], &whole].concat()).is_err(), "{encoding:?}");
            assert!(decompressed(encoding, b"content".to_vec()).is_err(), "{encoding:?}");
        }
    }

    #[test]
    fn a_window_that_is_too_wide_is_refused() {
        let of_window = |log: u32| {
            let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(&vec![7; 32 << 20]).unwrap();
            decompressed(Encoding::Zstd, encoder.finish().unwrap())
        };
        assert!(of_window(ZSTD_WINDOW_LOG).is_ok());
        assert!(of_window(ZSTD_WINDOW_LOG + 1).is_err());
    }
}
