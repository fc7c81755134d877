//! Tests of the crate from outside, in one program.

#[cfg(test)]
mod suite {}
