//! What a regex cannot say: whether a matched value is key material or an ordinary word.

/// How a row's match is confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// The pattern alone is proof.
    Nothing,
    /// The value holds ten letters and digits in a row, of both kinds; package names and slugs do not.
    Dense,
    /// The value has a digit, or upper and lower case; identifiers in one case do not.
    Mixed,
    /// Not a stand-in such as `<token>`, `$TOKEN` or `password`.
    NotPlaceholder,
    /// An upper-case name that says secret, and a value that is not a number, path, URL or stand-in.
    Environment,
    /// Like `Environment`, and for tokens and keys the value must look like one.
    Assigned,
}

impl Check {
    pub(crate) fn accepts(self, name: Option<&[u8]>, value: &[u8], quoted: bool) -> bool {
        match self {
            Self::Nothing => true,
            Self::Dense => is_dense(value),
            Self::Mixed => is_mixed(value),
            Self::NotPlaceholder => !is_placeholder(value),
            Self::Environment => kind_of(name).is_some_and(|kind| is_value(kind, value, quoted)),
            Self::Assigned => kind_of(name).is_some_and(|kind| {
                is_value(kind, value, quoted)
                    && match kind {
                        Kind::Password => quoted || !is_code(value),
                        Kind::Token => looks_random(value),
                    }
            }),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anything can be a password.
    Password,
    /// Tokens and keys are random.
    Token,
}

/// Words that make a name about a secret instead of its name: `MAX_TOKEN_LENGTH`, `token_url`, `SSH_AUTH_SOCK`.
const ABOUT: &str = "max min limit count budget length size ttl expiry expires expiration timeout url uri endpoint \
    path file dir name names id ids type header prefix suffix env var hint usage policy required \
    enabled method mode provider format field version public label ref sock socket status index \
    line error at in used cost scope scopes issuer audience algorithm rotation";

/// What may stand before `key` to make it a secret one.
const KEY_OWNERS: &str = "api access private secret auth signing encryption master session account subscription service \
    shared deploy license";

const STAND_INS: &str = "true false none null nil undefined required optional string expired invalid missing redacted \
    hidden changeme example unset password passwd secret enabled disabled your-api-key \
    your_api_key your-token your-password placeholder username pass pwd token apikey api_key \
    default prompt bearer unknown incorrect forgotten wrong str option empty";

fn kind_of(name: Option<&[u8]>) -> Option<Kind> {
    let words = words(name?);
    if words.iter().any(|word| is_listed(ABOUT, word)) {
        return None;
    }
    let mut kind = None;
    for (at, word) in words.iter().enumerate() {
        match word.as_str() {
            "password" | "passwd" | "pwd" | "passphrase" | "secret" => return Some(Kind::Password),
            "token" | "apikey" | "credential" | "credentials" | "auth" | "bearer" => {
                kind = Some(Kind::Token)
            }
            "key" => {
                let owner = at.checked_sub(1).and_then(|before| words.get(before));
                if owner.is_some_and(|owner| is_listed(KEY_OWNERS, owner)) {
                    kind = Some(Kind::Token);
                }
            }
            _ => {}
        }
    }
    kind
}

/// Splits `apiKey`, `API_KEY` and `api-key` alike.
fn words(name: &[u8]) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for byte in name {
        if !byte.is_ascii_alphanumeric() || (was_lower && byte.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if byte.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        was_lower = byte.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn is_value(kind: Kind, value: &[u8], quoted: bool) -> bool {
    let is_number = value
        .iter()
        .all(|byte| byte.is_ascii_digit() || b".,_-%".contains(byte));
    let is_path = value.starts_with(b"/") || value.starts_with(b"./") || value.starts_with(b"~/");
    !is_placeholder(value)
        && !contains(value, b"://")
        && (quoted || !contains(value, b"("))
        && (kind == Kind::Password || !(is_number || is_path))
}

fn is_placeholder(value: &[u8]) -> bool {
    let Some(first) = value.first() else {
        return true;
    };
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let bare = text.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    b"$<{%([*".contains(first)
        || value.iter().all(|byte| byte == first)
        || is_listed(STAND_INS, bare)
        || [
            "xxx",
            "...",
            "***",
            "os.environ",
            "process.env",
            "env.",
            "getenv",
            "your-",
            "your_",
            "my-secret",
        ]
        .iter()
        .any(|start| text.starts_with(start))
}

/// `self.password`, `config.db_password`, `password_from_user`: an expression, not a value.
fn is_code(value: &[u8]) -> bool {
    value
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || b"_.:".contains(byte))
        && value.iter().any(|byte| b"_.:".contains(byte))
}

fn looks_random(value: &[u8]) -> bool {
    value.len() >= 8
        && has(value, u8::is_ascii_digit)
        && has(value, u8::is_ascii_alphabetic)
        && !value.contains(&b' ')
        || value.len() >= 20 && is_mixed(value) && !is_code(value) && !value.contains(&b' ')
}

fn is_mixed(value: &[u8]) -> bool {
    has(value, u8::is_ascii_digit)
        || (has(value, u8::is_ascii_uppercase) && has(value, u8::is_ascii_lowercase))
}

fn is_dense(value: &[u8]) -> bool {
    value
        .split(|byte| !byte.is_ascii_alphanumeric())
        .any(|run| {
            run.len() >= 10 && has(run, u8::is_ascii_digit) && has(run, u8::is_ascii_alphabetic)
        })
}

fn has(value: &[u8], kind: impl Fn(&u8) -> bool) -> bool {
    value.iter().any(kind)
}

fn contains(value: &[u8], needle: &[u8]) -> bool {
    value.windows(needle.len()).any(|window| window == needle)
}

fn is_listed(words: &str, word: &str) -> bool {
    words.split(' ').any(|listed| listed == word)
}
