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

/// A copy that has been given to others, but whose holder has not been told yet.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    line: LineId,
    /// The time when the holder is told: it uses the copy until then.
    until: u64,
    /// Whether it may write until then.
    exclusive: bool,
}

/// All lines.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(super) seats: Seats,
    lines: Vec<Line>,
    /// For each processor its copies that are leaving; some may be gone.
    leaving: Vec<Vec<Leaving>>,
    /// The node that gets the next line without a fixed home.
    next_home: usize,
    /// The numbers of copies given out, and taken back.
    granted: u64,
    revoked: u64,
}

impl Lines {
    pub(super) fn new(seats: Seats) -> Self {
        let leaving = vec![Vec::new(); seats.processors()];
        Lines { seats, lines: Vec::new(), leaving, next_home: 0, granted: 0, revoked: 0 }
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

    /// Returns the time until which the processor can use the copy that it has `now`: a time beyond
    /// all others if no other processor has asked for it.
    pub(super) fn copy_until(&self, processor: usize, line: LineId, now: u64) -> Option<u64> {
        if self.holds(processor, line) {
            return Some(u64::MAX);
        }
        let leaving = self.leaving[processor].iter();
        leaving.filter(|copy| copy.line == line && copy.until > now).map(|copy| copy.until).max()
    }

    /// Returns whether the processor has a copy that has not left at the time `done` and suffices.
    #[cold]
    fn lingers(&mut self, request: Request, done: u64) -> bool {
        let leaving = &mut self.leaving[request.processor];
        leaving.retain(|copy| copy.until >= done);
        let suffices = |copy: &Leaving| {
            copy.line == request.line && (copy.exclusive || request.kind == Kind::Read)
        };
        leaving.iter().any(suffices)
    }

    /// Returns whether the processor's own copy is enough for an access that would be complete at
    /// `done`. Counts a hit or a miss.
    #[inline]
    pub(super) fn hit(&mut self, request: Request, done: u64) -> bool {
        let copies = &self.get(request.line).copies;
        let hit = match request.kind {
            Kind::Read => copies.holds(request.processor),
            Kind::Write | Kind::Exchange | Kind::FetchOp => {
                copies.owner() == Some(request.processor)
            }
        };
        let may_linger = || !self.leaving[request.processor].is_empty();
        let hit = hit || (may_linger() && self.lingers(request, done));
        let line = self.get(request.line);
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

    /// Lets a processor, which may write the line, do so until it is told at this time that others
    /// read it.
    #[inline]
    pub(super) fn may_write_until(&mut self, owner: usize, line: LineId, told_at: u64) {
        debug_assert_eq!(self.get(line).copies.owner(), Some(owner));
        self.leaving[owner].push(Leaving { line, until: told_at, exclusive: true });
    }

    /// Gives the processor the only copy, and the right to write. All other holders are
    /// notified, at the times that `told_at` returns; until then they use their copies.
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
        self.may_write_until(owner, request.line, told_at);
        let line = self.get(request.line);
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
        let Lines { lines, leaving, .. } = self;
        let line = &mut lines[request.line as usize];
        let exclusive = line.copies.owner().is_some();
        let tell = |other: usize| {
            let until = told_at(other);
            revoked.push((other, until));
            leaving[other].push(Leaving { line: request.line, until, exclusive });
        };
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
        assert!(!lines.hit(write, 50));
        lines.own(write, &mut revoked, |other| 100 + other as u64);
        assert_eq!(revoked, [(1, 101)]);
        assert!(lines.hit(write, 51));
        lines.check_conservation();
        lines.clear(write, &mut revoked, |_| unreachable!("only its own copy is left"));
        lines.check_conservation();
        let Traffic { hits, misses, invalidations, .. } = lines.traffic(0);
        assert_eq!((hits, misses, invalidations), (1, 1, 1));
    }

    #[test]
    fn a_copy_is_used_until_its_holder_is_told() {
        let mut lines = lines();
        let request = |processor, line, kind| Request { processor, line, kind };
        lines.own(request(2, 0, Kind::Write), &mut Vec::new(), |_| 101);
        assert_eq!([1, 2, 3].map(|holder| lines.copy_until(holder, 0, 100)), {
            [Some(101), Some(u64::MAX), None]
        });
        assert_eq!(lines.copy_until(1, 0, 101), None);
        assert!(lines.hit(request(1, 0, Kind::Read), 101));
        assert!(!lines.hit(request(1, 0, Kind::Write), 101), "it could only read");
        assert!(!lines.hit(request(1, 0, Kind::Read), 102));
        // Processor 3 may write line 1 until it is told, and read it after that.
        lines.may_write_until(3, 1, 200);
        lines.share(request(4, 1, Kind::Read));
        assert!(lines.hit(request(3, 1, Kind::Write), 200));
        assert!(!lines.hit(request(3, 1, Kind::Write), 201));
        assert!(lines.hit(request(3, 1, Kind::Read), 201));
        lines.check_conservation();
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
