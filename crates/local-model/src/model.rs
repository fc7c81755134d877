//! The network: tokens in, the likelihood of the next token out.

use std::sync::Arc;

use candle_core::{Device, Tensor};
use candle_nn::ops;

use crate::LocalError;
use crate::gguf::Gguf;
use crate::layer::{Layer, Memory, Pass, required, vector};
use crate::linear::Weights;
use crate::shape::Shape;
use crate::worker::Stop;

/// A model and what it has read.
pub(crate) struct Model {
    shape: Shape,
    embedding: Arc<Weights>,
    layers: Vec<Layer>,
    norm: Tensor,
    output: Arc<Weights>,
    /// Turns per position, one for each pair of dimensions.
    frequencies: Vec<f32>,
    memories: Vec<Memory>,
    /// The tokens whose keys and values are in the memories.
    read: Vec<u32>,
}

impl Model {
    pub(crate) fn load(file: &mut Gguf) -> Result<Self, LocalError> {
        let shape = Shape::read(file)?;
        let embedding = Arc::new(Weights::new(file.tensor("token_embd.weight")?)?);
        let output = match file.has("output.weight") {
            true => Arc::new(Weights::new(file.tensor("output.weight")?)?),
            false => Arc::clone(&embedding),
        };
        let layers = (0..shape.layers)
            .map(|index| Layer::read(file, index))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            norm: required(file, "output_norm.weight")?,
            output,
            frequencies: frequencies(file, &shape)?,
            memories: layers.iter().map(|_| Memory::default()).collect(),
            read: Vec::new(),
            embedding,
            layers,
            shape,
        })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How many tokens the vocabulary of the network has.
    pub(crate) fn vocabulary(&self) -> Result<usize, LocalError> {
        Ok(self.embedding.height()?)
    }

    /// Forgets everything that `tokens` does not begin with; the number of tokens kept.
    pub(crate) fn keep_common(&mut self, tokens: &[u32]) -> usize {
        let same = self.read.iter().zip(tokens).take_while(|(a, b)| a == b);
        let same = same.count();
        self.read.truncate(same);
        same
    }

    /// Forgets all but the first `count` tokens.
    pub(crate) fn rewind(&mut self, count: usize) {
        self.read.truncate(count);
    }

    /// Reads tokens and says how likely each token of the vocabulary comes next.
    ///
    /// When it is cancelled, nothing of these tokens is remembered.
    pub(crate) fn forward(&mut self, tokens: &[u32], stop: &Stop) -> Result<Vec<f32>, LocalError> {
        let rows = self.through(tokens, || stop.requested())?;
        let last = rows.narrow(0, tokens.len() - 1, 1)?.contiguous()?;
        let last = ops::rms_norm(&last, &self.norm, self.shape.epsilon)?;
        Ok(self.output.product(&last)?.squeeze(0)?.to_vec1()?)
    }

    /// Reads tokens and says what each of them stands for where it stands: rows `(tokens, width)`.
    pub(crate) fn states(
        &mut self,
        tokens: &[u32],
        stopped: impl Fn() -> bool,
    ) -> Result<Vec<Vec<f32>>, LocalError> {
        let rows = self.through(tokens, stopped)?.contiguous()?;
        let rows = ops::rms_norm(&rows, &self.norm, self.shape.epsilon)?;
        Ok(rows.to_vec2()?)
    }

    /// Takes tokens through all layers, which remember them.
    fn through(
        &mut self,
        tokens: &[u32],
        stopped: impl Fn() -> bool,
    ) -> Result<Tensor, LocalError> {
        let pass = self.pass(tokens.len())?;
        let mut rows = self.embedding.rows(tokens)?;
        for (layer, memory) in self.layers.iter().zip(&mut self.memories) {
            if stopped() {
                return Err(LocalError::Cancelled);
            }
            rows = layer.forward(&rows, &self.shape, &pass, memory)?;
        }
        self.read.extend_from_slice(tokens);
        Ok(rows)
    }

    fn pass(&self, count: usize) -> Result<Pass, LocalError> {
        let start = self.read.len();
        let angles: Vec<f32> = (start..start + count)
            .flat_map(|position| {
                let position = position as f32 / self.shape.rope_scale;
                self.frequencies.iter().map(move |turn| position * turn)
            })
            .collect();
        let angles = Tensor::from_vec(angles, (count, self.frequencies.len()), &Device::Cpu)?;
        let mask = (count > 1).then(|| {
            let cells = (0..count).flat_map(|row| {
                (0..start + count).map(move |column| match column <= start + row {
                    true => 0f32,
                    false => f32::NEG_INFINITY,
                })
            });
            Tensor::from_vec(cells.collect(), (count, start + count), &Device::Cpu)
        });
        Ok(Pass {
            start,
            cosine: angles.cos()?,
            sine: angles.sin()?,
            mask: mask.transpose()?,
        })
    }
}

fn frequencies(file: &mut Gguf, shape: &Shape) -> Result<Vec<f32>, LocalError> {
    let size = shape.head_size as f32;
    let plain =
        (0..shape.head_size / 2).map(|pair| shape.rope_base.powf(-2.0 * pair as f32 / size));
    // Models stretched to a longer window carry a divisor for each pair.
    Ok(match vector(file, "rope_freqs.weight")? {
        Some(divisors) => {
            let divisors: Vec<f32> = divisors.to_vec1()?;
            plain.zip(divisors).map(|(turn, by)| turn / by).collect()
        }
        None => plain.collect(),
    })
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
