use super::*;
use crossterm::event::{KeyCode, KeyModifiers};

fn press(form: &mut Form, code: KeyCode) -> PanelOutcome {
    form.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn write(form: &mut Form, text: &str) {
    for letter in text.chars() {
        press(form, KeyCode::Char(letter));
    }
}

fn field(name: &str, required: bool, kind: FieldKind) -> Field {
    Field {
        name: name.into(),
        label: name.into(),
        about: String::new(),
        required,
        kind,
        initial: String::new(),
    }
}

fn form() -> Form {
    let text = FieldKind::Text {
        shortest: 2,
        longest: 5,
    };
    Form::new(
        "A server asks",
        "It wants to know you.",
        vec![
            field("name", true, text),
            field("age", false, FieldKind::Integer),
            field("news", false, FieldKind::Bool),
            field(
                "colour",
                true,
                FieldKind::Choice(vec!["red".into(), "blue".into()]),
            ),
        ],
    )
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
    let expected = vec![
        ("name".to_owned(), FieldValue::Text("Ann".into())),
        ("age".to_owned(), FieldValue::Integer(41)),
        ("news".to_owned(), FieldValue::Bool(true)),
        ("colour".to_owned(), FieldValue::Text("blue".into())),
    ];
    let outcome = press(&mut form, KeyCode::Enter);
    assert_eq!(
        outcome,
        PanelOutcome::Done(Verdict::Filled(expected.clone()))
    );
    assert_eq!(
        form.summary(&Verdict::Filled(expected)),
        "A server asks: filled in name, age, news, colour"
    );
}

#[test]
fn what_will_not_do_is_said_at_the_first_such_field() {
    let mut form = form();
    write(&mut form, "toolong");
    press(&mut form, KeyCode::Down);
    write(&mut form, "x");
    press(&mut form, KeyCode::Up);
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
fn escape_declines() {
    assert_eq!(
        press(&mut form(), KeyCode::Esc),
        PanelOutcome::Done(Verdict::Closed)
    );
}
