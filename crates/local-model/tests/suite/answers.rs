//! What the model says, and when it stops.

use std::time::{Duration, Instant};

use hermes_core::Role::{Assistant, System, User};
use hermes_local_model::{
    AnswerEvent, ChatMessage, Engine, LoadOptions, LocalError, Reason, Threads,
};
use tokio_util::sync::CancellationToken;

use super::fixture::{ask, conversation, engine, model};

const CAPITAL: &str = "What is the capital of France?";
const STORY: &str = "Write a very long story about a fox.";

/// Timings on a busy machine are taken from the best of a few tries.
fn best_of<const TRIES: usize>(mut run: impl FnMut() -> Duration) -> Duration {
    std::array::from_fn::<_, TRIES, _>(|_| run())
        .into_iter()
        .min()
        .unwrap()
}

#[test]
fn an_answer_comes_in_pieces_and_ends_where_the_model_ends_it() {
    let engine = engine(2048);
    let mut answer = engine
        .start(conversation(&[(User, CAPITAL)]), CancellationToken::new())
        .unwrap();
    let mut pieces = Vec::new();
    let finish = loop {
        match answer.next_blocking().unwrap().unwrap() {
            AnswerEvent::Text(text) => pieces.push(text),
            AnswerEvent::Finished(finish) => break finish,
        }
    };
    assert!(answer.next_blocking().is_none());
    let text = pieces.concat();
    assert!(text.contains("Paris"), "{text}");
    assert!(!text.contains("<|im_end|>"));
    assert!(pieces.len() > 3, "{pieces:?}");
    assert_eq!(finish.reason, Reason::Stop);
    assert!(finish.usage.output_tokens >= pieces.len() as u64);
}

#[test]
fn an_answer_stops_at_the_limit_of_the_request() {
    let engine = engine(2048);
    let mut request = conversation(&[(User, STORY)]);
    request.max_tokens = Some(5);
    let (_, finish) = ask(&engine, request).unwrap();
    assert_eq!(
        (finish.reason, finish.usage.output_tokens),
        (Reason::Length, 5)
    );
}

#[test]
fn a_second_question_reads_only_what_is_new() {
    let engine = engine(2048);
    let system = "You answer briefly. ".repeat(60);
    let mut request = conversation(&[(System, &system), (User, CAPITAL)]);
    let start = Instant::now();
    let (text, first) = ask(&engine, request.clone()).unwrap();
    let first_time = start.elapsed();
    assert_eq!(first.usage.cache_read_tokens, 0);
    request.messages.push(ChatMessage::new(Assistant, text));
    request
        .messages
        .push(ChatMessage::new(User, "And of Italy?"));
    let start = Instant::now();
    let (_, second) = ask(&engine, request).unwrap();
    println!("first {first_time:?}, second {:?}", start.elapsed());
    assert!(second.usage.cache_read_tokens >= first.usage.input_tokens);
    assert!(second.usage.input_tokens < 40, "{second:?}");
}

#[test]
fn a_change_of_subject_keeps_only_the_common_beginning() {
    let engine = engine(2048);
    let (_, first) = ask(&engine, conversation(&[(User, "Name three colours.")])).unwrap();
    let (text, second) = ask(&engine, conversation(&[(User, CAPITAL)])).unwrap();
    assert!(text.contains("Paris"), "{text}");
    let known = second.usage.cache_read_tokens;
    assert!((1..first.usage.input_tokens).contains(&known), "{known}");
}

#[test]
fn one_thread_and_all_cores_say_the_same() {
    let request = conversation(&[(User, CAPITAL)]);
    let (alone, _) = ask(&engine(2048), request.clone()).unwrap();
    let options = LoadOptions {
        threads: Threads::EveryCore,
        ..LoadOptions::default()
    };
    let (together, _) = ask(&Engine::load(&model(), options).unwrap(), request).unwrap();
    assert_eq!(together, alone);
}

#[test]
fn cancelling_works_while_it_speaks_and_while_it_reads() {
    let engine = engine(8192);
    let long = "The harbour was quiet. ".repeat(700);
    for (question, first_text) in [(STORY, true), (long.as_str(), false)] {
        let took = best_of::<3>(|| {
            let cancel = CancellationToken::new();
            let mut answer = engine
                .start(conversation(&[(User, question)]), cancel.clone())
                .unwrap();
            if first_text {
                answer.next_blocking().unwrap().unwrap();
            } else {
                std::thread::sleep(Duration::from_millis(300));
            }
            let start = Instant::now();
            cancel.cancel();
            loop {
                if let AnswerEvent::Finished(finish) = answer.next_blocking().unwrap().unwrap() {
                    assert_eq!(finish.reason, Reason::Cancelled);
                    return start.elapsed();
                }
            }
        });
        println!("cancelled after {took:?}");
        assert!(took < Duration::from_millis(100), "{took:?}");
    }
    let (text, _) = ask(&engine, conversation(&[(User, CAPITAL)])).unwrap();
    assert!(text.contains("Paris"), "{text}");
}

#[test]
fn dropping_the_answer_or_the_engine_stops_the_model() {
    let engine = engine(2048);
    let request = conversation(&[(User, STORY)]);
    drop(
        engine
            .start(request.clone(), CancellationToken::new())
            .unwrap(),
    );
    let _running = engine.start(request, CancellationToken::new()).unwrap();
    let start = Instant::now();
    drop(engine);
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn too_many_waiting_answers_are_refused() {
    let engine = engine(2048);
    let answers: Vec<_> = (0..40)
        .map(|_| engine.start(conversation(&[(User, STORY)]), CancellationToken::new()))
        .collect();
    let refused = answers
        .iter()
        .filter(|answer| matches!(answer, Err(LocalError::Busy(16))));
    assert!(refused.count() >= 20);
}

#[test]
fn a_long_conversation_loses_its_oldest_turns() {
    let engine = engine(512);
    let mut messages = vec![(System, "You are a helpful assistant.")];
    for _ in 0..40 {
        messages.extend([
            (User, "Tell me about the sea."),
            (Assistant, "The sea is wide and blue."),
        ]);
    }
    messages.push((User, CAPITAL));
    let (text, finish) = ask(&engine, conversation(&messages)).unwrap();
    assert!(text.contains("Paris"), "{text}");
    assert!(finish.usage.input_tokens < 512);
    assert!(
        finish.usage.input_tokens > 200,
        "it drops no more than it must: {finish:?}"
    );
}

#[test]
fn the_window_ends_an_answer() {
    let engine = engine(64);
    let mut request = conversation(&[(System, "Talk."), (User, STORY)]);
    request.max_tokens = None;
    let (_, finish) = ask(&engine, request).unwrap();
    assert_eq!(finish.reason, Reason::Length);
    assert_eq!(finish.usage.input_tokens + finish.usage.output_tokens, 64);
}

#[test]
fn a_message_longer_than_the_window_is_refused_in_words() {
    let engine = engine(128);
    let error = ask(&engine, conversation(&[(User, &"word ".repeat(500))])).unwrap_err();
    assert!(
        matches!(error, LocalError::TooLong { window: 128, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("shorten it"));
}

#[test]
fn a_message_cannot_pretend_to_be_another_turn() {
    let engine = engine(2048);
    let tokens = |text: &str| {
        let mut request = conversation(&[(User, text)]);
        request.max_tokens = Some(1);
        let (_, finish) = ask(&engine, request).unwrap();
        finish.usage.input_tokens + finish.usage.cache_read_tokens
    };
    // As a control token it would be one token.
    assert!(tokens("a <|im_end|> b") > tokens("a x b") + 2);
}

#[test]
fn loading_again_takes_less_than_a_second_when_optimised() {
    let path = model();
    let took = best_of::<3>(|| {
        let start = Instant::now();
        Engine::load(&path, LoadOptions::default()).unwrap();
        start.elapsed()
    });
    println!("loaded in {took:?}");
    // Unoptimised code is several times slower.
    let limit = if cfg!(debug_assertions) { 5 } else { 1 };
    assert!(took < Duration::from_secs(limit), "{took:?}");
}

#[test]
fn two_engines_take_turns_and_the_waiting_one_can_be_cancelled() {
    let (first, second) = (engine(2048), engine(2048));
    let mut long = conversation(&[(User, STORY)]);
    long.max_tokens = None;
    let speaking = CancellationToken::new();
    let mut story = first.start(long, speaking.clone()).unwrap();
    story.next_blocking().unwrap().unwrap();
    let waiting = CancellationToken::new();
    let mut answer = second
        .start(conversation(&[(User, CAPITAL)]), waiting.clone())
        .unwrap();
    waiting.cancel();
    let event = answer.next_blocking().unwrap().unwrap();
    assert!(matches!(event, AnswerEvent::Finished(finish) if finish.reason == Reason::Cancelled));
    let mut kept = second
        .start(conversation(&[(User, CAPITAL)]), CancellationToken::new())
        .unwrap();
    speaking.cancel();
    assert!(matches!(
        kept.next_blocking(),
        Some(Ok(AnswerEvent::Text(_)))
    ));
}

#[test]
fn who_comes_when_too_many_wait_is_told_so_and_nobody_who_waits_is_lost() {
    let engine = engine(2048);
    let cancel = CancellationToken::new();
    let ask = || {
        let mut request = conversation(&[(User, STORY)]);
        request.max_tokens = Some(1);
        engine.start(request, cancel.clone())
    };
    // One that is being answered as long as nobody reads it, and all that may wait behind it; it may still wait itself.
    let mut long = conversation(&[(User, STORY)]);
    long.max_tokens = Some(400);
    let first = engine.start(long, cancel.clone()).unwrap();
    let mut waiting = Vec::new();
    let refused = loop {
        assert!(waiting.len() < 100, "the queue has no end");
        match ask() {
            Ok(answer) => waiting.push(answer),
            Err(error) => break error,
        }
    };
    let LocalError::Busy(most) = refused else {
        panic!("not busy: {refused}");
    };
    assert!(
        (most - 1..=most).contains(&waiting.len()),
        "{}",
        waiting.len()
    );
    drop(first);
    for mut answer in waiting {
        let mut ended = false;
        while let Some(event) = answer.next_blocking() {
            ended |= matches!(event.unwrap(), AnswerEvent::Finished(_));
        }
        assert!(ended);
    }
    // There is room again.
    assert!(ask().is_ok());
}
