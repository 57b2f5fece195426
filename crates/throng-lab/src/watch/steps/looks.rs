//! What the value of a word means, in a few letters.

/// The meaning of a word's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// A number.
    Number,
    /// A number that may be below 0.
    Signed,
    /// 0 is free, all else is taken.
    Lock,
    /// The lowest bit is the side to which the next token goes.
    Toggle,
    /// 0, or a processor's id plus 1.
    Processor,
    /// 0, or the node at which a processor can be met.
    Location,
    /// The state of a node that folds and unfolds.
    Role,
    /// 0 is a leaf, 1 a balancer.
    Link,
    /// 0 is no vote, else the level of a vote plus 1.
    Vote,
    /// The state of a combining node.
    Combining,
    /// The state of a combining node with a lock.
    CombiningLocked,
    /// A number of tickets, times 2.
    Published,
    /// A flag for each byte.
    Bytes,
    /// The content of a cell, which is not recorded.
    Hidden,
}

/// A value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// A few letters.
    pub text: String,
    /// Whether it is anything but the state of rest.
    pub is_on: bool,
    /// A processor that it names.
    pub processor: Option<usize>,
}

impl Look {
    /// Returns what to show for a value; `None` is a word that no processor uses in this run.
    pub fn show(self, value: Option<u64>) -> Shown {
        let plain = |text: String, is_on| Shown { text, is_on, processor: None };
        let Some(value) = value else { return plain("\u{2013}".to_owned(), false) };
        let is_on = value != 0;
        match self {
            Look::Number => plain(number(value), is_on),
            Look::Signed => plain((value as i64).to_string(), is_on),
            Look::Lock => plain(if is_on { "taken" } else { "free" }.to_owned(), is_on),
            Look::Toggle => {
                let side = if value & 1 == 0 { "\u{2190} left" } else { "right \u{2192}" };
                plain(side.to_owned(), value & 1 == 1)
            }
            Look::Processor if !is_on => plain("empty".to_owned(), false),
            Look::Processor => {
                let id = value as usize - 1;
                Shown { text: id.to_string(), is_on, processor: Some(id) }
            }
            Look::Location if !is_on => plain("\u{2013}".to_owned(), false),
            Look::Location => plain(format!("at {}", value & 0xffff_ffff), true),
            Look::Role => {
                let role = ["off", "counts", "drains", "balances"][(value & 3) as usize];
                plain(role.to_owned(), value & 3 != 0)
            }
            Look::Link => plain(if is_on { "balancer" } else { "leaf" }.to_owned(), is_on),
            Look::Vote if !is_on => plain("no".to_owned(), false),
            Look::Vote => plain(format!("level {}", value - 1), true),
            Look::Combining => {
                let states = ["idle", "first", "second", "deposited", "result", "closed"];
                plain(states.get(value as usize).unwrap_or(&"?").to_string(), is_on)
            }
            Look::CombiningLocked => {
                let states = ["free", "combine", "result", "root"];
                plain(states.get(value as usize).unwrap_or(&"?").to_string(), is_on)
            }
            Look::Published => plain(number(value >> 1), value >> 1 != 0),
            Look::Bytes => {
                let bytes = value.to_le_bytes();
                let used = 8 - value.leading_zeros() as usize / 8;
                let flags = bytes[..used.max(1)].iter();
                let flags = flags.map(|&byte| if byte == 0 { '\u{25cb}' } else { '\u{25cf}' });
                plain(flags.collect(), is_on)
            }
            Look::Hidden => plain("\u{2026}".to_owned(), false),
        }
    }
}

fn number(value: u64) -> String {
    match value {
        0..1_000_000 => value.to_string(),
        u64::MAX => "none".to_owned(),
        // Several values in one word: the end of it is what changes.
        _ => format!("\u{2026}{:04x}", value & 0xffff),
    }
}
