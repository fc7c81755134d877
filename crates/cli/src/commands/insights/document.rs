//! The report for programs, by the reference's keys.

use hermes_store::{
    Activity, Insights, Learned, LearnedChange, ModelUse, Overview, PlatformUse, SkillUse,
    TopSession,
};
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
        "skills": skills(&found.skills),
        "activity": activity(&found.activity),
        "top_sessions": top.map(|session| top_session(session, zone)).collect::<Vec<_>>(),
        "learning": learning(&found.learned),
    })
}

fn learning(learned: &Learned) -> Json {
    json!({
        "reviews": learned.reviews,
        "entries_kept": learned.entries_kept,
        "skills_written": learned.skills_written,
        "skills_mended": learned.skills_mended,
        "latest": learned.latest.iter().map(change).collect::<Vec<_>>(),
    })
}

fn change(change: &LearnedChange) -> Json {
    json!({ "at": when::iso(change.at), "subject": change.subject, "summary": change.summary })
}

fn skills(skills: &[SkillUse]) -> Json {
    let sum = |count: fn(&SkillUse) -> u64| -> u64 { skills.iter().map(count).sum() };
    let total = sum(SkillUse::total);
    let top = skills.iter().map(|skill| {
        json!({
            "skill": skill.skill,
            "view_count": skill.loads,
            "manage_count": skill.edits,
            "total_count": skill.total(),
            "percentage": words::share(skill.total(), total),
            "last_used_at": skill.last_used_at,
        })
    });
    json!({
        "summary": {
            "total_skill_loads": sum(|skill| skill.loads),
            "total_skill_edits": sum(|skill| skill.edits),
            "total_skill_actions": total,
            "distinct_skills_used": skills.len(),
        },
        "top_skills": top.collect::<Vec<_>>(),
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
    let dates = activity.by_date.iter();
    let dates = dates.map(|(date, count)| json!({ "date": date.to_string(), "count": count }));
    json!({
        "by_date": dates.collect::<Vec<_>>(),
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
