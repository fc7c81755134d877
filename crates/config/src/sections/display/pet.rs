//! `display.pet`.

use crate::macros::{section, text};

section! {
    /// An animal beside the prompt.
    pub struct Pet {
        /// Shows it.
        enabled: bool = false;
        /// Which one; the one hatched last when empty.
        slug: String = String::new();
        /// How it is drawn; `auto` as well as the terminal can.
        render_mode: String = text("auto");
        /// Its size, 1 being the picture's own.
        scale: f64 = 0.33, in 0.01..=100.0;
        /// Its width in columns when drawn with characters; 0 fits.
        unicode_cols: u32 = 0;
    }
}
