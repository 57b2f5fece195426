//! The packets between ranks: messages of the structure, and those by which ranks detect dead
//! ranks.

use throng_messages::{Address, Message};

/// The number of words of a packet. All packets are of one size: they fit a cache line, and every
/// MPI sends a message of this size at once, without asking the receiver.
pub(crate) const WORDS: usize = 3 + Message::WORDS;

/// An encoded packet.
pub(crate) type Words = [u64; WORDS];

/// A packet from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// A message of the structure, for a role or client of the receiver.
    To(Address, Message),
    /// Asks for a sign of life: the sender depends on the receiver, and waits.
    Ping,
    /// A sign of life.
    Pong,
    /// To rank 0: the sender will ask nothing any more, and continues to serve. It has passed this
    /// number of rounds, if there are rounds.
    Leaving(u64),
    /// From rank 0: no member will pass more than this number of rounds, because this rank has
    /// left.
    Last(u32, u64),
    /// From rank 0: all ranks have left, none needs to serve.
    AllLeft,
    /// To rank 0, after `AllLeft`: the sender sends nothing else any more. The numbers of packets that it has sent, and
    /// received so far. `Quiet` and `Over` do not count.
    Quiet(u64, u64),
    /// From rank 0: all packets have been received. This is the last one.
    Over,
    /// This rank cannot continue.
    Gone(u32),
    /// The sender depends on this rank, which has been silent for this many nanoseconds.
    Missed(u32, u64),
}

const TO: u64 = 1;
const PING: u64 = 2;
const PONG: u64 = 3;
const LEAVING: u64 = 4;
const LAST: u64 = 5;
const ALL_LEFT: u64 = 6;
const GONE: u64 = 7;
const MISSED: u64 = 8;
const QUIET: u64 = 9;
const OVER: u64 = 10;

impl Packet {
    /// Returns whether it is one of the packets that ranks count to find out whether all have been received.
    pub(crate) fn counts(self) -> bool {
        !matches!(self, Packet::Quiet(..) | Packet::Over)
    }

    /// Returns the packet as words. `nonce` is the structure's: packets left over from another one
    /// that used the same communicator are recognised by it.
    pub(crate) fn encode(self, nonce: u64) -> Words {
        match self {
            Packet::To(address, message) => {
                let [a, b, c] = message.to_words();
                [nonce, TO, address.to_word(), a, b, c]
            }
            Packet::Ping => [nonce, PING, 0, 0, 0, 0],
            Packet::Pong => [nonce, PONG, 0, 0, 0, 0],
            Packet::Leaving(rounds) => [nonce, LEAVING, rounds, 0, 0, 0],
            Packet::Last(rank, rounds) => [nonce, LAST, rank.into(), rounds, 0, 0],
            Packet::AllLeft => [nonce, ALL_LEFT, 0, 0, 0, 0],
            Packet::Quiet(sent, received) => [nonce, QUIET, sent, received, 0, 0],
            Packet::Over => [nonce, OVER, 0, 0, 0, 0],
            Packet::Gone(rank) => [nonce, GONE, rank.into(), 0, 0, 0],
            Packet::Missed(rank, silent_ns) => [nonce, MISSED, rank.into(), silent_ns, 0, 0],
        }
    }

    /// Returns the packet of these words, or `None` if it is not of the structure `nonce`, or not
    /// valid.
    pub(crate) fn decode(words: &Words, nonce: u64) -> Option<Packet> {
        let [of, kind, a, b, c, d] = *words;
        if of != nonce {
            return None;
        }
        Some(match kind {
            TO => Packet::To(Address::from_word(a)?, Message::from_words([b, c, d])?),
            PING => Packet::Ping,
            PONG => Packet::Pong,
            LEAVING => Packet::Leaving(a),
            LAST => Packet::Last(a.try_into().ok()?, b),
            ALL_LEFT => Packet::AllLeft,
            QUIET => Packet::Quiet(a, b),
            OVER => Packet::Over,
            GONE => Packet::Gone(a.try_into().ok()?),
            MISSED => Packet::Missed(a.try_into().ok()?, b),
            _ => return None,
        })
    }
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
            Packet::Leaving(u64::MAX),
            Packet::Last(3, 4),
            Packet::AllLeft,
            Packet::Quiet(7, u64::MAX),
            Packet::Over,
            Packet::Gone(5),
            Packet::Missed(6, u64::MAX),
        ] {
            assert_eq!(Packet::decode(&packet.encode(17), 17), Some(packet));
        }
    }

    #[test]
    fn what_another_structure_sent_is_not_taken() {
        assert_eq!(Packet::decode(&Packet::Ping.encode(17), 18), None);
    }
}
