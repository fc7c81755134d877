use super::*;
use crossterm::event::{KeyCode, KeyModifiers};
use hermes_core::{FieldOption, TextFormat};

fn press(form: &mut Form, code: KeyCode) -> PanelOutcome {
    form.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn write(form: &mut Form, text: &str) {
    for letter in text.chars() {
        press(form, KeyCode::Char(letter));
    }
}

fn field(name: &str, required: bool, kind: FieldKind) -> FormField {
    FormField {
        name: name.into(),
        label: name.into(),
        about: String::new(),
        required,
        kind,
        proposed: None,
    }
}

fn colours() -> Vec<FieldOption> {
    let option = |value: &str, label: &str| FieldOption {
        value: value.into(),
        label: label.into(),
    };
    vec![option("r", "Red"), option("b", "Blue")]
}

fn form() -> Form {
    let text = FieldKind::Text {
        shortest: 2,
        longest: 5,
        format: TextFormat::Any,
    };
    let age = FieldKind::Integer {
        least: Some(0),
        most: None,
    };
    let options = colours();
    Form::new(&hermes_core::Form {
        from: "A server asks".into(),
        text: "It wants to know you.".into(),
        fields: vec![
            field("name", true, text),
            field("age", false, age),
            field("news", false, FieldKind::Bool),
            field("colour", true, FieldKind::Choice { options }),
        ],
    })
}

fn filled(values: Json) -> Verdict {
    let Json::Object(values) = values else {
        panic!("{values}");
    };
    Verdict::Answer(Answer::Filled(values))
}

#[test]
fn values_are_filled_in_and_sent() {
    let mut form = form();
    write(&mut form, "Ann");
    press(&mut form, KeyCode::Enter);
    write(&mut form, "41");
    press(&mut form, KeyCode::Tab);
    press(&mut form, KeyCode::Char(' '));
    press(&mut form, KeyCode::Down);
    press(&mut form, KeyCode::Right);
    press(&mut form, KeyCode::Right);
    press(&mut form, KeyCode::Enter);
    let expected = filled(json!({ "name": "Ann", "age": 41, "news": true, "colour": "b" }));
    let outcome = press(&mut form, KeyCode::Enter);
    assert_eq!(outcome, PanelOutcome::Done(expected.clone()));
    let summary = form.summary(&expected);
    assert!(
        summary.starts_with("A server asks: filled in "),
        "{summary}"
    );
    assert!(!summary.contains("Ann"), "{summary}");
}

#[test]
fn what_will_not_do_is_said_at_the_first_such_field() {
    let mut form = form();
    write(&mut form, "toolong");
    press(&mut form, KeyCode::Down);
    write(&mut form, "x");
    press(&mut form, KeyCode::Up);
    press(&mut form, KeyCode::BackTab);
    press(&mut form, KeyCode::BackTab);
    assert_eq!(press(&mut form, KeyCode::Enter), PanelOutcome::Changed);
    assert_eq!(form.at, 0);
    let complaints: Vec<_> = form
        .entries
        .iter()
        .map(|entry| entry.complaint.as_deref())
        .collect();
    assert_eq!(
        complaints,
        [
            Some("takes at most 5 characters"),
            Some("must be a whole number"),
            None,
            Some("is needed")
        ]
    );
    press(&mut form, KeyCode::Backspace);
    assert_eq!(
        form.entries[0].complaint, None,
        "a change takes the complaint away"
    );
}

#[test]
fn one_can_decline_and_one_can_put_it_away() {
    let dismissed = Verdict::Answer(Answer::Dismiss);
    let outcome = press(&mut form(), KeyCode::Esc);
    assert_eq!(outcome, PanelOutcome::Done(dismissed.clone()));
    let mut form = form();
    press(&mut form, KeyCode::BackTab);
    let declined = Verdict::Answer(Answer::no());
    let outcome = press(&mut form, KeyCode::Enter);
    assert_eq!(outcome, PanelOutcome::Done(declined.clone()));
    assert_eq!(form.summary(&declined), "A server asks: declined");
    assert_eq!(form.summary(&dismissed), "A server asks: put away");
}

#[test]
fn what_is_proposed_stands_there_and_can_be_taken_away() {
    let options = colours();
    let (fewest, most) = (0, 2);
    let kind = FieldKind::Several {
        options,
        fewest,
        most,
    };
    let mut several = field("colours", false, kind);
    several.proposed = Some(json!(["r"]));
    let mut form = Form::new(&hermes_core::Form {
        from: String::new(),
        text: String::new(),
        fields: vec![several],
    });
    press(&mut form, KeyCode::End);
    write(&mut form, ", blue");
    press(&mut form, KeyCode::Enter);
    let sent = press(&mut form.clone(), KeyCode::Enter);
    let both = filled(json!({ "colours": ["r", "b"] }));
    assert_eq!(sent, PanelOutcome::Done(both));
    press(&mut form, KeyCode::Up);
    for _ in 0..10 {
        press(&mut form, KeyCode::Backspace);
    }
    press(&mut form, KeyCode::Enter);
    let sent = press(&mut form, KeyCode::Enter);
    assert_eq!(sent, PanelOutcome::Done(filled(json!({}))));
}
