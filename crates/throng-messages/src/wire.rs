//! Messages as words, for hosts that carry bytes.

use crate::message::{Address, Message};

const CLIENT: u64 = 1 << 32;

const ASK: u64 = 1;
const NUMBERS: u64 = 2;
const ARRIVED: u64 = 3;
const RELEASED: u64 = 4;

impl Address {
    /// Returns the address as a word: the number, and 2^32 for a client.
    #[must_use]
    pub const fn to_word(self) -> u64 {
        match self {
            Address::Role(number) => number as u64,
            Address::Client(number) => CLIENT | number as u64,
        }
    }

    /// Returns the address that this word encodes, or `None` if it encodes none.
    #[must_use]
    pub const fn from_word(word: u64) -> Option<Self> {
        let number = word as u32;
        match word & !(u32::MAX as u64) {
            0 => Some(Address::Role(number)),
            CLIENT => Some(Address::Client(number)),
            _ => None,
        }
    }
}

impl Message {
    /// The number of words of a message.
    pub const WORDS: usize = 3;

    /// Returns the message as words: its kind, and two words of content, 0 if there is none.
    ///
    /// ```
    /// use throng_messages::Message;
    ///
    /// let words = Message::Numbers { first: 7, count: 1 }.to_words();
    /// assert_eq!(Message::from_words(words), Some(Message::Numbers { first: 7, count: 1 }));
    /// assert_eq!(Message::from_words([0; Message::WORDS]), None);
    /// ```
    #[must_use]
    pub const fn to_words(self) -> [u64; Message::WORDS] {
        match self {
            Message::Ask { asker, count } => [ASK, asker.to_word(), count],
            Message::Numbers { first, count } => [NUMBERS, first, count],
            Message::Arrived { step } => [ARRIVED, step as u64, 0],
            Message::Released => [RELEASED, 0, 0],
        }
    }

    /// Returns the message that these words encode, or `None` if they encode none.
    #[must_use]
    pub fn from_words(words: [u64; Message::WORDS]) -> Option<Self> {
        match words {
            [ASK, asker, count] => Some(Message::Ask { asker: Address::from_word(asker)?, count }),
            [NUMBERS, first, count] => Some(Message::Numbers { first, count }),
            [ARRIVED, step, 0] => Some(Message::Arrived { step: step.try_into().ok()? }),
            [RELEASED, 0, 0] => Some(Message::Released),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn addresses() -> impl Strategy<Value = Address> {
        prop_oneof![any::<u32>().prop_map(Address::Role), any::<u32>().prop_map(Address::Client),]
    }

    fn messages() -> impl Strategy<Value = Message> {
        prop_oneof![
            (addresses(), any::<u64>()).prop_map(|(asker, count)| Message::Ask { asker, count }),
            any::<(u64, u64)>().prop_map(|(first, count)| Message::Numbers { first, count }),
            any::<u32>().prop_map(|step| Message::Arrived { step }),
            Just(Message::Released),
        ]
    }

    /// Words, many of which are nearly messages.
    fn words() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..6, Just(CLIENT), Just(2 * CLIENT), any::<u64>()]
    }

    proptest! {
        #[test]
        fn messages_come_back_from_their_words(message in messages(), address in addresses()) {
            prop_assert_eq!(Message::from_words(message.to_words()), Some(message));
            prop_assert_eq!(Address::from_word(address.to_word()), Some(address));
        }

        #[test]
        fn words_that_are_a_message_are_the_words_of_that_message(
            words in [words(), words(), words()],
        ) {
            if let Some(message) = Message::from_words(words) {
                prop_assert_eq!(message.to_words(), words);
            }
            if let Some(address) = Address::from_word(words[1]) {
                prop_assert_eq!(address.to_word(), words[1]);
            }
        }
    }

    #[test]
    fn words_that_are_no_message_are_refused() {
        let none =
            [[0; 3], [5, 0, 0], [ASK, 2 * CLIENT, 1], [ARRIVED, CLIENT, 0], [RELEASED, 0, 1]];
        for words in none {
            assert_eq!(Message::from_words(words), None, "{words:?}");
        }
    }
}
