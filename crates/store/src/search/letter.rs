//! What the index makes of one character, worked out once for each block of 256.

use std::sync::OnceLock;

use unicode_normalization::char::{
    canonical_combining_class, decompose_canonical, is_combining_mark,
};
use unicode_normalization::{IsNormalized, is_nfkc_quick};

/// What a character is to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Part of a word.
    Word,
    /// A script that does not put spaces between words.
    Dense,
    /// Anything else: spaces, punctuation, symbols.
    Gap,
}

/// One character, understood.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub(super) class: Class,
    /// Whether it stands for itself in normalized text, whatever is around it.
    pub(super) is_normal: bool,
    folded: [char; 3],
    length: u8,
}

impl Letter {
    pub(super) fn of(character: char) -> Self {
        static BLOCKS: [OnceLock<Box<[Letter]>>; 512] = [const { OnceLock::new() }; 512];
        let code = character as u32;
        let Some(block) = BLOCKS.get((code >> 8) as usize) else {
            return Self::work_out(character);
        };
        let letters = block.get_or_init(|| {
            let first = code & !0xff;
            let all = (first..first + 256).map(|code| char::from_u32(code).unwrap_or(' '));
            all.map(Self::work_out).collect()
        });
        letters[(code & 0xff) as usize]
    }

    /// Lower case, without accents; nothing for a mark that is only decoration.
    pub(super) fn folded(&self) -> &[char] {
        &self.folded[..usize::from(self.length)]
    }

    fn work_out(character: char) -> Self {
        let class = class_of(character);
        let mut letter = Self {
            class,
            is_normal: is_nfkc_quick(std::iter::once(character)) == IsNormalized::Yes
                && canonical_combining_class(character) == 0,
            folded: [character; 3],
            length: 0,
        };
        let mut push = |folded: char| {
            if let Some(place) = letter.folded.get_mut(usize::from(letter.length)) {
                *place = folded;
                letter.length += 1;
            }
        };
        match class {
            Class::Word => fold(character, push),
            Class::Dense | Class::Gap => push(character),
        }
        letter
    }
}

fn class_of(character: char) -> Class {
    match character as u32 {
        0x0e00..=0x0eff          // Thai, Lao
        | 0x1000..=0x109f        // Myanmar
        | 0x1100..=0x11ff        // Hangul letters
        | 0x1780..=0x17ff        // Khmer
        | 0x2e80..=0x2fdf        // radicals
        | 0x3005..=0x3007        // iteration marks
        | 0x3021..=0x302f
        | 0x3031..=0x303c
        | 0x3041..=0x30fa        // kana
        | 0x30fc..=0x318f        // kana, bopomofo, Hangul letters
        | 0x31a0..=0x31ff
        | 0x3400..=0x4dbf        // ideographs
        | 0x4e00..=0x9fff
        | 0xa960..=0xa97f
        | 0xac00..=0xd7ff        // Hangul
        | 0xf900..=0xfaff
        | 0x1b000..=0x1b16f
        | 0x20000..=0x3ffff => Class::Dense,
        _ if character.is_alphanumeric() || is_combining_mark(character) => Class::Word,
        _ => Class::Gap,
    }
}

/// Lower case without accents. Vowel signs of scripts such as Devanagari are letters and stay.
fn fold(character: char, mut emit: impl FnMut(char)) {
    match character {
        'ß' | 'ẞ' => {
            emit('s');
            emit('s');
        }
        'ς' => emit('σ'),
        // Arabic vowel marks and the stretching stroke are decoration.
        '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{640}' => {}
        '\u{300}'..='\u{36f}' => {}
        'أ' | 'إ' | 'آ' => emit('ا'),
        'ø' | 'Ø' => emit('o'),
        'ł' | 'Ł' => emit('l'),
        _ if (character as u32) < 0x590 || (0x1e00..0x2000).contains(&(character as u32)) => {
            decompose_canonical(character, |piece| {
                if !('\u{300}'..='\u{36f}').contains(&piece) {
                    piece.to_lowercase().for_each(&mut emit);
                }
            });
        }
        _ => character.to_lowercase().for_each(emit),
    }
}
