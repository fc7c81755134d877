//! Which tools were called.

use rusqlite::{Connection, params_from_iter};

use super::{CHOSEN, Period};
use crate::error::StoreError;

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    pub tool: String,
    pub calls: u64,
}

/// A call stands in the message of the model and its result in one of its own. Either may be missing, an
/// interrupted call or a row of an older program, so that a tool has the larger of the two counts.
pub(super) fn tools(connection: &Connection, period: &Period) -> Result<Vec<ToolUse>, StoreError> {
    let sql = format!(
        "{CHOSEN} SELECT tool, max(n) FROM ( \
           SELECT m.tool_name AS tool, count(*) AS n FROM chosen c CROSS JOIN messages m ON m.session_id = c.id \
             WHERE m.role = 'tool' GROUP BY 1 \
           UNION ALL \
           SELECT CASE call.type WHEN 'object' THEN \
               coalesce(json_extract(call.value, '$.function.name'), json_extract(call.value, '$.name')) END, count(*) \
             FROM chosen c CROSS JOIN messages m ON m.session_id = c.id, \
               json_each(CASE WHEN json_valid(m.tool_calls) THEN m.tool_calls ELSE '[]' END) call \
             WHERE m.tool_calls IS NOT NULL GROUP BY 1) \
         WHERE typeof(tool) = 'text' AND tool <> '' GROUP BY tool ORDER BY 2 DESC, 1"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map(params_from_iter(period.values()), |row| {
        Ok(ToolUse {
            tool: row.get(0)?,
            calls: row.get(1)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
