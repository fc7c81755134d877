//! Attention of a single token to all before it.
//!
//! While an answer is spoken every pass has one token. The general product packs its operands and asks
//! the system for the number of cores each time; for one row that costs more than the arithmetic.

use candle_core::{CpuStorage, Device, Result, Storage, Tensor};

use crate::wide::fast;

const LANES: usize = 8;

/// Mixes the values of the first `read` tokens by how well their keys match the query.
///
/// `query` is `(heads, 1, size)` and scaled; `keys` and `values` are `(kv_heads, capacity, size)`,
/// contiguous. The result is `(1, heads × size)`.
pub(crate) fn single(
    query: &Tensor,
    keys: &Tensor,
    values: &Tensor,
    read: usize,
) -> Result<Tensor> {
    let (heads, _, size) = query.dims3()?;
    let (kv_heads, capacity, _) = keys.dims3()?;
    let group = heads / kv_heads;
    let mut mixed = vec![0f32; heads * size];
    let mut scores = vec![0f32; read];
    with_floats(query, |query| {
        with_floats(keys, |keys| {
            with_floats(values, |values| {
                fast(
                    #[inline(always)]
                    || {
                        let rows = query.chunks_exact(size).zip(mixed.chunks_exact_mut(size));
                        for (head, (query, mixed)) in rows.enumerate() {
                            let first = head / group * capacity * size;
                            let known = first..first + read * size;
                            let keys = keys.get(known.clone()).unwrap_or_default();
                            let values = values.get(known).unwrap_or_default();
                            for (score, key) in scores.iter_mut().zip(keys.chunks_exact(size)) {
                                *score = dot(query, key);
                            }
                            soften(&mut scores);
                            for (share, value) in scores.iter().zip(values.chunks_exact(size)) {
                                for (sum, part) in mixed.iter_mut().zip(value) {
                                    *sum += share * part;
                                }
                            }
                        }
                    },
                );
            })
        })
    })???;
    Tensor::from_vec(mixed, (1, heads * size), &Device::Cpu)
}

/// Lends the floats of a contiguous tensor.
fn with_floats<R>(tensor: &Tensor, work: impl FnOnce(&[f32]) -> R) -> Result<R> {
    let (storage, layout) = tensor.storage_and_layout();
    let floats = match (&*storage, layout.contiguous_offsets()) {
        (Storage::Cpu(CpuStorage::F32(floats)), Some((start, end))) => floats.get(start..end),
        _ => None,
    };
    match floats {
        Some(floats) => Ok(work(floats)),
        None => candle_core::bail!("attention over numbers that are not in one piece"),
    }
}

/// In lanes, so that the sums do not wait for each other.
#[inline(always)]
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left_lanes, left_rest) = left.as_chunks::<LANES>();
    let (right_lanes, right_rest) = right.as_chunks::<LANES>();
    let mut sums = [0f32; LANES];
    for (left, right) in left_lanes.iter().zip(right_lanes) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest = left_rest.iter().zip(right_rest);
    sums.iter().sum::<f32>() + rest.map(|(left, right)| left * right).sum::<f32>()
}

/// Turns scores into shares of one.
#[inline(always)]
fn soften(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut total = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        total += *score;
    }
    for score in scores {
        *score /= total;
    }
}
