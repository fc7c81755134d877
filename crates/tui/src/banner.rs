//! What is shown at the start.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::amount::plural;
use crate::text::{clean_line, cut, cut_path, spans_width, width};
use crate::theme::Theme;

/// From this many columns there is room for two columns and a frame.
const WIDE: usize = 80;
/// A wider frame is harder to read.
const WIDEST: usize = 120;
/// Sets of tools, and servers, that are listed.
const MOST_LISTED: usize = 8;
/// In fewer columns there is no tip.
const TIP: usize = 50;

/// What is known when a session starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Banner {
    /// The version of the program.
    pub version: String,
    /// The model, shortened.
    pub model: String,
    /// Who serves it.
    pub vendor: String,
    /// The directory the agent works in.
    pub directory: String,
    /// The id of the session.
    pub session: String,
    /// The profile, when it has a name.
    pub profile: Option<String>,
    /// Sets of tools and the tools in them.
    pub tools: Vec<(String, Vec<String>)>,
    /// Names of skills.
    pub skills: Vec<String>,
    /// MCP servers.
    pub servers: Vec<Server>,
    /// A mode in which the agent may do more than usual.
    pub warning: Option<String>,
    /// Something worth trying.
    pub tip: Option<String>,
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// How many tools it has; none when it does not answer.
    pub tools: Option<usize>,
}

/// How much the banner says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Everything, when the terminal is wide enough.
    Full,
    /// A few lines.
    Compact,
}

/// A banner as it stands above a conversation. Whoever shows it knows how much room there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// What it says.
    pub banner: Banner,
    /// How much of it.
    pub form: Form,
    /// Whether what was on the screen moves up first, into the terminal's history.
    pub cleared: bool,
}

/// Rows that a window needs below a banner: a rule, the draft and the status bar.
const BELOW: usize = 3;

impl Heading {
    /// Its lines.
    pub(crate) fn lines(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        self.banner.lines(self.form, columns, theme)
    }

    /// The same for a window of so many rows: without the large letters, when they would push the top of it out.
    pub(crate) fn lines_within(
        &self,
        columns: usize,
        rows: usize,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let lines = self.lines(columns, theme);
        if lines.len() + BELOW <= rows || theme.logo.is_empty() {
            return lines;
        }
        let mut theme = theme.clone();
        theme.logo.clear();
        self.lines(columns, &theme)
    }
}

impl Banner {
    /// Its lines.
    pub fn lines(&self, form: Form, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut out = match form {
            Form::Full if columns >= WIDE => self.full(columns, theme),
            Form::Full | Form::Compact => self.compact(columns, theme),
        };
        if form == Form::Compact {
            return out;
        }
        let mut below = |text: String, style| {
            out.push(Line::from(vec![Span::styled(cut(&text, columns), style)]));
        };
        if !theme.words.welcome.is_empty() {
            below(clean_line(&theme.words.welcome), theme.banner.text);
        }
        if let Some(tip) = self.tip.as_ref().filter(|_| columns >= TIP) {
            below(format!("Tip: {}", clean_line(tip)), theme.banner.dim);
        }
        out
    }

    fn compact(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let styles = &theme.banner;
        let line =
            |text: String, style: Style| Line::from(vec![Span::styled(cut(&text, columns), style)]);
        let mut out = vec![
            line(self.title(theme), styles.title),
            line(format!("  {}", self.model()), styles.text),
            line(
                format!(
                    "  {}",
                    cut_path(&clean_line(&self.directory), columns.saturating_sub(2))
                ),
                styles.dim,
            ),
        ];
        out.push(line(format!("  {}", self.counts()), styles.dim));
        out.extend(
            self.notes(theme)
                .into_iter()
                .map(|(text, style)| line(format!("  {text}"), style)),
        );
        out
    }

    fn full(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let outer = columns.min(WIDEST);
        let hero = theme
            .hero
            .iter()
            .map(|line| spans_width(&line.spans))
            .max()
            .unwrap_or(0);
        let left = hero.max(outer / 3).min(outer / 2);
        // Borders, a space inside each, and two between the columns.
        let right = outer.saturating_sub(left + 6);
        let mut out = Vec::new();
        if theme
            .logo
            .iter()
            .all(|line| spans_width(&line.spans) <= outer)
        {
            out.extend(theme.logo.iter().cloned());
        }
        out.push(self.top(outer, theme));
        let (about, lists) = (self.about(left, theme), self.lists(right, theme));
        for row in 0..about.len().max(lists.len()) {
            let mut spans = vec![Span::styled("│ ", theme.banner.border)];
            spans.extend(filled(about.get(row), left));
            spans.push(Span::raw("  "));
            spans.extend(filled(lists.get(row), right));
            spans.push(Span::styled(" │", theme.banner.border));
            out.push(Line::from(spans));
        }
        let bottom = format!("╰{}╯", "─".repeat(outer.saturating_sub(2)));
        out.push(Line::from(vec![Span::styled(bottom, theme.banner.border)]));
        out
    }

    fn top(&self, outer: usize, theme: &Theme) -> Line<'static> {
        let title = format!(" {} ", cut(&self.title(theme), outer.saturating_sub(8)));
        let rest = outer.saturating_sub(width(&title) + 3);
        Line::from(vec![
            Span::styled("╭─", theme.banner.border),
            Span::styled(title, theme.banner.title),
            Span::styled(format!("{}╮", "─".repeat(rest)), theme.banner.border),
        ])
    }

    /// The left column: the picture and where one is.
    fn about(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let styles = &theme.banner;
        let line = |text: String, style: Style| Line::from(vec![Span::styled(text, style)]);
        let mut out: Vec<Line<'static>> = theme
            .hero
            .iter()
            .filter(|line| spans_width(&line.spans) <= columns)
            .cloned()
            .collect();
        if !out.is_empty() {
            out.push(Line::default());
        }
        out.push(line(cut(&clean_line(&self.model), columns), styles.accent));
        if !self.vendor.is_empty() {
            out.push(line(cut(&clean_line(&self.vendor), columns), styles.text));
        }
        out.push(line(
            cut_path(&clean_line(&self.directory), columns),
            styles.dim,
        ));
        out.push(line(cut(&clean_line(&self.session), columns), styles.dim));
        out.extend(self.profile.iter().map(|name| {
            line(
                cut(&format!("profile {}", clean_line(name)), columns),
                styles.text,
            )
        }));
        out
    }

    /// The right column: what the agent has.
    fn lists(&self, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
        let styles = &theme.banner;
        let head = |text: &str| Line::from(vec![Span::styled(text.to_owned(), styles.accent)]);
        let more = |all: usize, of: &str| {
            let hidden = all.saturating_sub(MOST_LISTED);
            (hidden > 0).then(|| {
                Line::from(vec![Span::styled(
                    format!("and {}", plural(hidden, of)),
                    styles.dim,
                )])
            })
        };
        let mut out = vec![head("Tools")];
        for (set, tools) in self.tools.iter().take(MOST_LISTED) {
            out.push(listed(
                &format!("{}: ", clean_line(set)),
                tools,
                columns,
                theme,
            ));
        }
        out.extend(more(self.tools.len(), "more set"));
        if !self.servers.is_empty() {
            out.push(head("MCP servers"));
            out.extend(
                self.servers
                    .iter()
                    .take(MOST_LISTED)
                    .map(|server| server.line(columns, theme)),
            );
            out.extend(more(self.servers.len(), "more server"));
        }
        if !self.skills.is_empty() {
            out.push(head("Skills"));
            out.push(listed("", &self.skills, columns, theme));
        }
        out.push(Line::default());
        out.push(Line::from(vec![Span::styled(
            cut(&self.counts(), columns),
            styles.dim,
        )]));
        out.extend(
            self.notes(theme)
                .into_iter()
                .map(|(text, style)| Line::from(vec![Span::styled(cut(&text, columns), style)])),
        );
        out
    }

    fn title(&self, theme: &Theme) -> String {
        format!("⚕ {} {}", theme.agent_name, clean_line(&self.version))
    }

    fn model(&self) -> String {
        let (model, vendor) = (clean_line(&self.model), clean_line(&self.vendor));
        if vendor.is_empty() {
            model
        } else {
            format!("{model} · {vendor}")
        }
    }

    fn counts(&self) -> String {
        let tools = self.tools.iter().map(|(_, tools)| tools.len()).sum();
        [
            (tools, "tool"),
            (self.skills.len(), "skill"),
            (self.servers.len(), "MCP server"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, of)| plural(count, of))
        .chain(["/help".to_owned()])
        .collect::<Vec<_>>()
        .join(" · ")
    }

    fn notes(&self, theme: &Theme) -> Vec<(String, Style)> {
        let down = self
            .servers
            .iter()
            .filter(|server| server.tools.is_none())
            .count();
        let mut out = Vec::new();
        if down > 0 {
            out.push((
                format!("⚠ {} not answering", plural(down, "MCP server")),
                theme.warn,
            ));
        }
        out.extend(
            self.warning
                .iter()
                .map(|text| (format!("⚠ {}", clean_line(text)), theme.bad)),
        );
        out
    }
}

impl Server {
    fn line(&self, columns: usize, theme: &Theme) -> Line<'static> {
        let name = clean_line(&self.name);
        match self.tools {
            Some(tools) => Line::from(vec![Span::styled(
                cut(&format!("{name}: {}", plural(tools, "tool")), columns),
                theme.banner.text,
            )]),
            None => Line::from(vec![Span::styled(
                cut(&format!("{name}: not answering"), columns),
                theme.warn,
            )]),
        }
    }
}

/// As many names as fit, and how many more there are.
fn listed(head: &str, names: &[String], columns: usize, theme: &Theme) -> Line<'static> {
    let mut shown = String::new();
    let mut count = 0;
    for name in names {
        let next = if count == 0 {
            clean_line(name)
        } else {
            format!("{shown}, {}", clean_line(name))
        };
        let left = names.len() - count - 1;
        let ending = if left == 0 {
            0
        } else {
            width(&format!(" and {left} more"))
        };
        if width(head) + width(&next) + ending > columns {
            break;
        }
        shown = next;
        count += 1;
    }
    let left = names.len() - count;
    let ending = match (count, left) {
        (_, 0) => String::new(),
        (0, left) => left.to_string(),
        (_, left) => format!(" and {left} more"),
    };
    let head = cut(head, columns.saturating_sub(width(&ending)));
    Line::from(vec![
        Span::styled(head, theme.banner.dim),
        Span::styled(shown, theme.banner.text),
        Span::styled(ending, theme.banner.dim),
    ])
}

fn filled(line: Option<&Line<'static>>, columns: usize) -> Vec<Span<'static>> {
    let mut spans = line.map(|line| line.spans.clone()).unwrap_or_default();
    let missing = columns.saturating_sub(spans_width(&spans));
    spans.push(Span::raw(" ".repeat(missing)));
    spans
}

#[cfg(test)]
#[path = "banner_tests.rs"]
mod tests;
