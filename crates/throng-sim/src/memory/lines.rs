//! The lines of a memory with caches: the home of each, its copies, and its counts.

use throng::machine::{Home, Place};

use super::copies::Copies;
use super::seats::Seats;
use super::{Kind, LineId, Request, Revoked};
use crate::report::Traffic;

/// A line.
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) copies: Copies,
    /// The node in whose memory it is.
    pub(super) home: usize,
    /// The time when all requests that were taken up have been served, and the next one can be.
    pub(super) free_at: u64,
    /// The time when the last processor that was given the right to write has it.
    pub(super) settled_at: u64,
    pub(super) traffic: Traffic,
}

/// All lines.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(super) seats: Seats,
    lines: Vec<Line>,
    /// The node that gets the next line without a fixed home.
    next_home: usize,
    /// The numbers of copies given out, and taken back.
    granted: u64,
    revoked: u64,
}

impl Lines {
    pub(super) fn new(seats: Seats) -> Self {
        Lines { seats, lines: Vec::new(), next_home: 0, granted: 0, revoked: 0 }
    }

    /// Returns the node of a processor.
    #[inline]
    pub(super) fn node(&self, processor: usize) -> usize {
        self.seats.node(processor)
    }

    /// Adds a line. A line without a fixed home goes to the next node in turn.
    pub(super) fn add(&mut self, place: Place) {
        let home = match place.home {
            Home::Near(id) => self.node(id % self.seats.processors()),
            Home::Anywhere => {
                let home = self.next_home;
                self.next_home = (home + 1) % self.seats.count;
                home
            }
        };
        self.lines.push(Line {
            copies: Copies::none(),
            home,
            free_at: 0,
            settled_at: 0,
            traffic: Traffic::default(),
        });
    }

    #[inline]
    pub(super) fn get(&mut self, line: LineId) -> &mut Line {
        &mut self.lines[line as usize]
    }

    pub(super) fn traffic(&self, line: LineId) -> Traffic {
        self.lines[line as usize].traffic
    }

    #[inline]
    pub(super) fn holds(&self, processor: usize, line: LineId) -> bool {
        self.lines[line as usize].copies.holds(processor)
    }

    /// Returns whether the processor's own copy is enough for the access. Counts a hit or a miss.
    #[inline]
    pub(super) fn hit(&mut self, request: Request) -> bool {
        let line = self.get(request.line);
        let hit = match request.kind {
            Kind::Read => line.copies.holds(request.processor),
            Kind::Write | Kind::Exchange | Kind::FetchOp => {
                line.copies.owner() == Some(request.processor)
            }
        };
        line.traffic.hits += u64::from(hit);
        line.traffic.misses += u64::from(!hit);
        hit
    }

    /// Counts an access that no copy could have served.
    #[inline]
    pub(super) fn miss(&mut self, request: Request) {
        self.get(request.line).traffic.misses += 1;
    }

    /// Gives the processor a copy to read.
    #[inline]
    pub(super) fn share(&mut self, request: Request) {
        let processors = self.seats.processors();
        let more = self.get(request.line).copies.share(request.processor, processors);
        self.granted += more as u64;
    }

    /// Gives the processor the only copy, and the right to write. All other holders are
    /// notified, at the times that `told_at` returns.
    pub(super) fn own(
        &mut self,
        request: Request,
        revoked: &mut Revoked,
        told_at: impl FnMut(usize) -> u64,
    ) {
        let had = u64::from(self.holds(request.processor, request.line));
        self.revoke(request, revoked, told_at);
        self.granted += 1 - had;
        self.get(request.line).copies.own(request.processor);
    }

    /// Like [`own`](Lines::own), if only `owner`, another processor, has a copy.
    #[inline]
    pub(super) fn take_over(
        &mut self,
        request: Request,
        owner: usize,
        told_at: u64,
    ) -> (usize, u64) {
        let line = self.get(request.line);
        debug_assert_eq!(line.copies.owner(), Some(owner));
        line.copies.own(request.processor);
        line.traffic.invalidations += 1;
        self.granted += 1;
        self.revoked += 1;
        (owner, told_at)
    }

    /// Removes all copies, the processor's own as well. The other holders are notified.
    pub(super) fn clear(
        &mut self,
        request: Request,
        revoked: &mut Revoked,
        told_at: impl FnMut(usize) -> u64,
    ) {
        let had = u64::from(self.holds(request.processor, request.line));
        self.revoke(request, revoked, told_at);
        self.revoked += had;
        self.get(request.line).copies.clear();
    }

    fn revoke(
        &mut self,
        request: Request,
        revoked: &mut Revoked,
        mut told_at: impl FnMut(usize) -> u64,
    ) {
        let line = self.get(request.line);
        let tell = |other| revoked.push((other, told_at(other)));
        let others = line.copies.for_others(request.processor, tell) as u64;
        line.traffic.invalidations += others;
        self.revoked += others;
    }

    /// Checks that exactly the copies that were given out and not taken back exist.
    pub(super) fn check_conservation(&self) {
        let held: u64 = self.lines.iter().map(|line| line.copies.count() as u64).sum();
        assert_eq!(
            self.granted,
            self.revoked + held,
            "copies given out against copies taken back and held"
        );
        for line in &self.lines {
            assert!(line.copies.owner().is_none() || line.copies.count() == 1, "one may write");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns two lines; the first has two copies, the second one that may write.
    fn lines() -> Lines {
        let mut lines = Lines::new(Seats::new(8, 8, 2));
        lines.add(Place::named("a").near(5));
        lines.add(Place::named("b"));
        let request = |processor, line| Request { processor, line, kind: Kind::Read };
        lines.share(request(1, 0));
        lines.share(request(2, 0));
        lines.own(request(3, 1), &mut Vec::new(), |_| unreachable!("there is no copy"));
        lines
    }

    #[test]
    fn what_is_right_is_not_complained_about() {
        let mut lines = lines();
        lines.check_conservation();
        assert_eq!((lines.get(0).home, lines.get(1).home, lines.seats.count), (2, 0, 4));
        let mut revoked = Vec::new();
        let write = Request { processor: 2, line: 0, kind: Kind::Write };
        assert!(!lines.hit(write));
        lines.own(write, &mut revoked, |other| 100 + other as u64);
        assert_eq!(revoked, [(1, 101)]);
        assert!(lines.hit(write));
        lines.check_conservation();
        lines.clear(write, &mut revoked, |_| unreachable!("only its own copy is left"));
        lines.check_conservation();
        let Traffic { hits, misses, invalidations, .. } = lines.traffic(0);
        assert_eq!((hits, misses, invalidations), (1, 1, 1));
    }

    #[test]
    #[should_panic(expected = "copies given out")]
    fn a_copy_that_is_lost_is_missed() {
        let mut lines = lines();
        lines.get(0).copies.clear();
        lines.check_conservation();
    }

    #[test]
    #[should_panic(expected = "copies given out")]
    fn a_copy_that_comes_from_nowhere_is_seen() {
        let mut lines = lines();
        lines.get(0).copies.share(7, 8);
        lines.check_conservation();
    }
}
