//! A matrix of weights, kept quantised.

use std::sync::Arc;

use candle_core::quantized::{GgmlDType, QMatMul, QTensor};
use candle_core::{Device, Module, Result, Tensor};

use crate::wide::Packed;

/// From this many rows on, unpacking the weights once and multiplying as floats is faster than the
/// quantised product, which takes the rows one by one.
const UNPACK_FROM_ROWS: usize = 24;

/// Weights in the form the processor is fastest with.
pub(crate) enum Weights {
    Packed(Packed),
    Library {
        tensor: Arc<QTensor>,
        product: QMatMul,
    },
}

impl Weights {
    pub(crate) fn new(tensor: QTensor) -> Result<Self> {
        if let Some(packed) = Packed::new(&tensor)? {
            return Ok(Self::Packed(packed));
        }
        let tensor = Arc::new(tensor);
        let product = QMatMul::from_arc(Arc::clone(&tensor))?;
        Ok(Self::Library { tensor, product })
    }

    /// The product of rows `(m, k)` with the weights `(n, k)`.
    pub(crate) fn product(&self, rows: &Tensor) -> Result<Tensor> {
        let many = rows.dim(0)? >= UNPACK_FROM_ROWS;
        match self {
            Self::Packed(packed) if many => rows.matmul(&packed.unpacked()?.t()?),
            Self::Packed(packed) => packed.product(rows),
            Self::Library { tensor, product } => match product {
                QMatMul::QTensor(_) if many && row_by_row(tensor.dtype()) => {
                    rows.matmul(&tensor.dequantize(&Device::Cpu)?.t()?)
                }
                QMatMul::QTensor(_) | QMatMul::Tensor(_) | QMatMul::TensorF16(_) => {
                    product.forward(rows)
                }
            },
        }
    }

    /// Single rows of the weights, as floats.
    pub(crate) fn rows(&self, which: &[u32]) -> Result<Tensor> {
        match self {
            Self::Packed(packed) => packed.rows(which),
            Self::Library { tensor, .. } => tensor.embedding(&Tensor::new(which, &Device::Cpu)?),
        }
    }

    /// How many rows there are.
    pub(crate) fn height(&self) -> Result<usize> {
        match self {
            Self::Packed(packed) => Ok(packed.height()),
            Self::Library { tensor, .. } => Ok(tensor.shape().dims2()?.0),
        }
    }
}

/// Whether the library has no product over whole tiles for this form here.
fn row_by_row(form: GgmlDType) -> bool {
    cfg!(target_arch = "x86_64") && !matches!(form, GgmlDType::Q4K | GgmlDType::Q6K)
}

/// Weights with the bias some families add.
pub(crate) struct Linear {
    weights: Weights,
    bias: Option<Tensor>,
}

impl Linear {
    pub(crate) fn new(weights: QTensor, bias: Option<Tensor>) -> Result<Self> {
        let weights = Weights::new(weights)?;
        Ok(Self { weights, bias })
    }

    pub(crate) fn forward(&self, rows: &Tensor) -> Result<Tensor> {
        let product = self.weights.product(rows)?;
        match &self.bias {
            Some(bias) => product.broadcast_add(bias),
            None => Ok(product),
        }
    }
}
