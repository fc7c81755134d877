//! One layer: attention over everything read so far, then the feed-forward network.

use candle_core::{Device, Error, Tensor};
use candle_nn::{ops, rotary_emb};

use crate::LocalError;
use crate::attention;
use crate::gguf::Gguf;
use crate::linear::Linear;
use crate::shape::{Family, Shape};

type Result<T, E = Error> = std::result::Result<T, E>;

/// The memory of a layer grows by this many tokens at a time.
const GROWTH: usize = 512;

/// What all layers need for one pass.
pub(crate) struct Pass {
    /// How many tokens were read before these.
    pub(crate) start: usize,
    pub(crate) cosine: Tensor,
    pub(crate) sine: Tensor,
    /// Hides later tokens from earlier ones; absent for a single token.
    pub(crate) mask: Option<Tensor>,
}

pub(crate) struct Layer {
    attention_norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
    output: Linear,
    network_norm: Tensor,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// Keys and values of the tokens read so far, each `(heads, capacity, size)`.
#[derive(Default)]
pub(crate) struct Memory(Option<(Tensor, Tensor)>);

impl Layer {
    pub(crate) fn read(file: &mut Gguf, index: usize) -> Result<Self, LocalError> {
        let mut linear = |name: &str| {
            let weights = file.tensor(&format!("blk.{index}.{name}.weight"))?;
            let bias = vector(file, &format!("blk.{index}.{name}.bias"))?;
            Ok::<_, LocalError>(Linear::new(weights, bias)?)
        };
        let (query, key, value) = (linear("attn_q")?, linear("attn_k")?, linear("attn_v")?);
        let output = linear("attn_output")?;
        let (gate, up, down) = (linear("ffn_gate")?, linear("ffn_up")?, linear("ffn_down")?);
        let mut norm = |name: &str| required(file, &format!("blk.{index}.{name}.weight"));
        let (attention_norm, network_norm) = (norm("attn_norm")?, norm("ffn_norm")?);
        Ok(Self {
            attention_norm,
            query,
            key,
            value,
            query_norm: vector(file, &format!("blk.{index}.attn_q_norm.weight"))?,
            key_norm: vector(file, &format!("blk.{index}.attn_k_norm.weight"))?,
            output,
            network_norm,
            gate,
            up,
            down,
        })
    }

    /// Takes rows `(m, width)` through the layer and remembers their keys and values.
    pub(crate) fn forward(
        &self,
        rows: &Tensor,
        shape: &Shape,
        pass: &Pass,
        memory: &mut Memory,
    ) -> Result<Tensor> {
        let normed = ops::rms_norm(rows, &self.attention_norm, shape.epsilon)?;
        let rows = (rows + self.attention(&normed, shape, pass, memory)?)?;
        let normed = ops::rms_norm(&rows, &self.network_norm, shape.epsilon)?;
        let gate = self.gate.forward(&normed)?.silu()?;
        let inner = (gate * self.up.forward(&normed)?)?;
        &rows + self.down.forward(&inner)?
    }

    fn attention(
        &self,
        rows: &Tensor,
        shape: &Shape,
        pass: &Pass,
        memory: &mut Memory,
    ) -> Result<Tensor> {
        let count = rows.dim(0)?;
        let (heads, kv_heads, size) = (shape.heads, shape.kv_heads, shape.head_size);
        let group = heads / kv_heads;
        let query = split(&self.query.forward(rows)?, heads, size)?;
        let key = split(&self.key.forward(rows)?, kv_heads, size)?;
        let value = split(&self.value.forward(rows)?, kv_heads, size)?.contiguous()?;
        let query = rotate(query, self.query_norm.as_ref(), shape, pass)?;
        let key = rotate(key, self.key_norm.as_ref(), shape, pass)?;
        let (keys, values) = memory.append(&key, &value, pass.start)?;
        let read = pass.start + count;
        let query = (query / (size as f64).sqrt())?;
        let Some(mask) = &pass.mask else {
            let mixed = attention::single(&query, keys, values, read)?;
            return self.output.forward(&mixed);
        };

        // The heads that share a key lie next to each other: they become rows of one product.
        let query = query.reshape((kv_heads, group * count, size))?;
        let keys = keys.narrow(1, 0, read)?;
        let scores = query
            .matmul(&keys.transpose(1, 2)?)?
            .reshape((kv_heads, group, count, read))?
            .broadcast_add(mask)?
            .reshape((kv_heads, group * count, read))?;
        let mixed = ops::softmax_last_dim(&scores)?.matmul(&values.narrow(1, 0, read)?)?;
        let mixed = mixed.reshape((heads, count, size))?.transpose(0, 1)?;
        self.output.forward(&mixed.reshape((count, heads * size))?)
    }
}

impl Memory {
    /// Adds keys and values `(heads, m, size)` at a position; later ones are forgotten.
    fn append(&mut self, key: &Tensor, value: &Tensor, start: usize) -> Result<(&Tensor, &Tensor)> {
        let (heads, count, size) = key.dims3()?;
        let end = start + count;
        let room = match &self.0 {
            Some((keys, _)) => keys.dim(1)?,
            None => 0,
        };
        if room < end {
            let capacity = end.next_multiple_of(GROWTH);
            let grown = |old: Option<&Tensor>| {
                let new = Tensor::zeros((heads, capacity, size), key.dtype(), &Device::Cpu)?;
                if let Some(old) = old {
                    new.slice_set(old, 1, 0)?;
                }
                Ok::<_, Error>(new)
            };
            let old = self.0.take();
            let keys = grown(old.as_ref().map(|(keys, _)| keys))?;
            let values = grown(old.as_ref().map(|(_, values)| values))?;
            self.0 = Some((keys, values));
        }
        let Some((keys, values)) = &self.0 else {
            candle_core::bail!("a layer has no memory");
        };
        keys.slice_set(key, 1, start)?;
        values.slice_set(value, 1, start)?;
        Ok((keys, values))
    }
}

/// Rows `(m, heads × size)` as `(heads, m, size)`.
fn split(rows: &Tensor, heads: usize, size: usize) -> Result<Tensor> {
    rows.reshape((rows.dim(0)?, heads, size))?.transpose(0, 1)
}

/// Normalises where the family does so, and turns each pair of dimensions by the token's position.
fn rotate(heads: Tensor, norm: Option<&Tensor>, shape: &Shape, pass: &Pass) -> Result<Tensor> {
    let mut heads = heads.contiguous()?;
    if let Some(norm) = norm {
        heads = ops::rms_norm(&heads, norm, shape.epsilon)?;
    }
    let heads = heads.unsqueeze(0)?;
    let turned = match shape.family {
        Family::Llama => rotary_emb::rope_i(&heads, &pass.cosine, &pass.sine)?,
        Family::Qwen2 | Family::Qwen3 => rotary_emb::rope(&heads, &pass.cosine, &pass.sine)?,
    };
    turned.squeeze(0)
}

/// A vector of floats the file must have.
pub(crate) fn required(file: &mut Gguf, name: &str) -> Result<Tensor, LocalError> {
    Ok(file.tensor(name)?.dequantize(&Device::Cpu)?)
}

/// A vector of floats the file may have.
pub(crate) fn vector(file: &mut Gguf, name: &str) -> Result<Option<Tensor>, LocalError> {
    file.has(name).then(|| required(file, name)).transpose()
}
