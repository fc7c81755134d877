//! Products with eight-bit weights on processors with wide registers.
//!
//! The library's own product converts the scale of every block of 32 weights again and again, through a
//! function call in a build that runs on every processor. Here the scales are converted once, and the
//! wide instructions are chosen when the program runs. Processors without them use the library's product.

use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Result, Tensor};

/// Weights that share one scale.
const BLOCK: usize = 32;
const SCALE_BYTES: usize = 2;

/// A matrix of eight-bit weights, row by row.
pub(crate) struct Packed {
    rows: usize,
    columns: usize,
    weights: Vec<[i8; BLOCK]>,
    scales: Vec<f32>,
}

/// Numbers in the form of the product's other side.
struct Quantised {
    numbers: Vec<[i16; BLOCK]>,
    scales: Vec<f32>,
}

impl Packed {
    /// Takes weights over, when they have this form and the processor the instructions.
    pub(crate) fn new(tensor: &QTensor) -> Result<Option<Self>> {
        if tensor.dtype() != GgmlDType::Q8_0 || tensor.rank() != 2 || !available() {
            return Ok(None);
        }
        let (rows, columns) = tensor.shape().dims2()?;
        let data = tensor.data()?;
        let (blocks, _) = data.as_chunks::<{ SCALE_BYTES + BLOCK }>();
        let mut weights = Vec::with_capacity(blocks.len());
        let mut scales = Vec::with_capacity(blocks.len());
        for [low, high, bytes @ ..] in blocks {
            scales.push(half::f16::from_le_bytes([*low, *high]).to_f32());
            let bytes: &[u8; BLOCK] = bytes;
            weights.push(bytes.map(u8::cast_signed));
        }
        Ok(Some(Self {
            rows,
            columns,
            weights,
            scales,
        }))
    }

    /// The product of rows `(m, columns)` with these weights.
    pub(crate) fn product(&self, input: &Tensor) -> Result<Tensor> {
        let count = input.dim(0)?;
        let floats: Vec<f32> = input.flatten_all()?.to_vec1()?;
        let mut output = Vec::with_capacity(count * self.rows);
        for row in floats.chunks_exact(self.columns) {
            fast(
                #[inline(always)]
                || {
                    let input = Quantised::new(row);
                    let blocks = self.columns / BLOCK;
                    let rows = self.weights.chunks_exact(blocks);
                    let rows = rows.zip(self.scales.chunks_exact(blocks));
                    output.extend(rows.map(
                        #[inline(always)]
                        |(weights, scales)| dot(weights, scales, &input),
                    ));
                },
            );
        }
        Tensor::from_vec(output, (count, self.rows), &Device::Cpu)
    }

    /// All weights as floats.
    pub(crate) fn unpacked(&self) -> Result<Tensor> {
        let mut floats = Vec::with_capacity(self.rows * self.columns);
        fast(
            #[inline(always)]
            || unpack(&self.weights, &self.scales, &mut floats),
        );
        Tensor::from_vec(floats, (self.rows, self.columns), &Device::Cpu)
    }

    /// Single rows as floats.
    pub(crate) fn rows(&self, which: &[u32]) -> Result<Tensor> {
        let blocks = self.columns / BLOCK;
        let mut floats = Vec::with_capacity(which.len() * self.columns);
        for row in which {
            let first = usize::try_from(*row)? * blocks;
            let range = first..first + blocks;
            let (Some(weights), Some(scales)) =
                (self.weights.get(range.clone()), self.scales.get(range))
            else {
                candle_core::bail!("token {row} is not in the vocabulary");
            };
            unpack(weights, scales, &mut floats);
        }
        Tensor::from_vec(floats, (which.len(), self.columns), &Device::Cpu)
    }

    pub(crate) fn height(&self) -> usize {
        self.rows
    }
}

impl Quantised {
    #[inline(always)]
    fn new(floats: &[f32]) -> Self {
        const MOST: f32 = 127.0;
        let (blocks, _) = floats.as_chunks::<BLOCK>();
        let mut numbers = Vec::with_capacity(blocks.len());
        let mut scales = Vec::with_capacity(blocks.len());
        for block in blocks {
            let largest = block
                .iter()
                .fold(0f32, |largest, number| largest.max(number.abs()));
            let factor = if largest > 0.0 { MOST / largest } else { 0.0 };
            numbers.push(block.map(|number| (number * factor).round_ties_even() as i16));
            scales.push(largest / MOST);
        }
        Self { numbers, scales }
    }
}

#[inline(always)]
fn unpack(weights: &[[i8; BLOCK]], scales: &[f32], floats: &mut Vec<f32>) {
    for (weights, scale) in weights.iter().zip(scales) {
        floats.extend_from_slice(&weights.map(|weight| f32::from(weight) * scale));
    }
}

#[cfg(target_arch = "x86_64")]
mod processor {
    #![expect(
        unsafe_code,
        reason = "wide instructions may be used after the processor was asked for them"
    )]

    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16,
        _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_set1_ps,
        _mm256_setzero_ps, _mm256_storeu_ps,
    };

    use super::{BLOCK, Quantised};

    pub(crate) fn available() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
    }

    /// Does work that may be compiled to wide instructions, when there are any.
    pub(crate) fn fast<R>(work: impl FnOnce() -> R) -> R {
        #[target_feature(enable = "avx2,fma")]
        fn wide<R>(work: impl FnOnce() -> R) -> R {
            work()
        }
        match available() {
            // SAFETY: the processor has just said that it knows these instructions.
            true => unsafe { wide(work) },
            false => work(),
        }
    }

    /// The product of one row of weights with the input.
    #[inline(always)]
    pub(super) fn dot(weights: &[[i8; BLOCK]], scales: &[f32], input: &Quantised) -> f32 {
        // SAFETY: `Packed`, which calls this, exists only where `available` holds.
        unsafe { dot_wide(weights, scales, input) }
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn dot_wide(weights: &[[i8; BLOCK]], scales: &[f32], input: &Quantised) -> f32 {
        let mut sums = _mm256_setzero_ps();
        let weights = weights.iter().zip(scales);
        let input = input.numbers.iter().zip(&input.scales);
        for ((weights, weight_scale), (numbers, number_scale)) in weights.zip(input) {
            let products = _mm256_add_epi32(
                _mm256_madd_epi16(widened(weights, 0), loaded(numbers, 0)),
                _mm256_madd_epi16(widened(weights, 1), loaded(numbers, 1)),
            );
            let scale = _mm256_set1_ps(weight_scale * number_scale);
            sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), scale, sums);
        }
        let mut lanes = [0f32; 8];
        // SAFETY: the array has room for the eight numbers of the register.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sums) };
        lanes.iter().sum()
    }

    /// One half of a block of weights, as wider numbers.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn widened(weights: &[i8; BLOCK], half: usize) -> __m256i {
        let (halves, _) = weights.as_chunks::<{ BLOCK / 2 }>();
        // SAFETY: sixteen bytes are read, and a half has sixteen; no alignment is asked for.
        _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(halves[half].as_ptr().cast::<__m128i>()) })
    }

    /// One half of a block of input.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn loaded(numbers: &[i16; BLOCK], half: usize) -> __m256i {
        let (halves, _) = numbers.as_chunks::<{ BLOCK / 2 }>();
        // SAFETY: thirty-two bytes are read, and a half has as many; no alignment is asked for.
        unsafe { _mm256_loadu_si256(halves[half].as_ptr().cast::<__m256i>()) }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod processor {
    use super::{BLOCK, Quantised};

    pub(crate) fn available() -> bool {
        false
    }

    pub(crate) fn fast<R>(work: impl FnOnce() -> R) -> R {
        work()
    }

    /// The product of one row of weights with the input; here only so that everything compiles alike.
    pub(super) fn dot(weights: &[[i8; BLOCK]], scales: &[f32], input: &Quantised) -> f32 {
        let weights = weights.iter().zip(scales);
        let input = input.numbers.iter().zip(&input.scales);
        let blocks = weights.zip(input).map(|((weights, scale), (numbers, by))| {
            let products = weights.iter().zip(numbers);
            let sum: i32 = products.map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            sum as f32 * scale * by
        });
        blocks.sum()
    }
}

pub(crate) use processor::fast;
use processor::{available, dot};
