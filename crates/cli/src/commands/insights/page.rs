//! The report for people.

use std::collections::BTreeMap;
use std::io;

use hermes_core::CostStatus;
use hermes_store::{Activity, Cost, Insights, Learned, ModelUse, Overview};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::layout::{Layout, Row};
use super::words::{
    WEEKDAYS, counted, date, grouped, lasting, money, record_label, record_value, share,
};
use crate::output::{Output, Style, one_line};
use crate::table::Table;

/// Longer lists are cut; `--json` has everything.
const MOST_ROWS: usize = 12;
const BUSY_HOURS: usize = 5;
/// Days of the plot, and characters of each at most.
const MOST_DAYS: usize = 90;
const WIDEST_DAY: usize = 3;
/// Columns that the table of records takes.
const WHOLE_RECORDS: usize = 72;

pub(super) struct Page<'a> {
    pub(super) days: u32,
    pub(super) source: Option<&'a str>,
    pub(super) zone: &'a TimeZone,
    pub(super) layout: Layout,
}

impl Page<'_> {
    pub(super) fn print(&self, found: &Insights, output: &mut Output) -> io::Result<()> {
        let days = counted(self.days.into(), "day");
        let source = self
            .source
            .map_or_else(String::new, |source| format!(", only {source}"));
        let title = format!("Last {days}{source}");
        output.line(output.paint(Style::Strong, &title))?;
        if found.overview.sessions == 0 && found.models.is_empty() {
            return output.line("  no conversations; --days N looks further back");
        }
        self.overview(&found.overview, output)?;
        let models = found.models.iter().map(model_row).collect();
        self.section("Models", models, output)?;
        self.section("Cost", costs(&found.models), output)?;
        let platforms = found.platforms.iter().map(|platform| Row {
            label: platform.platform.clone(),
            amount: platform.sessions,
            cells: vec![
                counted(platform.sessions, "session"),
                counted(platform.messages, "message"),
                counted(platform.usage.total(), "token"),
            ],
        });
        self.section("Platforms", platforms.collect(), output)?;
        let calls: u64 = found.tools.iter().map(|tool| tool.calls).sum();
        let tools = found.tools.iter().map(|tool| Row {
            label: tool.tool.clone(),
            amount: tool.calls,
            cells: vec![
                counted(tool.calls, "call"),
                format!("{:.1} %", share(tool.calls, calls)),
            ],
        });
        self.section("Tools", tools.collect(), output)?;
        let skills = found.skills.iter().map(|skill| Row {
            label: skill.skill.clone(),
            amount: skill.total(),
            cells: vec![
                format!("read {}", counted(skill.loads, "time")),
                format!("changed {}", counted(skill.edits, "time")),
            ],
        });
        self.section("Skills", skills.collect(), output)?;
        self.learned(&found.learned, output)?;
        self.activity(&found.activity, output)?;
        self.records(found, output)
    }

    fn overview(&self, overview: &Overview, output: &mut Output) -> io::Result<()> {
        if let (Some(first), Some(last)) = (overview.first_started_at, overview.last_started_at) {
            let day = |seconds| date(seconds, self.zone, "%Y-%m-%d");
            output.line(format!("  {} to {}", day(first), day(last)))?;
        }
        heading("Overview", output)?;
        let mut say = |label: &str, text: String| output.item(&format!("  {label:<11} "), &text);
        let usage = &overview.usage;
        say("Sessions", grouped(overview.sessions))?;
        say("Messages", grouped(overview.messages))?;
        say(
            "Written",
            format!(
                "{} by you, {} by the agent, {} by tools",
                grouped(overview.user_messages),
                grouped(overview.assistant_messages),
                grouped(overview.tool_messages)
            ),
        )?;
        say("Tool calls", grouped(overview.tool_calls))?;
        say("Tokens", grouped(usage.total()))?;
        say(
            "",
            format!(
                "{} in, {} out, {} from cache, {} to cache",
                grouped(usage.input_tokens),
                grouped(usage.output_tokens),
                grouped(usage.cache_read_tokens),
                grouped(usage.cache_write_tokens)
            ),
        )?;
        say("Cost", overall_cost(overview))?;
        if overview.ended_sessions > 0 {
            let each = overview.ended_seconds / overview.ended_sessions as f64;
            let ended = counted(overview.ended_sessions, "session");
            let total = lasting(overview.ended_seconds);
            say(
                "Time",
                format!("{total} in {ended} that ended, {} each", lasting(each)),
            )?;
        }
        Ok(())
    }

    fn section(&self, title: &str, mut rows: Vec<Row>, output: &mut Output) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        heading(title, output)?;
        let more = rows.len().saturating_sub(MOST_ROWS);
        rows.truncate(MOST_ROWS);
        self.layout.print(&rows, output)?;
        if more > 0 {
            let text = format!("  and {} more", grouped(more as u64));
            output.line(output.paint(Style::Faint, &text))?;
        }
        Ok(())
    }

    fn activity(&self, activity: &Activity, output: &mut Output) -> io::Result<()> {
        if activity.active_days == 0 {
            return Ok(());
        }
        let days = WEEKDAYS.iter().zip(activity.by_weekday);
        let rows = days.map(|(day, count)| Row {
            label: (*day).to_owned(),
            amount: count,
            cells: vec![grouped(count)],
        });
        self.section("Sessions by weekday", rows.collect(), output)?;
        self.dates(activity, output)?;
        self.hours(activity, output)?;
        let mut hours: Vec<_> = activity.by_hour.iter().enumerate().collect();
        hours.retain(|(_, count)| **count > 0);
        hours.sort_by_key(|(hour, count)| (std::cmp::Reverse(**count), *hour));
        let hours = hours.iter().take(BUSY_HOURS);
        let hours: Vec<_> = hours
            .map(|(hour, count)| format!("{hour:02}:00 ({count})"))
            .collect();
        output.item("  ", &format!("Busiest at {}", hours.join(", ")))?;
        let days = format!(
            "{} with conversations, {} in a row at most",
            counted(activity.active_days, "day"),
            grouped(activity.longest_streak)
        );
        output.item("  ", &days)
    }

    /// The last days, as many as fit, up to the last one with a conversation.
    fn dates(&self, activity: &Activity, output: &mut Output) -> io::Result<()> {
        let most = self.layout.room().min(MOST_DAYS).min(self.days as usize);
        let Some(days) = days(activity, most).filter(|days| days.len() > 1) else {
            return Ok(());
        };
        heading("Sessions by date", output)?;
        let wide = (self.layout.room() / days.len()).clamp(1, WIDEST_DAY);
        let counts: Vec<u64> = days.iter().map(|(_, count)| *count).collect();
        self.plot(&counts, wide, output)?;
        let ends = [days.first(), days.last()];
        let ends: Vec<String> = ends
            .into_iter()
            .flatten()
            .map(|(day, _)| day.to_string())
            .collect();
        output.line(output.paint(Style::Faint, &format!("  {}", ends.join(" to "))))
    }

    fn hours(&self, activity: &Activity, output: &mut Output) -> io::Result<()> {
        heading("Sessions by hour", output)?;
        let wide = if self.layout.room() >= 48 { 2 } else { 1 };
        self.plot(&activity.by_hour, wide, output)?;
        let axis: String = ["0", "6", "12", "18"]
            .map(|hour| format!("{hour:<width$}", width = 6 * wide))
            .concat();
        output.line(output.paint(Style::Faint, &format!("  {}", axis.trim_end())))
    }

    fn plot(&self, counts: &[u64], wide: usize, output: &mut Output) -> io::Result<()> {
        for row in self.layout.columns(counts, wide) {
            let row = row.trim_end();
            output.line(format!("  {}", output.paint(Style::Good, row)))?;
        }
        Ok(())
    }

    /// What the agent kept, where it kept anything.
    fn learned(&self, learned: &Learned, output: &mut Output) -> io::Result<()> {
        if learned.is_empty() {
            return Ok(());
        }
        heading("Learned", output)?;
        let mut say = |label: &str, text: String| output.item(&format!("  {label:<11} "), &text);
        say("Looked back", counted(learned.reviews, "time"))?;
        say(
            "Memory",
            match learned.entries_kept {
                1 => "1 entry kept".to_owned(),
                kept => format!("{} entries kept", grouped(kept)),
            },
        )?;
        say(
            "Skills",
            format!(
                "{} written, {} mended",
                grouped(learned.skills_written),
                grouped(learned.skills_mended)
            ),
        )?;
        for change in &learned.latest {
            let summary = one_line(&change.summary);
            say(&date(change.at, self.zone, "%Y-%m-%d"), summary)?;
        }
        Ok(())
    }

    fn records(&self, found: &Insights, output: &mut Output) -> io::Result<()> {
        if found.top_sessions.is_empty() {
            return Ok(());
        }
        if output
            .columns()
            .is_some_and(|columns| columns < WHOLE_RECORDS)
        {
            return self.narrow_records(found, output);
        }
        output.line("")?;
        let mut table = Table::new(["Records", "", "On", "Session"]);
        for top in &found.top_sessions {
            table.row([
                record_label(top.record).to_owned(),
                record_value(top),
                date(top.started_at, self.zone, "%Y-%m-%d"),
                top.session.to_string(),
            ]);
        }
        table.print(output)
    }

    /// The records where a table has no room.
    fn narrow_records(&self, found: &Insights, output: &mut Output) -> io::Result<()> {
        heading("Records", output)?;
        for top in &found.top_sessions {
            let label = format!("  {:<15}  ", record_label(top.record));
            output.item(&label, &record_value(top))?;
            let day = date(top.started_at, self.zone, "%Y-%m-%d");
            output.item("    ", &format!("{day} {}", top.session))?;
        }
        Ok(())
    }
}

fn heading(text: &str, output: &mut Output) -> io::Result<()> {
    output.line("")?;
    output.line(output.paint(Style::Strong, text))
}

fn model_row(model: &ModelUse) -> Row {
    Row {
        label: model.model.clone(),
        amount: model.usage.total(),
        cells: vec![
            counted(model.usage.total(), "token"),
            counted(model.calls, "call"),
            short_cost(&model.cost),
        ],
    }
}

/// What is known to have been paid, model by model; nothing where there is one bar at most.
fn costs(models: &[ModelUse]) -> Vec<Row> {
    let mut known: Vec<(&ModelUse, f64)> = models
        .iter()
        .filter_map(|model| Some((model, model.cost.known_usd?)))
        .filter(|(_, dollars)| *dollars > 0.0)
        .collect();
    known.sort_by(|one, other| other.1.total_cmp(&one.1));
    let row = |(model, dollars): (&ModelUse, f64)| Row {
        label: model.model.clone(),
        // Millionths, because bars are whole numbers.
        amount: (dollars * 1e6) as u64,
        cells: vec![short_cost(&model.cost)],
    };
    match known.len() {
        0 | 1 => Vec::new(),
        _ => known.into_iter().map(row).collect(),
    }
}

/// Each of the last days with its count, also those without a conversation.
fn days(activity: &Activity, most: usize) -> Option<Vec<(Date, u64)>> {
    let (last, _) = activity.by_date.last()?;
    let (first, _) = activity.by_date.first()?;
    let mut counts: BTreeMap<Date, u64> = activity.by_date.iter().copied().collect();
    let mut days = Vec::new();
    let mut day = *last;
    while days.len() < most && day >= *first {
        days.push((day, counts.remove(&day).unwrap_or(0)));
        day = day.yesterday().ok()?;
    }
    days.reverse();
    Some(days)
}

/// What a model cost: `~` where a price list was used, `?` where a part is missing.
fn short_cost(cost: &Cost) -> String {
    match (cost.status(), cost.known_usd) {
        (CostStatus::Included, _) => "included".to_owned(),
        (CostStatus::Unknown, Some(known)) => format!("~{} + ?", money(known)),
        (CostStatus::Estimated, Some(known)) => format!("~{}", money(known)),
        (CostStatus::Actual, Some(known)) => money(known),
        (CostStatus::Unknown | CostStatus::Estimated | CostStatus::Actual, None) => {
            "unknown".to_owned()
        }
    }
}

fn overall_cost(overview: &Overview) -> String {
    let cost = &overview.cost;
    let mut parts = Vec::new();
    parts.extend(cost.known_usd.map(money));
    if cost.estimated_calls > 0 {
        parts.push(format!(
            "estimated for {}",
            counted(cost.estimated_calls, "call")
        ));
    }
    if cost.included_calls > 0 {
        parts.push(format!("{} included", counted(cost.included_calls, "call")));
    }
    if cost.unknown_calls > 0 {
        parts.push(format!(
            "unknown for {}",
            counted(cost.unknown_calls, "call")
        ));
    }
    if parts.is_empty() {
        return "none".to_owned();
    }
    parts.join(", ")
}
