//! Blocks of markdown to lines.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::fence;
use super::math;
use super::page::Page;
use super::table::Table;
use crate::highlight::highlight;
use crate::text::clean;
use crate::theme::Theme;

/// How a text ended, as far as the next one must know: the number of the last entry of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ending {
    numbered: Option<u64>,
}

/// Renders complete blocks; `before` is how the blocks before them ended.
pub(super) fn render(
    source: &str,
    columns: usize,
    theme: &Theme,
    before: Ending,
) -> (Vec<Line<'static>>, Ending) {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH;
    let mut renderer = Renderer::new(columns, theme, before);
    for event in Parser::new_ext(source, options) {
        renderer.event(event);
    }
    renderer.flush();
    (renderer.page.into_lines(), renderer.ending)
}

struct Link {
    address: String,
    text: String,
}

struct Renderer<'t> {
    theme: &'t Theme,
    page: Page,
    /// Numbers of the next entries of the lists that are open; none for those with dots.
    lists: Vec<Option<u64>>,
    styles: Vec<Style>,
    /// Lines of the paragraph, heading or cell under way.
    text: Vec<Vec<Span<'static>>>,
    links: Vec<Link>,
    table: Option<Table>,
    code: Option<(String, String)>,
    before: Ending,
    ending: Ending,
}

impl<'t> Renderer<'t> {
    fn new(columns: usize, theme: &'t Theme, before: Ending) -> Self {
        Self {
            theme,
            page: Page::new(columns),
            lists: Vec::new(),
            styles: vec![theme.text],
            text: Vec::new(),
            links: Vec::new(),
            table: None,
            code: None,
            before,
            ending: Ending::default(),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.push(&text, self.style()),
            },
            Event::Code(text) => self.push(&text, self.style().patch(self.theme.code)),
            Event::Html(text) => {
                for line in text.lines() {
                    self.push(line, self.theme.faint);
                    self.line_break();
                }
            }
            Event::InlineHtml(text) if text.starts_with("<br") => self.line_break(),
            Event::InlineHtml(text) => self.push(&text, self.theme.faint),
            Event::SoftBreak | Event::HardBreak => self.line_break(),
            Event::Rule => {
                self.flush();
                let width = self.page.room().min(40);
                self.block(&[Line::from(vec![Span::styled(
                    "─".repeat(width),
                    self.theme.faint,
                )])]);
                self.page.part();
            }
            Event::TaskListMarker(done) => {
                let (mark, style) = if done {
                    ("☑ ", self.theme.good)
                } else {
                    ("☐ ", self.theme.faint)
                };
                self.push(mark, style);
            }
            Event::InlineMath(text) => self.formula(&text, "$"),
            Event::DisplayMath(text) => self.formula(&text, "$$"),
            // Not asked of the parser.
            Event::FootnoteReference(text) => self.push(&text, self.style()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.flush(),
            Tag::Heading { level, .. } => {
                self.flush();
                self.styles.push(heading(level, self.theme));
            }
            Tag::BlockQuote(_) => {
                self.flush();
                let bar = Span::styled("▌ ", self.theme.faint);
                self.page.enter(bar.clone(), bar);
                self.styles
                    .push(self.style().add_modifier(Modifier::ITALIC));
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(number) => {
                self.flush();
                let first = self.page.is_empty() && self.lists.is_empty();
                let goes_on = self.before.numbered.filter(|_| first).map(|last| last + 1);
                self.lists
                    .push(number.map(|number| goes_on.unwrap_or(number)));
            }
            Tag::Item => self.item(),
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead => {
                self.styles
                    .push(self.theme.label.add_modifier(Modifier::BOLD));
                self.table_row();
            }
            Tag::TableRow => self.table_row(),
            tag => self.start_inline(tag),
        }
    }

    fn start_inline(&mut self, tag: Tag<'_>) {
        let style = match tag {
            Tag::Emphasis => self.style().add_modifier(Modifier::ITALIC),
            Tag::Strong => self.style().patch(self.theme.strong),
            Tag::Strikethrough => self.style().add_modifier(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(Link {
                    address: dest_url.into_string(),
                    text: String::new(),
                });
                self.style()
                    .patch(self.theme.accent)
                    .add_modifier(Modifier::UNDERLINED)
            }
            // Cells say nothing at their start, and the rest is not asked of the parser.
            _ => return,
        };
        self.styles.push(style);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.page.part();
            }
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
                self.page.part();
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.page.leave();
                self.styles.pop();
                self.page.part();
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => self.list_end(),
            TagEnd::Item => {
                self.flush();
                if self.page.is_fresh() {
                    self.block(&[Line::default()]);
                }
                self.page.leave();
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    let room = self.page.room();
                    self.block(&table.lines(room, self.theme));
                    self.page.part();
                }
            }
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text).concat();
                if let Some(row) = self.table.as_mut().and_then(|table| table.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.link(),
            // Rows say nothing at their end, and the rest is not asked of the parser.
            _ => {}
        }
    }

    fn list_end(&mut self) {
        let last = self
            .lists
            .pop()
            .flatten()
            .map(|next| next.saturating_sub(1));
        if self.lists.is_empty() {
            self.ending = Ending {
                numbered: last.filter(|_| self.page.is_outermost()),
            };
            self.page.part();
        }
    }

    fn item(&mut self) {
        self.flush();
        let depth = self.lists.len();
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            Some(None) | None => if depth % 2 == 1 { "• " } else { "◦ " }.to_owned(),
        };
        let rest = Span::raw(" ".repeat(mark.chars().count()));
        self.page.enter(Span::styled(mark, self.theme.accent), rest);
    }

    fn table_row(&mut self) {
        self.text.clear();
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    fn code_block(&mut self) {
        let Some((language, code)) = self.code.take() else {
            return;
        };
        let room = self.page.room();
        let code = clean(&code);
        let lines = highlight(&code, &language, self.theme);
        if !lines.is_empty() {
            let rows: Vec<Line<'static>> = lines
                .iter()
                .flat_map(|line| fence::rows(line, room))
                .collect();
            self.block(&rows);
            self.page.part();
        }
    }

    fn link(&mut self) {
        self.styles.pop();
        let Some(link) = self.links.pop() else { return };
        let address = link
            .address
            .strip_prefix("mailto:")
            .unwrap_or(&link.address)
            .to_owned();
        let text = link.text.trim();
        if text != address && format!("{text}/") != address && !address.is_empty() {
            self.push(&format!(" ({address})"), self.theme.faint);
        }
    }

    /// What is no simple formula is shown as it was written: it may be about money.
    fn formula(&mut self, text: &str, sign: &str) {
        match math::plain(text) {
            Some(formula) => self.push(&formula, self.style().add_modifier(Modifier::ITALIC)),
            None => self.push(&format!("{sign}{text}{sign}"), self.style()),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    /// Adds text to the paragraph under way. Entities may stand for what was removed from the source.
    fn push(&mut self, text: &str, style: Style) {
        let text = clean(text).replace('\n', " ");
        for link in &mut self.links {
            link.text.push_str(&text);
        }
        if self.text.is_empty() {
            self.text.push(Vec::new());
        }
        if let Some(line) = self.text.last_mut() {
            line.push(Span::styled(text, style));
        }
    }

    /// Lines of the author stay lines, but for cells and headings, which have one.
    fn line_break(&mut self) {
        if self.table.is_some() {
            self.push(" ", self.style());
        } else {
            self.text.push(Vec::new());
        }
    }

    fn block(&mut self, lines: &[Line<'static>]) {
        self.page.put(lines);
        self.ending = Ending::default();
    }

    /// Puts out the paragraph under way.
    fn flush(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        while text
            .last()
            .is_some_and(|line| line.iter().all(|span| span.content.trim().is_empty()))
        {
            text.pop();
        }
        if !text.is_empty() {
            let lines: Vec<Line<'static>> = text.into_iter().map(Line::from).collect();
            self.block(&lines);
            self.page.join();
        }
    }
}

fn heading(level: HeadingLevel, theme: &Theme) -> Style {
    let bold = theme.label.add_modifier(Modifier::BOLD);
    match level {
        HeadingLevel::H1 => bold.add_modifier(Modifier::UNDERLINED),
        HeadingLevel::H2 => bold,
        HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => theme.label,
    }
}
