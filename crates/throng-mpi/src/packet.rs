//! What travels between ranks: messages of the structure, and those by which ranks look after each
//! other.

use throng_messages::{Address, Message};

/// Words of a packet. All packets are of one size: they fit a cache line, and every MPI sends so
/// little at once, without asking the receiver.
pub(crate) const WORDS: usize = 6;

/// A packet as it travels.
pub(crate) type Words = [u64; WORDS];

/// What one rank tells another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// A message of the structure, for a role or client of the receiver.
    To(Address, Message),
    /// Are you there?
    Ping,
    /// I am.
    Pong,
    /// To rank 0: the sender will ask nothing any more, and serves on.
    Leaving,
    /// From rank 0: everybody has left, nobody needs to serve.
    AllLeft,
    /// The rank `0` cannot go on.
    Gone(u32),
}

impl Packet {
    /// The packet as words. `nonce` is the structure's: what is left over from another one that used
    /// the same communicator is recognised by it.
    pub(crate) fn encode(self, nonce: u64) -> Words {
        let (kind, rest): (u64, [u64; 4]) = match self {
            Packet::To(address, message) => {
                let (kind, [a, b, c]) = encode_message(message);
                (kind << 8, [encode_address(address), a, b, c])
            }
            Packet::Ping => (1, [0; 4]),
            Packet::Pong => (2, [0; 4]),
            Packet::Leaving => (3, [0; 4]),
            Packet::AllLeft => (4, [0; 4]),
            Packet::Gone(rank) => (5, [u64::from(rank), 0, 0, 0]),
        };
        [nonce, kind, rest[0], rest[1], rest[2], rest[3]]
    }

    /// The packet of these words; `None` where it is not of the structure `nonce`, or nonsense.
    pub(crate) fn decode(words: &Words, nonce: u64) -> Option<Packet> {
        let [of, kind, a, b, c, d] = *words;
        if of != nonce {
            return None;
        }
        Some(match kind & 0xff {
            0 => Packet::To(decode_address(a), decode_message(kind >> 8, [b, c, d])?),
            1 => Packet::Ping,
            2 => Packet::Pong,
            3 => Packet::Leaving,
            4 => Packet::AllLeft,
            5 => Packet::Gone(u32::try_from(a).ok()?),
            _ => return None,
        })
    }
}

fn encode_address(address: Address) -> u64 {
    match address {
        Address::Role(number) => u64::from(number),
        Address::Client(number) => 1 << 32 | u64::from(number),
    }
}

fn decode_address(word: u64) -> Address {
    let number = word as u32;
    if word >> 32 == 0 { Address::Role(number) } else { Address::Client(number) }
}

fn encode_message(message: Message) -> (u64, [u64; 3]) {
    match message {
        Message::Ask { asker, count } => (0, [encode_address(asker), count, 0]),
        Message::Numbers { first, count } => (1, [first, count, 0]),
        Message::Arrived { step } => (2, [u64::from(step), 0, 0]),
        Message::Released => (3, [0; 3]),
    }
}

fn decode_message(kind: u64, [a, b, _]: [u64; 3]) -> Option<Message> {
    Some(match kind {
        0 => Message::Ask { asker: decode_address(a), count: b },
        1 => Message::Numbers { first: a, count: b },
        2 => Message::Arrived { step: u32::try_from(a).ok()? },
        3 => Message::Released,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_what_arrives() {
        let client = Address::Client(u32::MAX);
        for packet in [
            Packet::To(Address::Role(7), Message::Ask { asker: client, count: 3 }),
            Packet::To(client, Message::Numbers { first: u64::MAX, count: 1 }),
            Packet::To(client, Message::Arrived { step: 9 }),
            Packet::To(client, Message::Released),
            Packet::Ping,
            Packet::Pong,
            Packet::Leaving,
            Packet::AllLeft,
            Packet::Gone(5),
        ] {
            assert_eq!(Packet::decode(&packet.encode(17), 17), Some(packet));
        }
    }

    #[test]
    fn what_another_structure_sent_is_not_taken() {
        assert_eq!(Packet::decode(&Packet::Ping.encode(17), 18), None);
    }
}
