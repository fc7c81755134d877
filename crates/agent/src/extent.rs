//! How much a model is given before anybody has said anything, by the window it has.
//!
//! Prompt and tools take about six thousand tokens. A window of a few thousand would be full before the first
//! message, and a server that cuts off what does not fit forgets the rules first.

/// Windows below this get the short form.
pub(crate) const SHORT_BELOW: u32 = 16_000;
/// The tools of the short form.
pub(crate) const SHORT_TOOLS: [&str; 4] = ["read_file", "search_files", "terminal", "write_file"];

/// How much there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Full,
    /// A few tools and a short prompt.
    Short,
    /// A few sentences: a tiny model is confused by tools and by what others remember.
    Tiny,
}

impl Extent {
    /// What a model of this window is given; the one inside the program is a tiny one.
    pub(crate) fn of(embedded: bool, window: u32) -> Self {
        match embedded {
            true => Self::Tiny,
            false if window < SHORT_BELOW => Self::Short,
            false => Self::Full,
        }
    }

    /// Whether there is room for a tool. Sets that the user names for a conversation are meant.
    pub(crate) fn offers(self, tool: &str, named: bool) -> bool {
        match self {
            Self::Full => true,
            Self::Short => named || SHORT_TOOLS.contains(&tool),
            Self::Tiny => false,
        }
    }

    /// Whether there is room for skills, and for what others remember.
    pub(crate) fn is_full(self) -> bool {
        self == Self::Full
    }

    /// What the user should know about it; `named` says whether toolsets were named for the conversation, and
    /// `configured` is the window in the settings.
    pub(crate) fn notice(
        self,
        model: &str,
        window: u32,
        named: bool,
        configured: Option<u32>,
    ) -> Option<String> {
        match self {
            Self::Full => None,
            Self::Short => {
                let tools = match named {
                    true => "the tools you named".to_owned(),
                    false => format!(
                        "the tools {} (`--toolsets` brings others)",
                        SHORT_TOOLS.join(", ")
                    ),
                };
                Some(format!(
                    "{model} has a window of {window} tokens, so it gets a short prompt and {tools}; with \
                     {SHORT_BELOW} or more it gets everything"
                ))
            }
            Self::Tiny => {
                let tools = named.then(|| {
                    "the model inside the program gets no tools, so the toolsets you named have no effect"
                        .to_owned()
                });
                let wanted = configured.filter(|wanted| *wanted > window);
                let room = wanted.map(|wanted| {
                    format!(
                        "model.context_length is {wanted}, but the model inside the program holds {window} tokens"
                    )
                });
                let told: Vec<String> = tools.into_iter().chain(room).collect();
                let told = (!told.is_empty()).then(|| told.join("; "))?;
                Some(format!("{told}. `hermes model` chooses another model"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_the_window() {
        for (embedded, window, expected) in [
            (true, 1_000_000, Extent::Tiny),
            (false, 4_096, Extent::Short),
            (false, 15_999, Extent::Short),
            (false, 16_000, Extent::Full),
            (false, 200_000, Extent::Full),
        ] {
            assert_eq!(Extent::of(embedded, window), expected, "{window}");
        }
    }

    #[test]
    fn what_cannot_be_had_is_said() {
        let tiny = |named, configured| Extent::Tiny.notice("m", 8_192, named, configured);
        assert_eq!(tiny(false, None), None);
        assert_eq!(tiny(false, Some(4_096)), None);
        let both = tiny(true, Some(32_768)).unwrap();
        assert!(both.contains("no effect; model.context_length is 32768, but"));
        let short = |named| Extent::Short.notice("m", 8_192, named, None).unwrap();
        assert!(short(false).contains("read_file, search_files, terminal, write_file"));
        assert!(short(true).contains("the tools you named"));
        assert_eq!(Extent::Full.notice("m", 8_192, true, Some(9_000)), None);
    }
}
