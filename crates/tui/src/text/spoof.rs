//! Characters that have no width of their own and can make text look like something else.

/// What to do with a character that nobody sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// Visible, or harmless.
    Yes,
    /// Never shown.
    Never,
    /// Shown only between two characters that it joins.
    Joiner,
    /// Shown only after a character that has an emoji form.
    Variation,
    /// Shown only in a flag made of tags.
    Tag,
}

pub(super) fn judge(c: char) -> Seen {
    match c {
        '\u{200c}' | '\u{200d}' => Seen::Joiner,
        '\u{fe0e}' | '\u{fe0f}' => Seen::Variation,
        '\u{e0020}'..='\u{e007f}' => Seen::Tag,
        // Soft hyphen, grapheme joiner, Arabic letter mark, Hangul fillers, Mongolian selectors.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => {
            Seen::Never
        }
        '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => Seen::Never,
        // Zero-width space, marks and overrides of direction, isolates, invisible operators.
        '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => Seen::Never,
        '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => Seen::Never,
        '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e001f}' | '\u{e0080}'..='\u{e0fff}' => {
            Seen::Never
        }
        _ => Seen::Yes,
    }
}

/// Whether a joiner between the two is part of how a script or an emoji is written.
pub(super) fn joins(before: char, after: char) -> bool {
    (is_joining_script(before) && is_joining_script(after))
        || (ends_emoji(before) && is_pictograph(after))
}

/// Whether the character has a text and an emoji form: pictographs, symbols, and the bases of keycaps.
pub(super) fn varies(before: char) -> bool {
    is_pictograph(before) || matches!(before, '#' | '*' | '0'..='9' | '\u{a9}' | '\u{ae}')
}

/// Whether a tag may follow: the black flag, or another tag of the same flag.
pub(super) fn carries_tags(before: char) -> bool {
    matches!(before, '\u{1f3f4}' | '\u{e0020}'..='\u{e007e}')
}

fn ends_emoji(c: char) -> bool {
    is_pictograph(c) || c == '\u{fe0f}'
}

fn is_pictograph(c: char) -> bool {
    matches!(c,
        '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}'
        | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Scripts that write with joiners: Arabic and its relatives, and those of South and Southeast Asia.
fn is_joining_script(c: char) -> bool {
    matches!(c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{e00}'..='\u{10ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{1800}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{11000}'..='\u{11fff}')
}
