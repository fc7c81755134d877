//! When people talk to the agent.

use jiff::Timestamp;
use jiff::civil::Date;
use rusqlite::{Connection, params_from_iter};

use super::{CHOSEN, Period};
use crate::error::StoreError;

/// How many sessions began when, in the zone of the period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// From Monday to Sunday.
    pub by_weekday: [u64; 7],
    /// From midnight to 23 o'clock.
    pub by_hour: [u64; 24],
    /// The days on which a session began, in order, and how many did.
    pub by_date: Vec<(Date, u64)>,
    /// Days on which a session began.
    pub active_days: u64,
    /// The most such days in a row.
    pub longest_streak: u64,
}

/// The zone decides where a day begins, and SQLite knows only the one of the process: times are read in
/// order and counted here, one at a time.
pub(super) fn activity(connection: &Connection, period: &Period) -> Result<Activity, StoreError> {
    let sql = format!("{CHOSEN} SELECT started_at FROM chosen ORDER BY started_at");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(period.values()))?;
    let mut activity = Activity::default();
    let mut streak = Streak::default();
    while let Some(row) = rows.next()? {
        // A time outside of the calendar belongs to no day.
        let Some(moment) = moment(row.get(0)?) else {
            continue;
        };
        let local = period.zone.to_datetime(moment);
        let weekday = usize::try_from(local.weekday().to_monday_zero_offset()).ok();
        let counts = [
            weekday.and_then(|day| activity.by_weekday.get_mut(day)),
            usize::try_from(local.hour())
                .ok()
                .and_then(|hour| activity.by_hour.get_mut(hour)),
        ];
        for count in counts.into_iter().flatten() {
            *count += 1;
        }
        streak.see(local.date(), &mut activity);
    }
    Ok(activity)
}

/// The days in a row up to the last one seen.
#[derive(Default)]
struct Streak {
    last: Option<Date>,
    length: u64,
}

impl Streak {
    fn see(&mut self, day: Date, activity: &mut Activity) {
        match activity.by_date.last_mut() {
            Some((last, count)) if *last == day => *count += 1,
            _ => activity.by_date.push((day, 1)),
        }
        if self.last == Some(day) {
            return;
        }
        let follows = self.last.and_then(|last| last.tomorrow().ok()) == Some(day);
        self.length = if follows { self.length + 1 } else { 1 };
        self.last = Some(day);
        activity.active_days += 1;
        activity.longest_streak = activity.longest_streak.max(self.length);
    }
}

fn moment(seconds: f64) -> Option<Timestamp> {
    let whole = seconds.floor();
    let fits = whole.is_finite() && whole.abs() < 250_000_000_000.0;
    fits.then(|| Timestamp::from_second(whole as i64).ok())
        .flatten()
}
