//! MD5 (RFC 1321), because the reference names its directories by it. It tells changes from none and
//! protects nothing.

const SHIFTS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];
const BLOCK: usize = 64;

pub(super) struct Md5 {
    state: [u32; 4],
    pending: Vec<u8>,
    length: u64,
}

impl Default for Md5 {
    fn default() -> Self {
        Self {
            state: [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476],
            pending: Vec::with_capacity(BLOCK),
            length: 0,
        }
    }
}

impl Md5 {
    pub(super) fn update(&mut self, bytes: &[u8]) {
        self.length = self.length.wrapping_add(bytes.len() as u64);
        self.pending.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.pending);
        let mut blocks = pending.chunks_exact(BLOCK);
        for block in &mut blocks {
            self.mix(block);
        }
        self.pending = blocks.remainder().to_vec();
    }

    /// In hexadecimal.
    pub(super) fn finish(mut self) -> String {
        let bits = self.length.wrapping_mul(8);
        let mut padding = vec![0x80];
        while (self.pending.len() + padding.len()) % BLOCK != BLOCK - 8 {
            padding.push(0);
        }
        padding.extend_from_slice(&bits.to_le_bytes());
        self.update(&padding);
        let bytes = self.state.iter().flat_map(|word| word.to_le_bytes());
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }

    fn mix(&mut self, block: &[u8]) {
        let words: Vec<u32> = block
            .chunks_exact(4)
            .map(|four| {
                four.iter()
                    .rev()
                    .fold(0, |word, byte| word << 8 | u32::from(*byte))
            })
            .collect();
        let [mut a, mut b, mut c, mut d] = self.state;
        for step in 0..64_u32 {
            let (mixed, index) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            let word = words.get(index as usize % 16).copied().unwrap_or(0);
            let shift = SHIFTS
                .get(step as usize / 16)
                .and_then(|shifts| shifts.get(step as usize % 4))
                .copied()
                .unwrap_or(0);
            let sum = a
                .wrapping_add(mixed)
                .wrapping_add(constant(step))
                .wrapping_add(word);
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(shift)));
        }
        let [first, second, third, fourth] = self.state;
        self.state = [
            first.wrapping_add(a),
            second.wrapping_add(b),
            third.wrapping_add(c),
            fourth.wrapping_add(d),
        ];
    }
}

/// The first 32 bits behind the point of the sine of a whole number.
fn constant(step: u32) -> u32 {
    (f64::from(step + 1).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        let of = |text: &str| {
            let mut hash = Md5::default();
            hash.update(text.as_bytes());
            hash.finish()
        };
        for (text, expected) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        let mut parts = Md5::default();
        for part in ["message", " ", "digest"] {
            parts.update(part.as_bytes());
        }
        assert_eq!(parts.finish(), of("message digest"));
    }
}
