//! Which skills were read and changed by the agent.

use rusqlite::{Connection, params_from_iter};

use super::{CHOSEN, Period};
use crate::error::StoreError;

/// How often a skill was used.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillUse {
    pub skill: String,
    /// How often it was read. What failed counts for neither.
    pub loads: u64,
    /// How often it was written or changed.
    pub edits: u64,
    /// Seconds since 1970.
    pub last_used_at: f64,
}

impl SkillUse {
    /// Both together.
    pub fn total(&self) -> u64 {
        self.loads + self.edits
    }
}

/// How the result of a call begins that did nothing, once the blanks are gone that the reference writes.
const NOTHING_DONE: &str = r#"{"success":false"#;

/// Most used first. What a call was about stands in its arguments, a JSON text of its own; whether it came to
/// anything, in the next message that answers it. Ids of calls may come again.
pub(super) fn skills(
    connection: &Connection,
    period: &Period,
) -> Result<Vec<SkillUse>, StoreError> {
    let sql = format!(
        "{CHOSEN}, called AS ( \
           SELECT m.timestamp AS at, json_extract(call.value, '$.function.name') AS tool, \
             CASE WHEN json_valid(json_extract(call.value, '$.function.arguments')) \
               THEN json_extract(json_extract(call.value, '$.function.arguments'), '$.name') END AS skill \
           FROM chosen c CROSS JOIN messages m ON m.session_id = c.id, \
             json_each(CASE WHEN json_valid(m.tool_calls) THEN m.tool_calls ELSE '[]' END) call \
           WHERE m.tool_calls IS NOT NULL AND call.type = 'object' \
             AND instr(m.tool_calls, '\"skill_') > 0 \
             AND NOT coalesce((SELECT instr(coalesce(r.parts, ''), '\"failed\":true') > 0 \
                 OR instr(replace(substr(r.content, 1, 20), ' ', ''), '{NOTHING_DONE}') = 1 \
               FROM messages r WHERE r.session_id = c.id AND r.id > m.id AND r.role = 'tool' \
                 AND r.tool_call_id = json_extract(call.value, '$.id') ORDER BY r.id LIMIT 1), 0)) \
         SELECT skill, count(*) FILTER (WHERE tool = 'skill_view'), \
           count(*) FILTER (WHERE tool = 'skill_manage'), max(at) \
         FROM called WHERE tool IN ('skill_view', 'skill_manage') AND typeof(skill) = 'text' AND skill <> '' \
         GROUP BY skill ORDER BY count(*) DESC, skill"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(period.values()), |row| {
        Ok(SkillUse {
            skill: row.get(0)?,
            loads: row.get(1)?,
            edits: row.get(2)?,
            last_used_at: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
