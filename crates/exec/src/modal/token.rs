//! The token in the settings of the vendor's own client.

/// A token's id and its secret part.
pub(crate) type Token = (String, String);

/// Finds the token in the text of `~/.modal.toml`: that of `profile`, otherwise of the active one, otherwise of the only
/// one.
pub(crate) fn from_settings(text: &str, profile: Option<&str>) -> Option<Token> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|line| line.split(']').next())
        {
            sections.push(Section {
                name: unquoted(name).to_owned(),
                ..Section::default()
            });
            continue;
        }
        let (Some(section), Some((key, value))) = (sections.last_mut(), line.split_once('='))
        else {
            continue;
        };
        let value = unquoted(value);
        match key.trim() {
            "token_id" => section.id = Some(value.to_owned()),
            "token_secret" => section.secret = Some(value.to_owned()),
            "active" => section.active = value == "true",
            _ => {}
        }
    }
    let chosen = match profile {
        Some(profile) => sections.iter().position(|section| section.name == profile),
        None if sections.len() == 1 => Some(0),
        None => sections.iter().position(|section| section.active),
    }?;
    let Section { id, secret, .. } = sections.swap_remove(chosen);
    Some((id?, secret?))
}

#[derive(Default)]
struct Section {
    name: String,
    id: Option<String>,
    secret: Option<String>,
    active: bool,
}

/// A value without its quotes or the remark behind it.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote) {
            return rest.split(quote).next().unwrap_or(rest);
        }
    }
    value.split('#').next().unwrap_or(value).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_of_the_right_profile_is_found() {
        let text = "# mine\n[one]\ntoken_id = \"ak-1\" # id\ntoken_secret = 'as-1'\n\n[two]\ntoken_id=\"ak-2\"\ntoken_secret=\"as-2\"\nactive = true # now\n";
        let token = |id: &str, secret: &str| Some((id.to_owned(), secret.to_owned()));
        assert_eq!(from_settings(text, None), token("ak-2", "as-2"));
        assert_eq!(from_settings(text, Some("one")), token("ak-1", "as-1"));
        assert_eq!(from_settings(text, Some("three")), None);
        let only = "[default]\ntoken_id = \"ak-1\"\ntoken_secret = \"as-1\"\n";
        assert_eq!(from_settings(only, None), token("ak-1", "as-1"));
        assert_eq!(from_settings("", None), None);
        assert_eq!(from_settings("[a]\ntoken_id = \"x\"\n", None), None);
    }
}
