use super::*;

#[test]
fn as_many_names_are_listed_as_fit() {
    let names: Vec<String> = ["read", "write", "search"]
        .iter()
        .map(ToString::to_string)
        .collect();
    let theme = Theme::default();
    for (columns, expected) in [
        (40, "file: read, write, search"),
        (24, "file: read and 2 more"),
        (10, "file: 3"),
    ] {
        assert_eq!(
            listed("file: ", &names, columns, &theme).to_string(),
            expected,
            "{columns}"
        );
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let banner = Banner {
        version: "0.1.0".to_owned(),
        model: "a-model-with-a-rather-long-name-that-goes-on".to_owned(),
        directory: "/home/somebody/with/a/very/long/path/to/a/project".to_owned(),
        tools: (0..20)
            .map(|n| (format!("set{n}"), vec!["tool".to_owned(); n]))
            .collect(),
        servers: vec![Server {
            name: "日本".repeat(40),
            tools: None,
        }],
        ..Banner::default()
    };
    for columns in 0..150 {
        for line in banner.lines(Form::Full, columns, &Theme::default()) {
            assert!(width(&line.to_string()) <= columns, "{columns}: {line}");
        }
    }
}
