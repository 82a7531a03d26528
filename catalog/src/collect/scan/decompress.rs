//! A page's bytes as they were before compression.
//!
//! Every codec writes into a buffer of the size that the page claims, which is bounded before, or is stopped at that size:
//! a small page that decompresses without end is an error, and no memory is taken for it.

use std::borrow::Cow;
use std::io::Read;

use super::fault::ChunkFault;

/// The enum `CompressionCodec`, as far as it can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Uncompressed,
    Snappy,
    Gzip,
    Brotli,
    /// LZ4 as Hadoop frames it; some writers meant bare blocks, or LZ4's own frames, by the same code.
    Lz4,
    Zstd,
    Lz4Raw,
}

impl Codec {
    pub(super) fn from_code(code: i32) -> Result<Self, ChunkFault> {
        Ok(match code {
            0 => Self::Uncompressed,
            1 => Self::Snappy,
            2 => Self::Gzip,
            4 => Self::Brotli,
            5 => Self::Lz4,
            6 => Self::Zstd,
            7 => Self::Lz4Raw,
            unknown => return Err(ChunkFault::UnsupportedCodec(unknown)),
        })
    }

    /// Decompresses into as many bytes as the page claims, which the caller has bounded.
    pub(super) fn decompress(self, body: &[u8], size: usize) -> Result<Cow<'_, [u8]>, ChunkFault> {
        // Some writers store nothing for nothing, which most codecs could not read.
        if self == Self::Uncompressed || (size == 0 && body.is_empty()) {
            return Ok(Cow::Borrowed(body));
        }
        let decompressed = match self {
            Self::Uncompressed => None,
            Self::Snappy => snappy(body, size),
            Self::Gzip => read_whole(flate2::read::MultiGzDecoder::new(body), size),
            Self::Brotli if has_large_window(body) => None,
            Self::Brotli => read_whole(brotli::Decompressor::new(body, BROTLI_BUFFER_BYTES), size),
            Self::Lz4 => hadoop_lz4(body, size).or_else(|| lz4_frame(body, size)).or_else(|| lz4_block(body, size)),
            Self::Zstd => zstd_frames(body, size),
            Self::Lz4Raw => lz4_block(body, size),
        };
        decompressed.map(Cow::Owned).ok_or(ChunkFault::Decompression(size))
    }
}

const BROTLI_BUFFER_BYTES: usize = 4096;

/// Whether a brotli stream asks for a window beyond RFC 7932, which the decoder would take up to a gigabyte of memory for. The
/// pattern of its first bits is one that the RFC forbids.
fn has_large_window(body: &[u8]) -> bool {
    body.first().is_some_and(|first| first & 0x7f == 0x11)
}

fn snappy(body: &[u8], size: usize) -> Option<Vec<u8>> {
    if snap::raw::decompress_len(body).ok()? != size {
        return None;
    }
    let mut output = vec![0; size];
    let written = snap::raw::Decoder::new().decompress(body, &mut output).ok()?;
    (written == size).then_some(output)
}

fn lz4_block(body: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut output = vec![0; size];
    let written = lz4_flex::block::decompress_into(body, &mut output).ok()?;
    (written == size).then_some(output)
}

fn lz4_frame(body: &[u8], size: usize) -> Option<Vec<u8>> {
    read_whole(lz4_flex::frame::FrameDecoder::new(body), size)
}

/// Blocks, each after its two lengths, decompressed and compressed.
fn hadoop_lz4(mut body: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut output = vec![0; size];
    let mut rest = output.as_mut_slice();
    while !body.is_empty() {
        let (decompressed, after) = body.split_first_chunk::<4>()?;
        let (compressed, after) = after.split_first_chunk::<4>()?;
        let length = |bytes: [u8; 4]| usize::try_from(u32::from_be_bytes(bytes)).ok();
        let (block, after) = after.split_at_checked(length(*compressed)?)?;
        let (target, after_target) = rest.split_at_mut_checked(length(*decompressed)?)?;
        if lz4_flex::block::decompress_into(block, target).ok()? != target.len() {
            return None;
        }
        (body, rest) = (after, after_target);
    }
    rest.is_empty().then_some(output)
}

fn zstd_frames(body: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut output = vec![0; size];
    let written = zstd::bulk::decompress_to_buffer(body, output.as_mut_slice()).ok()?;
    (written == size).then_some(output)
}

/// All that the reader gives, if it is so much. Memory is taken as bytes come, and never for more than one too many.
fn read_whole(reader: impl Read, size: usize) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let read = reader.take(u64::try_from(size).ok()?.checked_add(1)?).read_to_end(&mut output).ok()?;
    (read == size).then_some(output)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const CODECS: [Codec; 6] = [Codec::Snappy, Codec::Gzip, Codec::Brotli, Codec::Lz4, Codec::Zstd, Codec::Lz4Raw];

    fn compress(codec: Codec, bytes: &[u8]) -> Vec<u8> {
        match codec {
            Codec::Uncompressed => bytes.to_vec(),
            Codec::Snappy => snap::raw::Encoder::new().compress_vec(bytes).unwrap(),
            Codec::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(bytes).unwrap();
                encoder.finish().unwrap()
            }
            Codec::Brotli => {
                let mut encoder = brotli::CompressorWriter::new(Vec::new(), BROTLI_BUFFER_BYTES, 1, 20);
                encoder.write_all(bytes).unwrap();
                encoder.into_inner()
            }
            Codec::Lz4 => bytes.chunks(100).flat_map(hadoop_block).collect(),
            Codec::Zstd => zstd::bulk::compress(bytes, 1).unwrap(),
            Codec::Lz4Raw => lz4_flex::block::compress(bytes),
        }
    }

    fn hadoop_block(bytes: &[u8]) -> Vec<u8> {
        let block = lz4_flex::block::compress(bytes);
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_be_bytes();
        [&length(bytes)[..], &length(&block), &block].concat()
    }

    #[test]
    fn every_codec_gives_back_what_was_compressed() {
        let bytes = b"many pages compress well ".repeat(50);
        for codec in CODECS {
            assert_eq!(codec.decompress(&compress(codec, &bytes), bytes.len()).as_deref(), Ok(&bytes[..]), "{codec:?}");
        }
    }

    #[test]
    fn lz4_without_hadoops_frames_is_read_too() {
        let bytes = b"blocks and frames ".repeat(9);
        let read = |compressed: &[u8]| Codec::Lz4.decompress(compressed, bytes.len()).map(Cow::into_owned);
        assert_eq!(read(&lz4_flex::block::compress(&bytes)).as_ref(), Ok(&bytes));
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(&bytes).unwrap();
        assert_eq!(read(&encoder.finish().unwrap()).as_ref(), Ok(&bytes));
    }

    #[test]
    fn another_size_than_claimed_is_an_error() {
        let bytes = vec![7; 1000];
        for codec in CODECS {
            let compressed = compress(codec, &bytes);
            for claimed in [0, 1, 999, 1001] {
                assert_eq!(
                    codec.decompress(&compressed, claimed),
                    Err(ChunkFault::Decompression(claimed)),
                    "{codec:?}"
                );
            }
        }
    }

    #[test]
    fn compressed_bytes_that_are_cut_are_an_error_and_changed_ones_give_no_other_size() {
        let bytes = b"0123456789".repeat(20);
        for codec in CODECS {
            let compressed = compress(codec, &bytes);
            for index in 0..compressed.len() {
                let cut = codec.decompress(&compressed[..index], bytes.len());
                assert_eq!(cut, Err(ChunkFault::Decompression(bytes.len())), "{codec:?} cut at {index}");
                for flip in [0x01, 0x80, 0xff] {
                    let mut changed = compressed.clone();
                    changed[index] ^= flip;
                    let read = codec.decompress(&changed, bytes.len());
                    let size = read.map_or(bytes.len(), |read| read.len());
                    assert_eq!(size, bytes.len(), "{codec:?} changed at {index}");
                }
            }
        }
    }

    #[test]
    fn a_brotli_window_beyond_the_standard_is_refused() {
        let bytes = b"0123456789".repeat(20);
        let compressed = |large_window| {
            let params = brotli::enc::BrotliEncoderParams { lgwin: 24, large_window, ..Default::default() };
            let mut output = Vec::new();
            brotli::BrotliCompress(&mut &bytes[..], &mut output, &params).unwrap();
            output
        };
        let read = |compressed: &[u8]| Codec::Brotli.decompress(compressed, bytes.len()).map(Cow::into_owned);
        assert_eq!(read(&compressed(false)), Ok(bytes.clone()));
        assert_eq!(read(&compressed(true)), Err(ChunkFault::Decompression(bytes.len())));
    }

    #[test]
    fn a_codec_that_is_not_known_is_named() {
        assert_eq!(Codec::from_code(3), Err(ChunkFault::UnsupportedCodec(3)));
        assert_eq!(Codec::from_code(-1), Err(ChunkFault::UnsupportedCodec(-1)));
    }
}
