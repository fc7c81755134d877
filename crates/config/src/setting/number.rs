//! Numbers and lengths of time, and the ranges they are held to.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Reader, Setting};
use crate::shape::Shape;
use crate::value::{Node, Value};

/// The shape of a number narrowed to a range.
pub(crate) fn within<T: Setting + Bounded>(range: &RangeInclusive<T::Bound>) -> Shape {
    T::shape().within(T::as_float(*range.start()), T::as_float(*range.end()))
}

/// Numbers, and optional numbers, that can be held to a range.
pub(crate) trait Bounded {
    type Bound: PartialOrd + Copy;

    fn bound(&self) -> Option<Self::Bound>;
    fn as_float(bound: Self::Bound) -> f64;
}

impl<T: Bounded> Bounded for Option<T> {
    type Bound = T::Bound;

    fn bound(&self) -> Option<Self::Bound> {
        self.as_ref().and_then(T::bound)
    }

    fn as_float(bound: Self::Bound) -> f64 {
        T::as_float(bound)
    }
}

macro_rules! integer {
    ($($type:ty, $least:expr);*) => { $(
        impl Setting for $type {
            fn shape() -> Shape {
                Shape::Int { least: $least, most: i64::MAX }
            }

            fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
                let number = match &node.value {
                    Value::Int(number) => Some(*number),
                    Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => Some(*number as i64),
                    Value::Text(text) => text.trim().parse().ok(),
                    Value::Null => return None,
                    Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => None,
                };
                let number = number.and_then(|number| Self::try_from(number).ok());
                if number.is_none() {
                    reader.refuse(node, Self::shape().expected());
                }
                number
            }

            fn to_value(&self) -> Value {
                Value::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }
        }

        impl Bounded for $type {
            type Bound = $type;

            fn bound(&self) -> Option<$type> {
                Some(*self)
            }
            fn as_float(bound: $type) -> f64 {
                bound as f64
            }
        }
    )* };
}
integer!(u16, 0; u32, 0; u64, 0);

impl Setting for f64 {
    fn shape() -> Shape {
        Shape::Float {
            least: f64::NEG_INFINITY,
            most: f64::INFINITY,
        }
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        let number = match &node.value {
            Value::Float(number) => Some(*number),
            Value::Int(number) => Some(*number as f64),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Null => return None,
            Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        if number.is_none() {
            reader.refuse(node, Self::shape().expected());
        }
        number
    }

    /// A number without a fraction is written without a point.
    fn to_value(&self) -> Value {
        if self.fract() == 0.0 && self.abs() < 1e15 {
            Value::Int(*self as i64)
        } else {
            Value::Float(*self)
        }
    }
}

impl Bounded for f64 {
    type Bound = f64;

    fn bound(&self) -> Option<f64> {
        Some(*self)
    }

    fn as_float(bound: f64) -> f64 {
        bound
    }
}

/// A hundred years in seconds: longer than any wait, yet it can be added to any point in time.
const FOREVER: f64 = 3_155_760_000.0;

/// A length of time, written in seconds; fractions count.
impl Setting for Duration {
    fn shape() -> Shape {
        Shape::Float {
            least: 0.0,
            most: f64::INFINITY,
        }
    }

    fn read(node: &Node, reader: &mut Reader) -> Option<Self> {
        if node.value == Value::Null {
            return None;
        }
        let duration = reader
            .attempt(|reader| f64::read(node, reader))
            .and_then(|seconds| Self::try_from_secs_f64(seconds.min(FOREVER)).ok());
        if duration.is_none() {
            reader.refuse(node, Self::shape().expected());
        }
        duration
    }

    fn to_value(&self) -> Value {
        match i64::try_from(self.as_secs()) {
            Ok(seconds) if self.subsec_nanos() == 0 => Value::Int(seconds),
            _ => Value::Float(self.as_secs_f64()),
        }
    }
}

impl Bounded for Duration {
    type Bound = Self;

    fn bound(&self) -> Option<Self> {
        Some(*self)
    }

    fn as_float(bound: Self) -> f64 {
        bound.as_secs_f64()
    }
}
