//! Making pictures smaller for providers that turn large ones down.
//!
//! A picture is anybody's file: its size is read from its header and judged before anything is decoded,
//! so that a small file that unfolds to gigabytes costs nothing.

use std::collections::{HashMap, VecDeque};
use std::io::Cursor;
use std::sync::{Arc, Mutex, PoisonError};

use hermes_core::{Media, MediaReader, MediaSource, ModelRequest, Part};
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};

/// Most bytes of a picture; encoded for the wire that is four megabytes.
const MOST_BYTES: usize = 3 * 1024 * 1024;
/// Pictures with more pixels are not decoded.
const MOST_PIXELS: u64 = 40_000_000;
/// Most memory that decoding one picture may take: 40 million pixels of four bytes, and some more.
const MOST_MEMORY: u64 = 256 * 1024 * 1024;
/// Qualities that are tried before a picture is made smaller still.
const QUALITIES: [u8; 2] = [85, 70];
/// How often it is made smaller still, by a quarter each time.
const ROUNDS: u32 = 6;
/// Pictures that are kept, so that a conversation's picture is made smaller once.
const MOST_KEPT: usize = 16;

/// The type of a picture by its first bytes, which know better than a name; else what was said.
pub(crate) fn kind<'s>(bytes: &[u8], said: &'s str) -> &'s str {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => "image/png",
        [0xFF, 0xD8, 0xFF, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', ..] => "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        _ => said,
    }
}

/// A picture of at most `edge` pixels along an edge that fits into the limit of bytes. `None` when it
/// cannot be read, or not without too much memory.
fn smaller(bytes: Vec<u8>, edge: u32) -> Option<Vec<u8>> {
    let open = || ImageReader::new(Cursor::new(&bytes)).with_guessed_format();
    let (width, height) = open().ok()?.into_dimensions().ok()?;
    if width.max(height) <= edge && bytes.len() <= MOST_BYTES {
        return Some(bytes);
    }
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return None;
    }
    let mut reader = open().ok()?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().ok()?;
    let turned = decoder.orientation().ok()?;
    let mut picture = DynamicImage::from_decoder(decoder).ok()?;
    // The note on how to turn it is lost with the rest of the header.
    picture.apply_orientation(turned);
    let mut longest = edge.min(picture.width().max(picture.height()));
    for _ in 0..ROUNDS {
        if picture.width().max(picture.height()) > longest {
            picture = picture.thumbnail(longest, longest);
        }
        if let Some(found) = encoded(&picture) {
            return Some(found);
        }
        longest = (longest / 4 * 3).max(1);
    }
    None
}

/// The picture in the best form that fits: without loss if it has parts that can be seen through.
fn encoded(picture: &DynamicImage) -> Option<Vec<u8>> {
    let fits = |bytes: Vec<u8>| (bytes.len() <= MOST_BYTES).then_some(bytes);
    if picture.color().has_alpha() {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).ok()?;
        if let Some(found) = fits(bytes.into_inner()) {
            return Some(found);
        }
    }
    let flat = picture.to_rgb8();
    QUALITIES.iter().find_map(|quality| {
        let mut bytes = Vec::new();
        let encoder = JpegEncoder::new_with_quality(&mut bytes, *quality);
        flat.write_with_encoder(encoder).ok()?;
        fits(bytes)
    })
}

/// Pictures that were made smaller.
#[derive(Clone, Default)]
pub struct Pictures(Arc<Mutex<VecDeque<(Key, Small)>>>);

/// A picture and its longest edge.
type Key = (String, u32);

/// What became of it; nothing when it could not be made smaller.
type Small = Option<Arc<[u8]>>;

impl Pictures {
    /// Reads media as `reader` does, pictures of this request made smaller. Works off the threads of the
    /// runtime.
    pub(crate) async fn prepare(
        &self,
        request: &ModelRequest,
        reader: &Arc<dyn MediaReader>,
        edge: u32,
    ) -> Shrunk {
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let hashes = parts.filter_map(|part| match part {
            Part::Media(Media {
                mime,
                source: MediaSource::Blob(hash),
                ..
            }) if mime.starts_with("image/") => Some(hash.clone()),
            _ => None,
        });
        let mut known = HashMap::new();
        for hash in hashes {
            if known.contains_key(&hash) {
                continue;
            }
            let key = (hash.clone(), edge);
            let made = match self.kept(&key) {
                Some(made) => made,
                None => {
                    let (kept, from, name) = (self.clone(), reader.clone(), hash.clone());
                    // Kept by the one who makes it, so that it is not made again when nobody waits any more.
                    let work = move || {
                        let made = from.read(&name).and_then(|bytes| smaller(bytes, edge));
                        let made: Small = made.map(Arc::from);
                        kept.keep(key, made.clone());
                        made
                    };
                    tokio::task::spawn_blocking(work).await.unwrap_or_default()
                }
            };
            known.insert(hash, made);
        }
        Shrunk {
            known,
            rest: reader.clone(),
        }
    }

    fn kept(&self, key: &Key) -> Option<Small> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|(known, _)| known == key);
        found.map(|(_, made)| made.clone())
    }

    fn keep(&self, key: Key, made: Small) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_KEPT {
            all.pop_front();
        }
        all.push_back((key, made));
    }
}

/// Media, with pictures made smaller.
pub(crate) struct Shrunk {
    known: HashMap<String, Small>,
    rest: Arc<dyn MediaReader>,
}

impl MediaReader for Shrunk {
    fn read(&self, hash: &str) -> Option<Vec<u8>> {
        match self.known.get(hash) {
            Some(made) => made.as_ref().map(|bytes| bytes.to_vec()),
            None => self.rest.read(hash),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(picture: &DynamicImage) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, ImageFormat::Png).unwrap();
        bytes.into_inner()
    }

    /// Nothing that a compressor could find a pattern in.
    fn noise(width: u32, height: u32) -> DynamicImage {
        let mut state = 1_u32;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            u8::try_from(state & 0xFF).unwrap()
        };
        DynamicImage::ImageRgb8(image::RgbImage::from_fn(width, height, |_, _| {
            image::Rgb([next(), next(), next()])
        }))
    }

    fn size(bytes: &[u8]) -> (u32, u32) {
        let reader = ImageReader::new(Cursor::new(bytes));
        let reader = reader.with_guessed_format().unwrap();
        reader.into_dimensions().unwrap()
    }

    #[test]
    fn what_fits_stays_as_it_is_and_what_is_too_long_gets_the_edge() {
        let small = png(&DynamicImage::new_rgb8(300, 200));
        assert_eq!(smaller(small.clone(), 300), Some(small));
        let long = smaller(png(&DynamicImage::new_rgb8(3_000, 1_500)), 2_000).unwrap();
        assert_eq!(size(&long), (2_000, 1_000));
        assert_eq!(kind(&long, "image/png"), "image/jpeg");
        let clear = smaller(png(&DynamicImage::new_rgba8(3_000, 30)), 1_000).unwrap();
        assert_eq!((kind(&clear, ""), size(&clear)), ("image/png", (1_000, 10)));
    }

    #[test]
    fn what_has_too_many_bytes_is_pressed_below_the_limit() {
        let heavy = png(&noise(2_000, 1_500));
        assert!(heavy.len() > MOST_BYTES);
        let made = smaller(heavy, 8_000).unwrap();
        assert!(made.len() <= MOST_BYTES, "{}", made.len());
        assert!(size(&made).0 >= 1_000);
    }

    // AG-44
    #[test]
    fn a_picture_that_unfolds_to_gigabytes_is_not_decoded() {
        // A header that promises 30,000 by 30,000 pixels, and hardly any pixels.
        let mut bytes = png(&DynamicImage::new_rgb8(1, 1));
        bytes[16..20].copy_from_slice(&30_000_u32.to_be_bytes());
        bytes[20..24].copy_from_slice(&30_000_u32.to_be_bytes());
        let sum = crc32fast::hash(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(size(&bytes), (30_000, 30_000));
        assert_eq!(smaller(bytes, 8_000), None);
        assert_eq!(smaller(b"no picture".to_vec(), 8_000), None);
    }
}
