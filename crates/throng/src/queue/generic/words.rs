//! The two words that tickets are drawn from, as values.
//!
//! A ticket is a number of 43 bits. The ticket after the last is 0 again, so tickets are compared
//! by their distance. The producers' word, the *tail*, holds the next ticket and the *room*: the
//! number of tickets that may be drawn before a producer must read the position of the consumers:
//!
//! | bits | tail |
//! |---|---|
//! | 63..21 | the next ticket |
//! | 20..1 | room - 1, two's complement |
//! | 0 | consumers sleep and must be woken when an item is in place |
//!
//! A draw adds 1 to the ticket and subtracts 1 from the room in one `fetch_add`. If the room was
//! not above 0, the draw is void. Void draws change both parts equally, so the ticket that is
//! really next can always be computed. A bounded queue therefore needs one `fetch_add` for each
//! push, and one compare-exchange each time the room is used up.
//!
//! | room | meaning |
//! |---|---|
//! | 1 to 2^18 | this number of tickets may be drawn |
//! | 0 to -2^17 + 1 | no room; minus this number of draws were void |
//! | -2^17 to -2^18 + 1 | frozen: an unbounded queue is being given a larger ring |
//! | -2^18 and below | closed |
//!
//! The consumers' word, the *head*:
//!
//! | bits | head |
//! |---|---|
//! | 63..21 | the next ticket |
//! | 1 | producers sleep and must be woken when there is room |
//! | 0 | closed |

/// The bits below a ticket in either word.
const TICKET_SHIFT: u32 = 21;
/// One ticket: what a draw adds to the head.
pub(super) const ONE: u64 = 1 << TICKET_SHIFT;
/// What a draw adds to the tail: one ticket more, one place less.
pub(super) const DRAW_PUSH: u64 = ONE - 2;

/// The flag of the tail for sleeping consumers.
pub(super) const CONSUMERS_SLEEP: u64 = 1;
/// The flag of the head for sleeping producers.
pub(super) const PRODUCERS_SLEEP: u64 = 2;
/// The flag of the head for a closed queue.
pub(super) const HEAD_CLOSED: u64 = 1;

/// The largest room that is granted at once.
pub(super) const MOST_ROOM: i64 = 1 << 18;
/// The largest value of the room of a tail that is frozen.
pub(super) const FROZEN: i64 = -(1 << 17);
/// The largest value of the room of a tail that is closed.
pub(super) const CLOSED: i64 = -(1 << 18);

/// The number of a push, and of the pop that gets its item. The number is in the upper 43 bits; the lower
/// 21 bits are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(pub(super) u64);

impl Ticket {
    #[inline]
    pub(super) const fn new(number: u64) -> Self {
        Ticket(number << TICKET_SHIFT)
    }

    /// Returns the ticket in the upper bits of a head or tail.
    #[inline]
    pub(super) const fn of_word(word: u64) -> Self {
        Ticket(word & !(ONE - 1))
    }

    /// Returns the number, of which only the lower bits are used.
    #[inline]
    pub(super) const fn number(self) -> usize {
        (self.0 >> TICKET_SHIFT) as usize
    }

    /// Returns the distance from `other` to `self`; negative if `self` is behind.
    #[inline]
    pub(super) const fn ahead_of(self, other: Ticket) -> i64 {
        (self.0.wrapping_sub(other.0) as i64) >> TICKET_SHIFT
    }

    /// Returns the ticket `count` after this one, or before it if `count` is negative.
    #[inline]
    pub(super) const fn plus(self, count: i64) -> Self {
        Ticket(self.0.wrapping_add((count << TICKET_SHIFT) as u64))
    }
}

/// A value of the tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tail(pub(super) u64);

/// The reason why no ticket can be drawn from the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    /// The room is used up; a look at the head may find more.
    UsedUp,
    /// A larger ring is being added.
    Frozen,
    /// No ticket will be drawn any more.
    Closed,
}

impl Tail {
    pub(super) const fn new(next: Ticket, room: i64, flag: u64) -> Self {
        Tail(next.0.wrapping_add(((room - 1) << 1) as u64) | flag)
    }

    const fn room(self) -> i64 {
        (((self.0 << (64 - TICKET_SHIFT)) as i64) >> (65 - TICKET_SHIFT)) + 1
    }

    pub(super) const fn flag(self) -> u64 {
        self.0 & CONSUMERS_SLEEP
    }

    /// Returns whether a draw is not void.
    #[inline]
    pub(super) const fn has_room(self) -> bool {
        self.0 & (ONE >> 1) == 0
    }

    /// Returns the ticket that a draw gets if it is not void.
    #[inline]
    pub(super) const fn drawn(self) -> Ticket {
        // With room above 0 its bits do not borrow from the ticket's.
        Ticket::of_word(self.0)
    }

    /// Returns the reason why there is no room.
    pub(super) const fn no_room(self) -> NoRoom {
        match self.room() {
            room if room > FROZEN => NoRoom::UsedUp,
            room if room > CLOSED => NoRoom::Frozen,
            _ => NoRoom::Closed,
        }
    }

    #[inline]
    pub(super) const fn is_closed(self) -> bool {
        !self.has_room() && matches!(self.no_room(), NoRoom::Closed)
    }

    /// Returns whether the room is used up and no draw was void.
    #[inline]
    pub(super) const fn is_used_up(self) -> bool {
        self.0 | CONSUMERS_SLEEP == self.0 | (ONE - 1)
    }

    /// Returns the next ticket, without void draws.
    #[inline]
    pub(super) const fn next(self) -> Ticket {
        if self.has_room() { self.drawn() } else { self.next_without_void() }
    }

    #[inline]
    const fn next_without_void(self) -> Ticket {
        let empty = match self.no_room() {
            NoRoom::UsedUp => 0,
            NoRoom::Frozen => FROZEN,
            NoRoom::Closed => CLOSED,
        };
        let void = empty - self.room();
        // A room of 0 or less has borrowed 1 from the ticket.
        self.drawn().plus(1 - void)
    }
}

/// A value of the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head(pub(super) u64);

impl Head {
    #[inline]
    pub(super) const fn next(self) -> Ticket {
        Ticket::of_word(self.0)
    }

    /// Returns whether producers sleep. The consumer that draws from this head must wake them.
    #[inline]
    pub(super) const fn producers_sleep(self) -> bool {
        self.0 & PRODUCERS_SLEEP != 0
    }

    pub(super) const fn is_closed(self) -> bool {
        self.0 & HEAD_CLOSED != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn void_draws_are_not_counted() {
        for first in [0, 5, (1 << 43) - 2] {
            for (room, no_room) in [
                (3, NoRoom::UsedUp),
                (0, NoRoom::UsedUp),
                (FROZEN, NoRoom::Frozen),
                (CLOSED, NoRoom::Closed),
            ] {
                for flag in [0, CONSUMERS_SLEEP] {
                    let first = Ticket::new(first);
                    let mut tail = Tail::new(first, room, flag);
                    for draw in 0..100 {
                        let valid = draw.min(room.max(0));
                        assert_eq!(tail.next(), first.plus(valid), "{draw} draws from room {room}");
                        assert_eq!((tail.has_room(), tail.flag()), (draw < room, flag));
                        assert_eq!(tail.is_used_up(), draw == room);
                        if tail.has_room() {
                            assert_eq!(tail.drawn(), first.plus(valid));
                        } else {
                            assert_eq!(tail.no_room(), no_room);
                        }
                        tail = Tail(tail.0.wrapping_add(DRAW_PUSH));
                    }
                }
            }
        }
    }

    #[test]
    fn distances_wrap() {
        let (last, first) = (Ticket::new(u64::MAX), Ticket::new(0));
        assert_eq!((first.ahead_of(last), last.ahead_of(first)), (1, -1));
        assert_eq!((last.plus(1), first.plus(-1)), (first, last));
    }
}
