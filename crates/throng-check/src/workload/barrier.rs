//! Barriers with a recorder: members with ranks, members of a team, and threads without ranks.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Mutex, PoisonError};

use throng::machine::{Cell, Cpu, Line, Machine, Place, WayOut, Word};
use throng::structures::barrier::{
    Anonymous, Broken, Meeting, Member, Registered, Shape, WaitResult, team,
};

use crate::history::{Register, Visit};
use crate::spec::{Violation, check_anonymous, check_rounds, check_team};

/// The barrier of a method that is known at run time.
type AnyMeeting<M> = Box<dyn Meeting<M>>;

/// A member of a team that meets by any method.
type AnyMember<M> = Member<AnyMeeting<M>, M>;

fn build<M: Machine>(method: &Registered<M>, shape: &Shape) -> AnyMeeting<M> {
    method.build(shape).unwrap_or_else(|error| panic!("{}: {error}", method.about.name))
}

/// Values that members write for each other: before a round each member writes the number of the
/// round, and after it reads the values of others.
///
/// There are two places for each value, for the rounds with even and with odd numbers. A member
/// that writes for round r + 2 has met all in round r + 1, so all have read the value for round r.
/// A barrier that does not keep the two apart is detected in either direction.
///
/// ```
/// use throng::machine::Native;
/// use throng_check::workload::Letters;
///
/// let letters = Letters::<Native>::of_words(2);
/// letters.write(0, 0);
/// letters.read(1, 0);
/// assert_eq!(letters.verdict(), Ok(()));
/// letters.read(0, 0);
/// let verdict = letters.verdict().unwrap_err().to_string();
/// assert_eq!(verdict, "0 left round 0 and did not see what 1 wrote just before it");
/// ```
#[derive(Debug)]
pub struct Letters<M: Machine> {
    members: usize,
    paper: Paper<M>,
    lost: Mutex<Option<Violation>>,
}

#[derive(Debug)]
enum Paper<M: Machine> {
    /// A word for each writer, read and written relaxed.
    Words(Vec<Line<M::Word>>),
    /// A cell for each writer and reader.
    #[cfg_attr(not(feature = "worlds"), allow(dead_code, reason = "for loom, which watches it"))]
    Cells(Vec<M::Cell<u64>>),
}

/// The number of values that a member reads in each round, if they are in words.
const READ_AT_ONCE: usize = 8;

impl<M: Machine> Letters<M> {
    /// Returns values in words, read and written relaxed. There is a word for each writer, and a
    /// member reads eight of them every round, different ones each time.
    #[must_use]
    pub fn of_words(members: usize) -> Self {
        let word = |index| Line::word::<M>(0, Place::named("letter").index(index));
        let paper = Paper::Words((0..2 * members).map(word).collect());
        Letters { members, paper, lost: Mutex::default() }
    }

    /// Returns values in cells, which a world may watch.
    fn of_cells(members: usize) -> Self {
        let cell = |index| M::Cell::new(0, &M::spot(Place::named("letter").index(index)));
        let paper = Paper::Cells((0..2 * members * members).map(cell).collect());
        Letters { members, paper, lost: Mutex::default() }
    }

    fn cell<'a>(
        &self,
        cells: &'a [M::Cell<u64>],
        round: u64,
        from: usize,
        to: usize,
    ) -> &'a M::Cell<u64> {
        &cells[((round % 2) as usize * self.members + from) * self.members + to]
    }

    fn word<'a>(&self, words: &'a [Line<M::Word>], round: u64, from: usize) -> &'a M::Word {
        &words[(round % 2) as usize * self.members + from]
    }

    /// Writes the value of `me` before it comes to `round`.
    pub fn write(&self, me: usize, round: u64) {
        match &self.paper {
            Paper::Words(words) => self.word(words, round, me).store(round + 1, Relaxed),
            Paper::Cells(cells) => {
                for other in (0..self.members).filter(|&other| other != me) {
                    let cell = self.cell(cells, round, me, other);
                    // SAFETY: cells are for worlds in which one processor runs at a time, and which
                    // report accesses that the barrier does not keep apart.
                    unsafe { cell.with_mut(|letter| *letter = round + 1) };
                }
            }
        }
    }

    /// Reads values of others after `me` has left `round`.
    pub fn read(&self, me: usize, round: u64) {
        let others = self.members - 1;
        let read_at_once = match self.paper {
            Paper::Words(_) => others.min(READ_AT_ONCE),
            Paper::Cells(_) => others,
        };
        for step in 0..read_at_once {
            let step = (round as usize * read_at_once + step) % others;
            let other = (me + 1 + step) % self.members;
            let found = match &self.paper {
                Paper::Words(words) => self.word(words, round, other).load(Relaxed),
                Paper::Cells(cells) => {
                    let cell = self.cell(cells, round, other, me);
                    // SAFETY: as above.
                    unsafe { cell.with_mut(|letter| *letter) }
                }
            };
            if found != round + 1 {
                let violation = Violation::Unseen { round, reader: me, writer: other };
                let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
                lost.get_or_insert(violation);
            }
        }
    }

    /// Returns whether all values read were those written.
    ///
    /// # Errors
    /// The first value that was lost.
    pub fn verdict(&self) -> Result<(), Violation> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone();
        lost.map_or(Ok(()), Err)
    }
}

fn assert_kept(name: &str, verdict: Result<(), Violation>) {
    if let Err(violation) = verdict {
        panic!("{name} broke its promise: {violation}");
    }
}

/// A barrier whose members have ranks, with a recorder. Its waits have no way out.
///
/// ```
/// use throng::structures::barrier::{Shape, methods};
/// use throng::machine::Native;
/// use throng_check::workload::ObservedMeeting;
///
/// let observed = ObservedMeeting::new(&methods::<Native>()[0], &Shape::for_members(1));
/// observed.meet(&Native::cpu(), 0, 3);
/// assert_eq!(observed.visits()[0].len(), 3);
/// assert_eq!(observed.verdict(), Ok(()));
/// ```
pub struct ObservedMeeting<M: Machine> {
    name: &'static str,
    meeting: AnyMeeting<M>,
    register: Register,
    letters: Letters<M>,
}

impl<M: Machine> ObservedMeeting<M> {
    /// Returns a new barrier of `method`.
    ///
    /// # Panics
    /// If the method refuses the shape.
    #[must_use]
    pub fn new(method: &Registered<M>, shape: &Shape) -> Self {
        ObservedMeeting {
            name: method.about.name,
            meeting: build(method, shape),
            register: Register::for_visitors(shape.members),
            letters: Letters::of_words(shape.members),
        }
    }

    /// Makes member `rank` come to rounds 0 to `rounds` - 1, on processor `cpu`.
    pub fn meet(&self, cpu: &M::Cpu, rank: usize, rounds: u64) {
        for round in 0..rounds {
            self.letters.write(rank, round);
            let meet = || self.meeting.meet_on(cpu, rank, round, &WayOut::none());
            if self.register.visit(rank, || meet().map(|()| rank == 0)).is_err() {
                // Without a way out this happens only when the world takes its processors apart.
                return;
            }
            self.letters.read(rank, round);
        }
    }

    /// Returns the visits so far, for each member.
    #[must_use]
    pub fn visits(&self) -> Vec<Vec<Visit>> {
        self.register.visits()
    }

    /// Returns whether the barrier kept its promises.
    ///
    /// # Errors
    /// The promise it broke.
    pub fn verdict(&self) -> Result<(), Violation> {
        check_rounds(&self.visits())?;
        self.letters.verdict()
    }

    /// Panics if the barrier broke a promise, naming both.
    ///
    /// # Panics
    /// See above.
    pub fn assert_kept(&self) {
        assert_kept(self.name, self.verdict());
    }
}

impl<M: Machine> ObservedMeeting<M> {
    /// Returns a new barrier of `method` whose members write to each other in cells, so that loom and ThreadSanitizer
    /// check whether the values are passed on.
    ///
    /// # Panics
    /// If the method refuses the shape.
    #[must_use]
    pub fn watched(method: &Registered<M>, shape: &Shape) -> Self {
        ObservedMeeting {
            letters: Letters::of_cells(shape.members),
            ..ObservedMeeting::new(method, shape)
        }
    }
}

impl<M: Machine> std::fmt::Debug for ObservedMeeting<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObservedMeeting")
            .field("method", &self.name)
            .field("register", &self.register)
            .finish_non_exhaustive()
    }
}

/// A team with a recorder: each member is handed out once.
///
/// ```
/// use throng::structures::barrier::{Shape, methods};
/// use throng::machine::Native;
/// use throng_check::workload::ObservedTeam;
///
/// let observed = ObservedTeam::new(&methods::<Native>()[0], &Shape::for_members(2));
/// let mut first = observed.member(0);
/// drop(observed.member(1));
/// assert!(first.wait_on(&Native::cpu(), None).is_err());
/// assert_eq!(observed.verdict(), Ok(()));
/// ```
pub struct ObservedTeam<M: Machine> {
    name: &'static str,
    members: Vec<Mutex<Option<AnyMember<M>>>>,
    register: Register,
    letters: Letters<M>,
}

impl<M: Machine> ObservedTeam<M> {
    /// Returns a new team that meets by `method`.
    ///
    /// # Panics
    /// If the method refuses the shape.
    #[must_use]
    pub fn new(method: &Registered<M>, shape: &Shape) -> Self {
        let members = team(build(method, shape));
        ObservedTeam {
            name: method.about.name,
            members: members.into_iter().map(|member| Mutex::new(Some(member))).collect(),
            register: Register::for_visitors(shape.members),
            letters: Letters::of_words(shape.members),
        }
    }

    /// Returns the member of this rank, to be kept by one processor.
    ///
    /// # Panics
    /// If it was handed out before.
    #[must_use]
    pub fn member(&self, rank: usize) -> Attendee<'_, M> {
        let mut member = self.members[rank].lock().unwrap_or_else(PoisonError::into_inner);
        let member = member.take().unwrap_or_else(|| panic!("member {rank} is handed out once"));
        Attendee { member, team: self }
    }

    /// Returns whether the team's barrier kept its promises.
    ///
    /// # Errors
    /// The promise it broke.
    pub fn verdict(&self) -> Result<(), Violation> {
        check_team(&self.register.visits())?;
        self.letters.verdict()
    }

    /// Panics if the barrier broke a promise, naming both.
    ///
    /// # Panics
    /// See above.
    pub fn assert_kept(&self) {
        assert_kept(self.name, self.verdict());
    }
}

impl<M: Machine> std::fmt::Debug for ObservedTeam<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObservedTeam")
            .field("method", &self.name)
            .field("register", &self.register)
            .finish_non_exhaustive()
    }
}

/// A member of a team with a recorder. Once dropped, it does not come any more.
pub struct Attendee<'a, M: Machine> {
    /// The member. Rounds to which it comes without this wrapper are not recorded.
    pub member: AnyMember<M>,
    team: &'a ObservedTeam<M>,
}

impl<M: Machine> Attendee<'_, M> {
    /// Comes to the next round, like [`Member::wait_on`].
    ///
    /// # Errors
    /// If not all members will come.
    pub fn wait_on(&mut self, cpu: &M::Cpu, deadline: Option<u64>) -> Result<WaitResult, Broken> {
        let (rank, round) = (self.member.rank(), self.member.rounds());
        self.team.letters.write(rank, round);
        let mut result = Err(Broken);
        let _ = self.team.register.visit(rank, || {
            result = self.member.wait_on(cpu, deadline);
            result.map(|result| result.is_leader())
        });
        if result.is_ok() {
            self.team.letters.read(rank, round);
        }
        result
    }

    /// Comes to `rounds` rounds.
    ///
    /// # Errors
    /// If not all members will come.
    pub fn meet(&mut self, cpu: &M::Cpu, rounds: u64) -> Result<(), Broken> {
        (0..rounds).try_for_each(|_| self.wait_on(cpu, None).map(drop))
    }
}

impl<M: Machine> std::fmt::Debug for Attendee<'_, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attendee").field("rank", &self.member.rank()).finish_non_exhaustive()
    }
}

/// A barrier for threads without ranks.
pub trait Entrance<M: Machine>: Send + Sync {
    /// Returns the number of threads that meet.
    fn members(&self) -> usize;

    /// Waits until `members` threads have come. Returns whether the visitor leads. Tries `seat`
    /// first, and stores there the seat that it took.
    ///
    /// # Errors
    /// If the barrier is broken.
    fn wait_on(&self, cpu: &M::Cpu, seat: &mut usize) -> Result<bool, Broken>;

    /// Breaks the barrier because no other thread will come: threads that wait, and threads that
    /// come later, get [`Broken`].
    fn abort(&self);
}

impl<B: Meeting<M>, M: Machine> Entrance<M> for Anonymous<B, M> {
    fn members(&self) -> usize {
        Anonymous::members(self)
    }

    fn wait_on(&self, cpu: &M::Cpu, seat: &mut usize) -> Result<bool, Broken> {
        Anonymous::wait_on(self, cpu, None, seat).map(|result| result.is_leader())
    }

    fn abort(&self) {
        Anonymous::abort(self);
    }
}

/// A barrier for threads without ranks, with a recorder.
///
/// Before a visit a visitor adds 1 to a word. A visitor's k-th visit is in the k-th round or a
/// later one. So after it k n visits have begun, and the word, read relaxed, must be at least that.
///
/// ```
/// use throng::structures::barrier::{Shape, methods};
/// use throng::machine::Native;
/// use throng_check::workload::ObservedEntrance;
///
/// let observed = ObservedEntrance::anonymous(&methods::<Native>()[0], &Shape::for_members(1), 1);
/// observed.visit(&Native::cpu(), 0, 3);
/// assert_eq!(observed.verdict(), Ok(()));
/// ```
pub struct ObservedEntrance<M: Machine> {
    name: &'static str,
    entrance: Box<dyn Entrance<M>>,
    register: Register,
    /// The number of visitors that have visits left. Not part of the machine.
    visitors: AtomicUsize,
    begun: Line<M::Word>,
    lost: Mutex<Option<Violation>>,
}

impl<M: Machine> ObservedEntrance<M> {
    /// Returns an [`Anonymous`] barrier of `method`, for `visitors` visitors.
    ///
    /// # Panics
    /// If the method refuses the shape.
    #[must_use]
    pub fn anonymous(method: &Registered<M>, shape: &Shape, visitors: usize) -> Self {
        let barrier = Anonymous::new(build(method, shape));
        ObservedEntrance::new(method.about.name, Box::new(barrier), visitors)
    }

    /// Returns an observed barrier of any kind.
    #[must_use]
    pub fn new(name: &'static str, entrance: Box<dyn Entrance<M>>, visitors: usize) -> Self {
        ObservedEntrance {
            name,
            entrance,
            register: Register::for_visitors(visitors),
            visitors: AtomicUsize::new(visitors),
            begun: Line::word::<M>(0, Place::named("begun")),
            lost: Mutex::default(),
        }
    }

    /// Makes `visitor` come `visits` times, on processor `cpu`. When fewer visitors are left than
    /// meet in a round, the barrier is aborted, since they could not complete a round.
    pub fn visit(&self, cpu: &M::Cpu, visitor: usize, visits: u64) {
        self.visit_often(cpu, visitor, visits);
        let (visitors, members) = (self.register.visitors(), self.entrance.members());
        if self.visitors.fetch_sub(1, SeqCst) <= members && visitors > members {
            self.entrance.abort();
        }
    }

    fn visit_often(&self, cpu: &M::Cpu, visitor: usize, visits: u64) {
        let mut seat = cpu.id();
        for visit in 1..=visits {
            self.begun.fetch_add(1, Relaxed);
            if self.register.visit(visitor, || self.entrance.wait_on(cpu, &mut seat)).is_err() {
                return;
            }
            let members = self.entrance.members() as u64;
            let begun = self.begun.load(Relaxed);
            if begun < visit * members {
                let missing = (visit * members - begun) as usize;
                let violation = Violation::LeftEarly { round: visit - 1, missing };
                let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
                lost.get_or_insert(violation);
            }
        }
    }

    /// Returns the visits so far, for each visitor.
    #[must_use]
    pub fn visits(&self) -> Vec<Vec<Visit>> {
        self.register.visits()
    }

    /// Returns whether the barrier kept its promises.
    ///
    /// # Errors
    /// The promise it broke.
    pub fn verdict(&self) -> Result<(), Violation> {
        check_anonymous(self.entrance.members(), &self.visits().concat())?;
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone();
        lost.map_or(Ok(()), Err)
    }

    /// Panics if the barrier broke a promise, naming both.
    ///
    /// # Panics
    /// See above.
    pub fn assert_kept(&self) {
        assert_kept(self.name, self.verdict());
    }
}

impl<M: Machine> std::fmt::Debug for ObservedEntrance<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObservedEntrance")
            .field("method", &self.name)
            .field("register", &self.register)
            .finish_non_exhaustive()
    }
}
