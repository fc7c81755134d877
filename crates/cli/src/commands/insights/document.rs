//! The report for programs, by the reference's keys.

use hermes_store::{Activity, Insights, ModelUse, Overview, PlatformUse, TopSession};
use jiff::tz::TimeZone;
use serde_json::{Value as Json, json};

use super::words::{self, WEEKDAYS};
use crate::args::report::InsightsArgs;
use crate::when;

pub(super) fn document(args: &InsightsArgs, found: &Insights, now: f64, zone: &TimeZone) -> Json {
    let calls: u64 = found.tools.iter().map(|tool| tool.calls).sum();
    let tools: Vec<_> = found
        .tools
        .iter()
        .map(|tool| {
            json!({
                "tool": tool.tool,
                "count": tool.calls,
                "percentage": words::share(tool.calls, calls),
            })
        })
        .collect();
    let top = found.top_sessions.iter();
    json!({
        "days": args.days,
        "source_filter": args.source,
        "empty": found.overview.sessions == 0,
        "generated_at": when::iso(now),
        "overview": overview(&found.overview),
        "models": found.models.iter().map(model).collect::<Vec<_>>(),
        "platforms": found.platforms.iter().map(platform).collect::<Vec<_>>(),
        "tools": tools,
        "activity": activity(&found.activity),
        "top_sessions": top.map(|session| top_session(session, zone)).collect::<Vec<_>>(),
    })
}

fn overview(overview: &Overview) -> Json {
    let each = |amount: f64, count: u64| {
        if count == 0 {
            0.0
        } else {
            amount / count as f64
        }
    };
    let usage = &overview.usage;
    json!({
        "total_sessions": overview.sessions,
        "total_messages": overview.messages,
        "total_tool_calls": overview.tool_calls,
        "total_input_tokens": usage.input_tokens,
        "total_output_tokens": usage.output_tokens,
        "total_cache_read_tokens": usage.cache_read_tokens,
        "total_cache_write_tokens": usage.cache_write_tokens,
        "total_tokens": usage.total(),
        "estimated_cost": overview.cost.estimated_usd,
        "actual_cost": overview.cost.actual_usd,
        "total_hours": overview.ended_seconds / 3_600.0,
        "avg_session_duration": each(overview.ended_seconds, overview.ended_sessions),
        "avg_messages_per_session": each(overview.messages as f64, overview.sessions),
        "avg_tokens_per_session": each(usage.total() as f64, overview.sessions),
        "user_messages": overview.user_messages,
        "assistant_messages": overview.assistant_messages,
        "tool_messages": overview.tool_messages,
        "date_range_start": overview.first_started_at,
        "date_range_end": overview.last_started_at,
        "unknown_cost_sessions": overview.unknown_cost_sessions,
        "included_cost_sessions": overview.included_cost_sessions,
    })
}

fn model(model: &ModelUse) -> Json {
    json!({
        "model": model.model,
        "sessions": model.sessions,
        "input_tokens": model.usage.input_tokens,
        "output_tokens": model.usage.output_tokens,
        "cache_read_tokens": model.usage.cache_read_tokens,
        "cache_write_tokens": model.usage.cache_write_tokens,
        "reasoning_tokens": model.usage.reasoning_tokens,
        "total_tokens": model.usage.total(),
        "api_calls": model.calls,
        "tool_calls": model.tool_calls,
        "cost": model.cost.estimated_usd,
        "actual_cost": model.cost.actual_usd,
        "cost_status": model.cost.status().word(),
    })
}

fn platform(platform: &PlatformUse) -> Json {
    json!({
        "platform": platform.platform,
        "sessions": platform.sessions,
        "messages": platform.messages,
        "input_tokens": platform.usage.input_tokens,
        "output_tokens": platform.usage.output_tokens,
        "cache_read_tokens": platform.usage.cache_read_tokens,
        "cache_write_tokens": platform.usage.cache_write_tokens,
        "total_tokens": platform.usage.total(),
        "tool_calls": platform.tool_calls,
    })
}

fn activity(activity: &Activity) -> Json {
    let day = |index: usize, count: u64| json!({ "day": WEEKDAYS.get(index), "count": count });
    let hour = |index: usize, count: u64| json!({ "hour": index, "count": count });
    let days = activity.by_weekday.iter().enumerate();
    let hours = activity.by_hour.iter().enumerate();
    json!({
        "by_day": days.map(|(index, count)| day(index, *count)).collect::<Vec<_>>(),
        "by_hour": hours.map(|(index, count)| hour(index, *count)).collect::<Vec<_>>(),
        "busiest_day": busiest(&activity.by_weekday).map(|(index, count)| day(index, count)),
        "busiest_hour": busiest(&activity.by_hour).map(|(index, count)| hour(index, count)),
        "active_days": activity.active_days,
        "max_streak": activity.longest_streak,
    })
}

/// The first of those with the most.
fn busiest(counts: &[u64]) -> Option<(usize, u64)> {
    let most = *counts.iter().max().filter(|most| **most > 0)?;
    let index = counts.iter().position(|count| *count == most)?;
    Some((index, most))
}

fn top_session(top: &TopSession, zone: &TimeZone) -> Json {
    json!({
        "label": words::record_label(top.record),
        "session_id": top.session.as_str(),
        "value": words::record_value(top),
        "amount": top.amount,
        "date": words::date(top.started_at, zone, "%b %-d"),
    })
}
