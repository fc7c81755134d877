mod masking;
mod origins;
mod properties;
mod secrets;
mod shapes;
mod stream;
