//! `session_search` through the binary: its four ways, their shapes and limits.

use serde_json::{Value as Json, json};

use super::recall_lab::{each, keys, past, searched, with};

/// A conversation of `count` messages, `found` in the middle of it.
fn long(id: &str, count: usize, found: &str) -> Json {
    let mut texts: Vec<String> = (0..count).map(|at| format!("{id} line {at}")).collect();
    texts[count / 2] = found.to_owned();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    past(id, "cli", 1, &texts)
}

// LN-23
#[test]
fn a_query_finds_conversations_with_what_stands_around() {
    let sessions = [
        with(
            long("trip", 40, "the wombat ate my map"),
            json!({"title": "Holidays"}),
        ),
        past("other", "cli", 2, &["nothing of interest", "indeed"]),
    ];
    let told = searched(&sessions, &[json!({"query": "wombat"})]);
    let answer = &told[0];
    assert_eq!(
        keys(answer),
        [
            "about",
            "count",
            "mode",
            "query",
            "results",
            "sessions_searched",
            "success"
        ]
    );
    assert_eq!(answer["mode"], "discover");
    assert_eq!(
        (&answer["success"], &answer["count"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(answer["sessions_searched"], 1);
    let found = &answer["results"][0];
    assert_eq!(
        keys(found),
        [
            "bookend_end",
            "bookend_start",
            "match_message_id",
            "matched_role",
            "messages",
            "messages_after",
            "messages_before",
            "model",
            "session_id",
            "snippet",
            "source",
            "title",
            "when"
        ]
    );
    assert_eq!(found["session_id"], "trip");
    assert_eq!(
        (&found["source"], &found["model"]),
        (&json!("cli"), &json!("old-model"))
    );
    assert_eq!(found["title"], "Holidays");
    assert_eq!(found["matched_role"], "user");
    assert_eq!(found["match_message_id"], 21);
    assert_eq!(found["snippet"], "the >>>wombat<<< ate my map");
    let when = found["when"].as_str().unwrap();
    assert!(
        when.starts_with("January 0") && when.contains(", 2026 at "),
        "{when}"
    );
    let ids = |rows: &Json| -> Vec<i64> {
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["id"].as_i64().unwrap()).collect()
    };
    assert_eq!(ids(&found["bookend_start"]), [1, 2, 3]);
    assert_eq!(ids(&found["messages"]), (16..=26).collect::<Vec<_>>());
    assert_eq!(ids(&found["bookend_end"]), [38, 39, 40]);
    assert_eq!(
        (&found["messages_before"], &found["messages_after"]),
        (&json!(15), &json!(14))
    );
    let messages = found["messages"].as_array().unwrap();
    assert_eq!(
        keys(&messages[5]),
        ["anchor", "content", "id", "role", "timestamp"]
    );
    assert_eq!(messages[5]["anchor"], true);
    assert!(messages.iter().filter(|row| row["anchor"] == true).count() == 1);
}

// LN-23
#[test]
fn hidden_sources_stay_hidden_runs_come_last_and_a_conversation_counts_once() {
    let sessions = [
        past(
            "talk",
            "telegram",
            1,
            &["we spoke of quokka once, long ago and at length", "yes"],
        ),
        past("job", "cron", 30, &["quokka quokka", "quokka"]),
        past("helper", "subagent", 30, &["quokka quokka", "quokka"]),
        past("inner", "tool", 30, &["quokka quokka", "quokka"]),
        with(
            past("part1", "cli", 3, &["quokka food", "ok"]),
            json!({"end_reason": "compression", "ended_at": 1_767_500_000.0}),
        ),
        with(
            past("part2", "cli", 4, &["more quokka food", "ok"]),
            json!({"parent_session_id": "part1"}),
        ),
    ];
    let query = |more: Json| with(json!({"query": "quokka"}), more);
    let told = searched(
        &sessions,
        &[
            query(json!({"limit": 99})),
            query(json!({"limit": -3})),
            query(json!({"limit": 10, "sort": "newest"})),
            query(json!({"limit": 10, "sort": "oldest"})),
            query(json!({"role_filter": "assistant"})),
        ],
    );
    let mut found = each(&told[0], "session_id");
    assert_eq!(found.pop(), Some("job"), "runs by the clock come last");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&"talk"));
    assert_eq!(told[0]["sessions_searched"], 3);
    assert_eq!(told[1]["count"], 1);
    assert_eq!(each(&told[2], "session_id"), ["part2", "talk", "job"]);
    assert_eq!(told[2]["results"][0]["parent_session_id"], "part1");
    assert_eq!(each(&told[3], "session_id"), ["talk", "part1", "job"]);
    assert_eq!(told[3]["results"][1].get("parent_session_id"), None);
    assert_eq!(each(&told[4], "session_id"), ["job"]);
}

// LN-23
#[test]
fn a_title_that_matches_comes_first() {
    let sessions = [
        past("text", "cli", 9, &["numbat numbat numbat", "numbat"]),
        with(
            past("named", "cli", 1, &["hello", "there"]),
            json!({"title": "Numbat diary"}),
        ),
        with(
            past("both", "cli", 1, &["a bilby", "ok"]),
            json!({"title": "Bilby"}),
        ),
    ];
    let told = searched(
        &sessions,
        &[json!({"query": "numbat"}), json!({"query": "bilby"})],
    );
    assert_eq!(each(&told[0], "session_id"), ["named", "text"]);
    assert_eq!(each(&told[0], "matched_role"), ["session_title", "user"]);
    let named = &told[0]["results"][0];
    assert_eq!(named["snippet"], "Numbat diary");
    assert_eq!(named["messages"][0]["content"], "hello");
    // A message that was found too is shown, and the conversation only once.
    assert_eq!(told[1]["count"], 1);
    let both = &told[1]["results"][0];
    assert_eq!(both["matched_role"], "session_title");
    assert_eq!(both["snippet"], "a >>>bilby<<<");
}

// LN-23
#[test]
fn a_conversation_is_read_from_both_ends() {
    let sessions = [
        long("a_long_one", 45, "middle"),
        past("short", "cli", 2, &["one", "two"]),
    ];
    let told = searched(
        &sessions,
        &[
            json!({"session_id": "a_long", "query": "ignored"}),
            json!({"session_id": "short"}),
            json!({"session_id": "nobody"}),
        ],
    );
    let answer = &told[0];
    assert_eq!(
        keys(answer),
        [
            "about",
            "left_out",
            "message_count",
            "messages",
            "mode",
            "session_id",
            "session_meta",
            "success",
            "truncated"
        ]
    );
    assert_eq!(
        keys(&answer["session_meta"]),
        ["model", "source", "title", "when"]
    );
    assert_eq!(
        (&answer["mode"], &answer["session_id"]),
        (&json!("read"), &json!("a_long_one"))
    );
    assert_eq!(
        (&answer["message_count"], &answer["truncated"]),
        (&json!(45), &json!(true))
    );
    let rows = answer["messages"].as_array().unwrap();
    assert_eq!(rows.len(), 30);
    assert_eq!((&rows[19]["id"], &rows[20]["id"]), (&json!(20), &json!(36)));
    assert_eq!(
        (&told[1]["truncated"], &told[1]["message_count"]),
        (&json!(false), &json!(2))
    );
    let refused = told[2].as_str().unwrap();
    assert!(
        refused.contains("there is no conversation nobody"),
        "{refused}"
    );
}

// LN-23
#[test]
fn reading_on_around_a_message() {
    let ended = json!({"end_reason": "compression", "ended_at": 1_767_500_000.0});
    let sessions = [
        with(long("first", 50, "middle"), ended),
        with(
            past("next", "cli", 5, &["more", "and more"]),
            json!({"parent_session_id": "first"}),
        ),
        past("stranger", "cli", 6, &["who", "me"]),
    ];
    let around = |session: &str, message: u32, window: i32| json!({"session_id": session, "around_message_id": message, "window": window});
    let told = searched(
        &sessions,
        &[
            around("first", 25, 99),
            around("first", 2, 0),
            around("next", 25, 2),
            around("stranger", 25, 2),
            json!({"session_id": "first", "around_message_id": 9999}),
        ],
    );
    let answer = &told[0];
    assert_eq!(
        keys(answer),
        [
            "about",
            "around_message_id",
            "messages",
            "messages_after",
            "messages_before",
            "mode",
            "session_id",
            "session_meta",
            "success",
            "window"
        ]
    );
    assert_eq!(
        (&answer["mode"], &answer["window"]),
        (&json!("scroll"), &json!(20))
    );
    assert_eq!(answer["messages"].as_array().unwrap().len(), 41);
    assert_eq!(
        (&answer["messages_before"], &answer["messages_after"]),
        (&json!(4), &json!(5))
    );
    assert_eq!(
        told[1]["messages"].as_array().unwrap().len(),
        3,
        "a window is at least one"
    );
    // Another part of the same conversation is gone to, and that is said.
    assert_eq!(told[2]["session_id"], "first");
    assert!(
        told[2]["warning"]
            .as_str()
            .unwrap()
            .contains("another part"),
        "{}",
        told[2]
    );
    for refused in &told[3..] {
        assert!(
            refused.as_str().unwrap().contains("has no message"),
            "{refused}"
        );
    }
}

// LN-23
#[test]
fn without_arguments_the_latest_are_listed() {
    let sessions = [
        with(
            past("old", "cli", 1, &["an old matter", "ok"]),
            json!({"title": "Old"}),
        ),
        past("new", "telegram", 9, &["a new matter", "ok"]),
        past("job", "cron", 12, &["run", "ok"]),
        past("inner", "tool", 13, &["x", "y"]),
    ];
    let told = searched(&sessions, &[json!({}), json!({"limit": 1, "query": " "})]);
    let answer = &told[0];
    assert_eq!(
        keys(answer),
        ["about", "count", "mode", "results", "success"]
    );
    assert_eq!(answer["mode"], "browse");
    assert_eq!(each(answer, "session_id"), ["new", "old", "job"]);
    let first = &answer["results"][1];
    assert_eq!(
        keys(first),
        [
            "last_active",
            "message_count",
            "preview",
            "session_id",
            "source",
            "started_at",
            "title"
        ]
    );
    assert_eq!(
        (&first["title"], &first["preview"]),
        (&json!("Old"), &json!("an old matter"))
    );
    assert_eq!(first["message_count"], 2);
    assert_eq!(told[1]["count"], 1);
}

// LN-23
#[test]
fn calls_run_side_by_side_and_bad_arguments_are_told() {
    let told = searched(
        &[past("talk", "cli", 1, &["a dunnart", "ok"])],
        &[
            json!({"query": "dunnart", "limit": "2", "summarize": "false"}),
            json!({"query": ["no", "text"]}),
            json!({"query": "\"unbalanced AND ( NOT"}),
        ],
    );
    assert_eq!(told[0]["count"], 1, "numbers as text are taken");
    assert!(
        told[1].as_str().unwrap().contains("do not fit"),
        "{}",
        told[1]
    );
    assert_eq!(told[2]["success"], true, "no query is an error");
}
