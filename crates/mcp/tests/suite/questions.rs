//! What servers ask of people and models in the middle of a call.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_core::future::BoxFuture;
use hermes_config::{McpElicitation, McpSampling, McpSandbox, McpTrust};
use hermes_core::{
    Answer, AnsweredBy, Asker, CallId, Decider, FinishReason, Part, Question, QuestionKind, Reply,
    Role, ToolCall, ToolChoice,
};
use hermes_mcp::{RecoveryPolicy, Sample, Sampled, Sampler};
use hermes_testkit::mcp_server::{Mode, Profile};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::fixture::{Bench, Gate, PATIENCE, at, context, error, quick, read, remote};

/// Somebody who thinks for a while and then says the same to every question.
pub(crate) struct Somebody {
    thinks: Duration,
    says: Reply,
    pub(crate) asked: Mutex<Vec<Question>>,
}

impl Asker for Somebody {
    fn ask(&self, question: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        self.asked.lock().unwrap().push(question);
        Box::pin(async {
            tokio::time::sleep(self.thinks).await;
            self.says.clone()
        })
    }
}

pub(crate) fn somebody(thinks: Duration, answer: Answer) -> Arc<Somebody> {
    Arc::new(Somebody {
        thinks,
        says: Reply {
            answer,
            by: AnsweredBy::Person("me".to_owned()),
        },
        asked: Mutex::default(),
    })
}

/// What the server heard when it put this question to this person.
async fn heard(bench: &Bench, person: &Arc<Somebody>, question: Json) -> Json {
    let tool = bench.tool("mcp__one__ask");
    let mut around = context(CancellationToken::new());
    around.asker = Arc::clone(person) as Arc<dyn Asker>;
    let answer = read(tool.call(json!({ "question": question }), &around).await);
    let text = answer["result"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

// MCP-75
#[tokio::test(flavor = "multi_thread")]
async fn a_question_reaches_the_person_and_stops_the_clock_of_the_call() {
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_millis(1_000),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let mut server = bench.program("one", "asks");
    server.elicitation = Some(McpElicitation {
        timeout: Duration::from_secs(60),
        ..McpElicitation::default()
    });
    bench.add("one", server).await;
    bench.ready("one").await;
    let form = json!({
        "message": "How many?",
        "requestedSchema": {
            "type": "object",
            "properties": { "count": { "type": "integer", "description": "a number" } },
            "required": ["count"],
        },
    });
    let slow = somebody(Duration::from_millis(2_000), Answer::Text("7".to_owned()));
    let answer = heard(&bench, &slow, form.clone()).await;
    assert_eq!(
        answer,
        json!({ "action": "accept", "content": { "count": 7 } })
    );
    let asked = slow.asked.lock().unwrap().clone();
    let QuestionKind::Form(asked) = &asked[0].kind else {
        panic!("{asked:?}");
    };
    assert_eq!(asked.text, "How many?");
    assert_eq!(asked.fields[0].about, "a number");
    let away = somebody(Duration::ZERO, Answer::Dismiss);
    let answer = heard(&bench, &away, form.clone()).await;
    assert_eq!(answer["action"], json!("cancel"));

    let no = somebody(Duration::ZERO, Answer::no());
    assert_eq!(heard(&bench, &no, form).await["action"], json!("decline"));
    let yes = somebody(Duration::ZERO, Answer::AllowOnce);
    let link = json!({
        "mode": "url", "message": "Sign in", "url": "https://h.example.test/x", "elicitationId": "1",
    });
    assert_eq!(heard(&bench, &yes, link).await["action"], json!("accept"));
    let consent =
        json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    assert_eq!(
        heard(&bench, &yes, consent).await["action"],
        json!("accept")
    );
    for asked in yes.asked.lock().unwrap().iter() {
        let decider = Decider::Person;
        let kind = &asked.kind;
        assert!(
            matches!(kind, QuestionKind::Approval { decider: whose, .. } if *whose == decider),
            "{kind:?}"
        );
    }
    bench.failures(0).await;
    // Servers ask only in the ways that were announced.
    let announced: Json = serde_json::from_str(&bench.lines("one", "capabilities")[0]).unwrap();
    assert_eq!(announced["elicitation"], json!({ "form": {}, "url": {} }));
}

/// Somebody who answers nothing until they are told to.
struct Patient {
    asked: Mutex<usize>,
    go: CancellationToken,
}

impl Asker for Patient {
    fn ask(&self, _: Question, _: CancellationToken) -> BoxFuture<'_, Reply> {
        *self.asked.lock().unwrap() += 1;
        Box::pin(async {
            self.go.cancelled().await;
            Reply {
                answer: Answer::AllowOnce,
                by: AnsweredBy::Person("me".to_owned()),
            }
        })
    }
}

// MCP-75
#[tokio::test(flavor = "multi_thread")]
async fn few_questions_wait_at_a_time_and_none_is_longer_than_anybody_reads() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "asks")).await;
    bench.ready("one").await;
    let consent =
        json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let patient = Arc::new(Patient {
        asked: Mutex::default(),
        go: CancellationToken::new(),
    });
    let tool = bench.tool("mcp__one__flood");
    let mut around = context(CancellationToken::new());
    around.asker = Arc::clone(&patient) as Arc<dyn Asker>;
    let arguments = json!({ "question": consent, "times": 200 });
    let (answer, ()) = tokio::join!(tool.call(arguments, &around), async {
        // Every answer that came back is a message without a method.
        let answered = || {
            let lines = bench.lines("one", "requests");
            lines.iter().filter(|line| line.is_empty()).count()
        };
        let limit = Instant::now() + PATIENCE;
        while answered() < 196 {
            assert!(Instant::now() < limit, "{} answers", answered());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(*patient.asked.lock().unwrap(), 4);
        patient.go.cancel();
    });
    let answer = read(answer);
    let counts: Json = serde_json::from_str(answer["result"].as_str().unwrap()).unwrap();
    assert_eq!(counts, json!({ "accept": 4, "cancel": 196 }));

    let yes = somebody(Duration::ZERO, Answer::AllowOnce);
    let mut long = consent.clone();
    long["message"] = json!("x".repeat(40_000));
    assert_eq!(heard(&bench, &yes, long).await["action"], json!("decline"));
    assert!(yes.asked.lock().unwrap().is_empty());
    assert_eq!(
        heard(&bench, &yes, consent).await["action"],
        json!("accept")
    );
}

// MCP-75
#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_answers_is_withdrawn_and_a_forbidden_one_declined() {
    let mut bench = Bench::new(quick());
    let mut server = bench.program("one", "asks");
    server.elicitation = Some(McpElicitation {
        timeout: Duration::from_millis(50),
        ..McpElicitation::default()
    });
    bench.add("one", server.clone()).await;
    bench.ready("one").await;
    let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
    let asleep = somebody(PATIENCE * 10, Answer::AllowOnce);
    assert_eq!(
        heard(&bench, &asleep, form.clone()).await["action"],
        json!("cancel")
    );

    server.elicitation = Some(McpElicitation {
        enabled: false,
        ..McpElicitation::default()
    });
    bench.add("one", server).await;
    bench.ready("one").await;
    let eager = somebody(Duration::ZERO, Answer::AllowOnce);
    assert_eq!(
        heard(&bench, &eager, form).await["action"],
        json!("decline")
    );
    assert!(eager.asked.lock().unwrap().is_empty());
}

// MCP-85
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_must_be_opened_first_is_shown_and_the_call_made_again() {
    let mut bench = Bench::new(quick());
    bench.add("one", bench.program("one", "")).await;
    bench.ready("one").await;
    let tool = bench.tool("mcp__one__echo");
    for (answer, works) in [(Answer::AllowOnce, true), (Answer::no(), false)] {
        std::fs::write(bench.state("one").join("visit"), "").unwrap();
        let person = somebody(Duration::ZERO, answer);
        let mut around = context(CancellationToken::new());
        around.asker = Arc::clone(&person) as Arc<dyn Asker>;
        let called = read(tool.call(json!({ "text": "x" }), &around).await);
        let asked = person.asked.lock().unwrap().clone();
        let QuestionKind::Approval {
            action, decider, ..
        } = &asked[0].kind
        else {
            panic!("{asked:?}");
        };
        // It may let somebody in.
        assert_eq!(*decider, Decider::Person);
        assert_eq!(action, "https://h.example.test/x?state=1");
        assert_eq!(called == json!({ "result": "x" }), works, "{called}");
    }
    // What was refused was not done.
    assert_eq!(bench.lines("one", "done"), ["echo"]);
    bench.failures(0).await;
}

// MCP-93
#[tokio::test(flavor = "multi_thread")]
async fn a_yes_for_an_untrusted_server_is_waited_for_as_the_settings_say() {
    let mut bench = Bench::new(quick());
    let mut server = bench.program("one", "");
    server.trust = McpTrust::Untrusted;
    server.sandbox = Some(McpSandbox::Off);
    bench.add("one", server).await;
    bench.ready("one").await;
    let program = "a program that may answer for the user refused this call (robot)";
    for (by, told) in [
        (AnsweredBy::Person("me".to_owned()), "the user refused"),
        (AnsweredBy::Program("robot".to_owned()), program),
        (AnsweredBy::Runtime, "nobody gave one"),
        (AnsweredBy::Stopped, "stopped before anybody answered"),
    ] {
        let answer = Answer::no();
        let says = Reply { answer, by };
        let asked = Arc::new(Somebody {
            thinks: Duration::ZERO,
            says,
            asked: Mutex::default(),
        });
        let mut around = context(CancellationToken::new());
        around.asker = Arc::clone(&asked) as Arc<dyn Asker>;
        let tool = bench.tool("mcp__one__echo");
        let answer = read(tool.call(json!({}), &around).await);
        assert!(error(&answer).contains(told), "{answer}");
        // Not as long as the call itself may take.
        let deadline = asked.asked.lock().unwrap()[0].deadline;
        assert_eq!(deadline, PATIENCE);
        assert_ne!(deadline, around.deadline);
    }
    assert!(bench.lines("one", "done").is_empty());
}

/// A model that repeats the question.
#[derive(Default)]
struct Parrot(Mutex<Vec<Sample>>);

impl Sampler for Parrot {
    fn sample(
        &self,
        sample: Sample,
        _: CancellationToken,
    ) -> BoxFuture<'_, Result<Sampled, String>> {
        let text = sample.messages.iter().map(|message| message.plain_text());
        let sampled = Sampled {
            model: sample.model.clone().unwrap_or_else(|| "usual".to_owned()),
            text: text.collect::<Vec<_>>().join(" "),
            calls: Vec::new(),
            finish: FinishReason::Length,
            tokens: 5,
        };
        self.0.lock().unwrap().push(sample);
        Box::pin(async { Ok(sampled) })
    }
}

// MCP-74
#[tokio::test(flavor = "multi_thread")]
async fn a_server_may_ask_a_model_within_its_limits() {
    let parrot = Arc::new(Parrot::default());
    let mut bench = Bench::with(
        quick(),
        Arc::new(Gate(None)),
        Some(Arc::clone(&parrot) as Arc<dyn Sampler>),
    );
    let mut server = bench.program("one", "asks");
    server.sampling = Some(McpSampling {
        max_rpm: 2,
        max_tokens_cap: 100,
        allowed_models: vec!["good".to_owned()],
        ..McpSampling::default()
    });
    bench.add("one", server).await;
    bench.ready("one").await;
    let ask = |model: &str| {
        let question = json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "hello" } }],
            "systemPrompt": "be brief",
            "maxTokens": 5_000,
            "modelPreferences": { "hints": [{ "name": model }] },
        });
        let bench = &bench;
        async move {
            let answer = bench.call("sample", json!({ "question": question })).await;
            let text = answer["result"].as_str();
            serde_json::from_str::<Json>(text.unwrap_or_else(|| panic!("{answer}"))).unwrap()
        }
    };
    let answer = ask("good").await;
    assert_eq!(answer["content"]["text"], json!("hello"));
    assert_eq!(answer["stopReason"], json!("maxTokens"));
    assert_eq!(answer["model"], json!("good"));
    {
        let seen = parrot.0.lock().unwrap();
        assert_eq!(seen[0].max_tokens, 100);
        assert_eq!(seen[0].system.as_deref(), Some("be brief"));
        assert_eq!(seen[0].messages[0].role, Role::User);
    }
    let refused = ask("bad").await;
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("not among the allowed"),
        "{refused}"
    );
    assert_eq!(refused["code"], json!(-1));
    let late = ask("good").await;
    assert!(
        late["message"].as_str().unwrap().contains("in a minute"),
        "{late}"
    );
    let counts = bench.fleet.status()[0].sampling.unwrap();
    assert_eq!(
        (counts.requests, counts.errors, counts.tokens_used),
        (3, 2, 5)
    );
}

/// A model that always wants a tool, or never says anything.
struct Stubborn(Option<Sampled>);

impl Sampler for Stubborn {
    fn sample(&self, _: Sample, _: CancellationToken) -> BoxFuture<'_, Result<Sampled, String>> {
        Box::pin(async {
            match &self.0 {
                Some(sampled) => Ok(sampled.clone()),
                None => std::future::pending().await,
            }
        })
    }
}

/// What a server hears when it asks a model this often, with these limits.
async fn sampled(model: Stubborn, limits: McpSampling, times: usize) -> Vec<Json> {
    let mut bench = Bench::with(quick(), Arc::new(Gate(None)), Some(Arc::new(model)));
    let mut server = bench.program("one", "asks");
    server.sampling = Some(limits);
    bench.add("one", server).await;
    bench.ready("one").await;
    let question = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": "hello" } }],
        "maxTokens": 50,
        "tools": [{ "name": "look", "inputSchema": { "type": "object" } }],
    });
    let mut heard = Vec::new();
    for _ in 0..times {
        let asked = json!({ "question": question.clone() });
        let answer = bench.call("sample", asked).await;
        let text = answer["result"].as_str();
        heard.push(serde_json::from_str(text.unwrap_or_else(|| panic!("{answer}"))).unwrap());
    }
    heard
}

// MCP-74
#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_answer_is_given_up_in_time() {
    let limits = McpSampling {
        timeout: Duration::from_millis(200),
        ..McpSampling::default()
    };
    let heard = sampled(Stubborn(None), limits, 1).await;
    assert_eq!(heard[0]["code"], json!(-1), "{heard:?}");
    assert!(heard[0].to_string().contains("gave no answer"), "{heard:?}");
}

// MCP-74
#[tokio::test(flavor = "multi_thread")]
async fn rounds_of_tools_are_counted_until_the_model_speaks() {
    let wants = Sampled {
        model: "usual".to_owned(),
        text: String::new(),
        calls: vec![ToolCall {
            id: CallId("1".to_owned()),
            name: "look".to_owned(),
            arguments: json!({}),
        }],
        finish: FinishReason::ToolCalls,
        tokens: 5,
    };
    let limits = McpSampling {
        max_tool_rounds: 2,
        ..McpSampling::default()
    };
    let heard = sampled(Stubborn(Some(wants)), limits, 3).await;
    for answer in heard.iter().take(2) {
        assert_eq!(answer["stopReason"], json!("toolUse"), "{heard:?}");
    }
    let refused = heard[2]["message"].as_str().unwrap();
    assert!(refused.contains("more than 2 rounds"), "{refused}");
}

// MCP-74
#[tokio::test(flavor = "multi_thread")]
async fn no_key_reaches_a_server_in_the_words_of_a_model() {
    let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let says = Sampled {
        model: "usual".to_owned(),
        text: format!("the key is {key}, and that is all"),
        calls: Vec::new(),
        finish: FinishReason::Stop,
        tokens: 5,
    };
    let heard = sampled(Stubborn(Some(says)), McpSampling::default(), 1).await;
    let heard = heard[0].to_string();
    assert!(heard.contains("and that is all"), "{heard}");
    assert!(!heard.contains(&key), "{heard}");
}

// MCP-74, MCP-95
#[tokio::test(flavor = "multi_thread")]
async fn a_server_says_whether_its_tools_may_be_called_and_what_they_gave() {
    let parrot = Arc::new(Parrot::default());
    let sampler = Arc::clone(&parrot) as Arc<dyn Sampler>;
    let mut bench = Bench::with(quick(), Arc::new(Gate(None)), Some(sampler));
    bench.add("one", bench.program("one", "asks")).await;
    bench.ready("one").await;
    let ask = |choice: Json, content: Json| {
        let question = json!({
            "messages": [
                { "role": "user", "content": { "type": "text", "text": "look" } },
                { "role": "assistant", "content": { "type": "tool_use", "id": "1", "name": "look", "input": {} } },
                { "role": "user", "content": [{ "type": "tool_result", "toolUseId": "1", "content": content }] },
            ],
            "maxTokens": 50,
            "tools": [{ "name": "look", "inputSchema": { "type": "object" } }],
            "toolChoice": choice,
        });
        bench.call("sample", json!({ "question": question }))
    };
    let seen = json!([
        { "type": "text", "text": "a wall" },
        { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
        { "type": "resource", "resource": { "uri": "x://a", "text": "and a door" } },
    ]);
    for choice in [
        json!({ "mode": "required" }),
        json!({ "mode": "none" }),
        json!({}),
    ] {
        ask(choice, seen.clone()).await;
    }
    let asked = parrot.0.lock().unwrap().clone();
    let choices: Vec<ToolChoice> = asked.iter().map(|one| one.tool_choice).collect();
    let expected = [ToolChoice::Required, ToolChoice::None, ToolChoice::Auto];
    assert_eq!(choices, expected);
    // The tools stay even where none may be called: earlier calls name them.
    assert!(asked.iter().all(|one| one.tools.len() == 1));
    let [.., result] = asked[0].messages.as_slice() else {
        panic!("{asked:?}");
    };
    let [Part::ToolResult { content, .. }, Part::Media(picture)] = result.parts.as_slice() else {
        panic!("{result:?}");
    };
    assert_eq!(content, "a wall\nand a door");
    assert_eq!(picture.mime, "image/png");
    // What a model cannot be shown is not left out of what it is shown.
    let sound = json!([{ "type": "audio", "data": "SUQz", "mimeType": "audio/mpeg" }]);
    let refused = ask(json!({}), sound).await.to_string();
    assert!(refused.contains("audio"), "{refused}");
    assert_eq!(parrot.0.lock().unwrap().len(), 3);
}

// MCP-75
#[tokio::test(flavor = "multi_thread")]
async fn a_question_stops_the_clock_of_the_answer_at_an_address_too() {
    let server = remote(Profile::default());
    // Both limits are over long before the person is done.
    let policy = RecoveryPolicy {
        call_timeout: Duration::from_secs(3),
        http_read_timeout: Duration::from_secs(3),
        ..quick()
    };
    let mut bench = Bench::new(policy);
    let mut entry = at(server.url("/mcp"));
    entry.elicitation = Some(McpElicitation {
        timeout: Duration::from_secs(60),
        ..McpElicitation::default()
    });
    bench.add("one", entry).await;
    bench.ready("one").await;
    let question = json!({
        "message": "How many?",
        "requestedSchema": { "type": "object", "properties": { "count": { "type": "integer" } } },
    });
    server.arm("tools/call", Mode::Ask { question }, 1);
    let slow = somebody(Duration::from_secs(8), Answer::Text("7".to_owned()));
    let mut around = context(CancellationToken::new());
    around.asker = slow;
    let answer = bench.call_as("echo", json!({ "text": "x" }), &around).await;
    let heard: Json = serde_json::from_str(answer["result"].as_str().unwrap_or_default())
        .unwrap_or_else(|_| panic!("{answer}"));
    assert_eq!(
        heard,
        json!({ "action": "accept", "content": { "count": 7 } })
    );
}
