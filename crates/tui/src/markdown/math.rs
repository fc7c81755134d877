//! Simple formulas as the characters people would write.

/// Longer formulas are shown as they are written.
const LONGEST: usize = 400;
/// Groups inside of groups.
const DEEPEST: usize = 8;

/// What commands stand for, in pairs.
const SIGNS: &str = "\
    alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ \
    lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω \
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω times × cdot · div ÷ pm ± \
    mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ ll ≪ gg ≫ approx ≈ equiv ≡ sim ∼ propto ∝ infty ∞ sum ∑ prod ∏ \
    int ∫ partial ∂ nabla ∇ in ∈ notin ∉ subset ⊂ subseteq ⊆ supset ⊃ cup ∪ cap ∩ emptyset ∅ setminus ∖ \
    forall ∀ exists ∃ neg ¬ land ∧ lor ∨ oplus ⊕ otimes ⊗ to → rightarrow → leftarrow ← Rightarrow ⇒ \
    Leftarrow ⇐ Leftrightarrow ⇔ leftrightarrow ↔ mapsto ↦ implies ⇒ iff ⇔ circ ∘ degree ° angle ∠ \
    perp ⊥ parallel ∥ langle ⟨ rangle ⟩ ldots … dots … cdots ⋯ prime ′ hbar ℏ ell ℓ";
/// Commands that are words.
const NAMES: [&str; 11] = [
    "sin", "cos", "tan", "log", "ln", "exp", "lim", "max", "min", "mod", "det",
];

/// Small characters above the line, in the order of [`SMALL`].
const ABOVE: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷˣʸᶻᵀ′";
const SMALL: &str = "0123456789+-=()niabcdefghjklmoprstuvwxyzT′";
/// Small characters below the line, in the order of [`SMALL_BELOW`].
const BELOW: &str = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ";
const SMALL_BELOW: &str = "0123456789+-=()aehijklmnoprstuvx";

/// A formula in plain characters; nothing when it has something that has none, or nothing that needs it.
pub(super) fn plain(formula: &str) -> Option<String> {
    if formula.len() > LONGEST || !formula.contains(['\\', '^', '_']) {
        return None;
    }
    let mut rest = formula.trim();
    let mut out = String::new();
    while !rest.is_empty() {
        out.push_str(&piece(&mut rest, 0)?);
    }
    Some(out)
}

/// The next character, command or group.
fn piece(rest: &mut &str, depth: usize) -> Option<String> {
    if depth > DEEPEST {
        return None;
    }
    let first = take(rest)?;
    match first {
        '\\' => command(rest, depth),
        '{' => group(rest, depth),
        '}' | '&' | '#' | '%' => None,
        '^' => {
            let raised = piece(rest, depth + 1)?;
            Some(small(&raised, SMALL, ABOVE).unwrap_or_else(|| marked('^', &raised)))
        }
        '_' => {
            let lowered = piece(rest, depth + 1)?;
            Some(small(&lowered, SMALL_BELOW, BELOW).unwrap_or_else(|| marked('_', &lowered)))
        }
        '\'' => Some("′".to_owned()),
        letter => Some(letter.to_string()),
    }
}

fn take(rest: &mut &str) -> Option<char> {
    let mut letters = rest.chars();
    let first = letters.next()?;
    *rest = letters.as_str();
    Some(first)
}

/// What is behind an opening brace, up to its end.
fn group(rest: &mut &str, depth: usize) -> Option<String> {
    let mut out = String::new();
    loop {
        match rest.strip_prefix('}') {
            Some(behind) => {
                *rest = behind;
                return Some(out);
            }
            None => out.push_str(&piece(rest, depth + 1)?),
        }
    }
}

/// What a command takes: a group, or the next character.
fn argument(rest: &mut &str, depth: usize) -> Option<String> {
    *rest = rest.trim_start();
    piece(rest, depth + 1)
}

fn command(rest: &mut &str, depth: usize) -> Option<String> {
    let letters = rest
        .find(|letter: char| !letter.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    let length = match letters {
        0 => rest.chars().next()?.len_utf8(),
        letters => letters,
    };
    let (name, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    match name {
        "frac" | "dfrac" | "tfrac" => {
            let (above, below) = (argument(rest, depth)?, argument(rest, depth)?);
            Some(format!("{}/{}", joined(&above), joined(&below)))
        }
        "sqrt" => Some(format!("√{}", joined(&argument(rest, depth)?))),
        "text" | "mathrm" | "mathbf" | "mathit" | "mathsf" | "operatorname" | "boxed" => {
            argument(rest, depth)
        }
        "mathbb" => {
            let set = argument(rest, depth)?;
            let sets = [("N", "ℕ"), ("Z", "ℤ"), ("Q", "ℚ"), ("R", "ℝ"), ("C", "ℂ")];
            let known = sets.iter().find(|(letter, _)| *letter == set)?;
            Some(known.1.to_owned())
        }
        "left" | "right" | "!" => Some(String::new()),
        "quad" | "," | ";" | ":" | " " => Some(" ".to_owned()),
        "{" | "}" | "%" | "$" | "_" | "&" | "#" => Some(name.to_owned()),
        "|" => Some("‖".to_owned()),
        name if NAMES.contains(&name) => Some(name.to_owned()),
        name => sign(name).map(str::to_owned),
    }
}

fn sign(name: &str) -> Option<&'static str> {
    let mut words = SIGNS.split_whitespace();
    while let (Some(known), Some(sign)) = (words.next(), words.next()) {
        if known == name {
            return Some(sign);
        }
    }
    None
}

/// Every character in its small form, where all have one.
fn small(text: &str, from: &str, to: &str) -> Option<String> {
    text.chars()
        .map(|letter| {
            let letter = if letter == '−' { '-' } else { letter };
            let place = from.chars().position(|known| known == letter)?;
            to.chars().nth(place)
        })
        .collect()
}

fn marked(mark: char, text: &str) -> String {
    match text.chars().count() {
        1 => format!("{mark}{text}"),
        _ => format!("{mark}({text})"),
    }
}

/// In brackets, when it is more than one thing.
fn joined(text: &str) -> String {
    match text.chars().all(char::is_alphanumeric) && !text.is_empty() {
        true => text.to_owned(),
        false => format!("({text})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn formulas_are_written_in_characters_and_others_left_alone() {
        for (formula, shown) in [
            ("E = mc^2", "E = mc²"),
            ("x_{i+1} \\leq \\alpha^{2n}", "xᵢ₊₁ ≤ α²ⁿ"),
            ("\\frac{a+b}{2}", "(a+b)/2"),
            ("\\sqrt{x} \\to \\infty", "√x → ∞"),
            ("\\sum_{k=0}^{n} k", "∑ₖ₌₀ⁿ k"),
            ("f: \\mathbb{R} \\to \\mathbb{R}", "f: ℝ → ℝ"),
            ("e^{\\pi}", "e^π"),
            ("x^{A/B}", "x^(A/B)"),
            ("\\text{speed} \\cdot t", "speed · t"),
        ] {
            assert_eq!(plain(formula).as_deref(), Some(shown), "{formula}");
        }
        for formula in [
            "5 and ",
            "\\begin{matrix}",
            "{a^2",
            "a^",
            "\\unknown",
            "a & b^2",
        ] {
            assert_eq!(plain(formula), None, "{formula}");
        }
        assert_eq!(plain(&"{".repeat(300)), None);
        assert_eq!(plain(&format!("{}^2", "{".repeat(300))), None);
    }

    #[test]
    fn every_small_character_has_its_twin() {
        assert_eq!(SMALL.chars().count(), ABOVE.chars().count());
        assert_eq!(SMALL_BELOW.chars().count(), BELOW.chars().count());
    }

    proptest! {
        #[test]
        fn anything_is_a_formula_or_none(text in "[a-z{}^_ \\\\]{0,40}|.{0,40}") {
            plain(&text);
        }
    }
}
