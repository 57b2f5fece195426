//! The cases: loads, and numbers of threads.

use super::groups::Group;

/// Number of items inside when bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// None, with room for 16 items of 16 bytes.
    Empty,
    /// 16 items of 16 bytes.
    Small,
    /// 1 048 576 items of 8 bytes.
    Large,
}

/// The program of the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// One thread pushes this many items and pops until the queue is empty.
    Burst(usize),
    /// One thread fills a queue of this capacity, is refused once, and pops all.
    Fill(usize),
    /// One thread pops one item of a full queue and pushes one.
    FullPopPush,
    /// One thread builds a queue, pushes, pops and drops it; with this capacity or unbounded.
    Create(Option<usize>),
    /// One thread pushes one item and pops one.
    PushPop,
    /// One thread pops one item and pushes one, with this many items inside.
    Backlog(usize),
    /// Counts the memory of a queue.
    Bytes(Fill),
    /// One producer and one consumer, items of this many bytes.
    Stream(usize),
    /// Items arrive at random times.
    Open(OpenLoop),
    /// Every thread pushes and pops. `Some`: nanoseconds of work before each call. `None`: no work
    /// and no clock.
    Pairs(Option<u32>),
    /// Three stages with this many threads each.
    Pipeline(usize),
    /// A tree of jobs with this much work in each, in nanoseconds.
    Tree(u32),
}

/// An open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenLoop {
    /// Threads that push.
    pub producers: usize,
    /// Threads that pop.
    pub consumers: usize,
    /// Arrivals a second, of all producers together.
    pub per_second: u32,
    /// Work of a consumer after each item, in nanoseconds.
    pub work_ns: u32,
}

/// One line of a table: a load on a number of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The name, as typed on a command line; cases that differ only in threads share it.
    pub name: String,
    /// The table it is in.
    pub group: Group,
    /// What the threads do.
    pub load: Load,
    /// Number of threads.
    pub threads: usize,
}

impl Case {
    fn new(group: Group, detail: impl std::fmt::Display, load: Load, threads: usize) -> Self {
        let name = format!("{}-{detail}", group.name());
        Case { name, group, load, threads }
    }

    /// Returns a case of one thread, named without its group.
    fn single(name: impl Into<String>, load: Load) -> Self {
        Case { name: name.into(), group: Group::Single, load, threads: 1 }
    }

    /// Returns whether the case needs some gigabytes. Such a case is measured only if it is asked
    /// for by its name.
    pub fn is_large(&self) -> bool {
        matches!(self.load, Load::Backlog(items) if items > 10 * MILLION)
    }

    /// Returns the number of threads that pop.
    pub fn consumers(&self) -> usize {
        match self.load {
            Load::Open(open) => open.consumers,
            Load::Stream(_) => 1,
            Load::Pipeline(each) => each,
            _ => self.threads,
        }
    }
}

const MILLION: usize = 1_000_000;

/// Numbers of threads for the cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// In pairs.
    pub pairs: Vec<usize>,
    /// In trees of jobs.
    pub tree: Vec<usize>,
}

/// Default threads of pairs and of trees.
const USUAL_PAIRS: [usize; 5] = [1, 2, 4, 8, 16];
const USUAL_TREE: [usize; 6] = [1, 2, 4, 5, 8, 16];

impl Threads {
    /// Returns numbers of threads for a machine with this many cores: none above them, and at most
    /// 16.
    pub fn for_cores(cores: usize) -> Self {
        let fit = |usual: &[usize]| -> Vec<usize> {
            let mut fit: Vec<usize> = usual.iter().copied().filter(|&n| n <= cores).collect();
            let most = cores.min(USUAL_PAIRS[USUAL_PAIRS.len() - 1]);
            if !fit.contains(&most) {
                fit.push(most);
                fit.sort_unstable();
            }
            fit
        };
        Threads { pairs: fit(&USUAL_PAIRS), tree: fit(&USUAL_TREE) }
    }

    /// Returns exactly these numbers, on any machine.
    pub fn exactly(threads: Vec<usize>) -> Self {
        Threads { tree: threads.clone(), pairs: threads }
    }

    fn most(&self) -> usize {
        self.pairs.iter().max().copied().unwrap_or(1)
    }
}

/// Work of each of several consumers in the open loop, in nanoseconds.
const CONSUMER_WORK_NS: u32 = 500;

/// Returns all cases for these numbers of threads.
pub fn all(threads: &Threads) -> Vec<Case> {
    let mut cases = single();
    for (name, fill) in [("empty", Fill::Empty), ("small", Fill::Small), ("large", Fill::Large)] {
        cases.push(Case::new(Group::Bytes, name, Load::Bytes(fill), 1));
    }
    let most = threads.most();
    if most >= 2 {
        let streams = [8, 64, 256].map(|b| Case::new(Group::Stream, b, Load::Stream(b), 2));
        cases.extend(streams);
        cases.extend(open(most));
    }
    for work in [None, Some(0), Some(100), Some(1000)] {
        let name = work.map_or("untimed".to_owned(), |ns: u32| ns.to_string());
        let case = |&n: &usize| Case::new(Group::Pairs, &name, Load::Pairs(work), n);
        cases.extend(threads.pairs.iter().map(case));
    }
    let mut each = vec![1, most / 3];
    each.dedup();
    for each in each.into_iter().filter(|&each| each > 0 && 3 * each <= most) {
        cases.push(Case::new(Group::Pipeline, each, Load::Pipeline(each), 3 * each));
    }
    for work_ns in [20, 200, 2000] {
        let case = |&n: &usize| Case::new(Group::Tree, work_ns, Load::Tree(work_ns), n);
        cases.extend(threads.tree.iter().map(case));
    }
    cases
}

fn single() -> Vec<Case> {
    let bursts = [1, 2, 4, 16, 64, 256].map(|k| Case::single(format!("burst-{k}"), Load::Burst(k)));
    let fills = [1, 2, 16].map(|k| Case::single(format!("fill-{k}"), Load::Fill(k)));
    let others = [
        Case::single("full-pop-push", Load::FullPopPush),
        Case::single("create-16", Load::Create(Some(16))),
        Case::single("create-unbounded", Load::Create(None)),
        Case::single("push-pop", Load::PushPop),
    ];
    let backlogs =
        [1, 10, 100].map(|n| Case::single(format!("backlog-{n}M"), Load::Backlog(n * MILLION)));
    bursts.into_iter().chain(fills).chain(others).chain(backlogs).collect()
}

/// Returns the open loops with at most `most` threads.
fn open(most: usize) -> Vec<Case> {
    let mut shapes = vec![(1, 1), (1, most - 1), (most - 1, 1), (most / 2, most / 2)];
    shapes.dedup();
    shapes.retain(|&(producers, consumers)| producers + consumers <= most);
    let mut seen = Vec::new();
    shapes.retain(|shape| {
        !seen.contains(shape) && {
            seen.push(*shape);
            true
        }
    });
    let mut cases = Vec::new();
    for (producers, consumers) in shapes {
        let work_ns = if producers == 1 && consumers > 1 { CONSUMER_WORK_NS } else { 0 };
        for (per_second, rate) in [
            (1_000, "1k"),
            (100_000, "100k"),
            (1_000_000, "1M"),
            (2_000_000, "2M"),
            (4_000_000, "4M"),
        ] {
            if per_second == 2_000_000 && work_ns == 0 {
                continue;
            }
            let open = OpenLoop { producers, consumers, per_second, work_ns };
            let detail = format!("{producers}:{consumers}-{rate}");
            cases.push(Case::new(Group::Open, detail, Load::Open(open), producers + consumers));
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn names(cores: usize, group: Group) -> Vec<String> {
        let all = all(&Threads::for_cores(cores));
        all.into_iter().filter(|case| case.group == group).map(|case| case.name).collect()
    }

    #[test]
    fn a_machine_gets_the_cases_it_has_cores_for() {
        assert_eq!(
            names(2, Group::Open),
            ["open-1:1-1k", "open-1:1-100k", "open-1:1-1M", "open-1:1-4M"]
        );
        assert_eq!(names(16, Group::Open).len(), 4 * 4 + 1);
        assert!(names(16, Group::Open).contains(&"open-1:15-2M".to_owned()));
        assert_eq!(names(16, Group::Pipeline), ["pipeline-1", "pipeline-5"]);
        assert_eq!(names(3, Group::Pipeline), ["pipeline-1"]);
        assert!(names(2, Group::Pipeline).is_empty());
        assert!(names(1, Group::Open).is_empty() && names(1, Group::Stream).is_empty());
    }

    #[test]
    fn threads_stay_within_the_cores() {
        assert_eq!(Threads::for_cores(16).pairs, [1, 2, 4, 8, 16]);
        assert_eq!(Threads::for_cores(16).tree, [1, 2, 4, 5, 8, 16]);
        assert_eq!(Threads::for_cores(12).pairs, [1, 2, 4, 8, 12]);
        assert_eq!(Threads::for_cores(64).pairs, [1, 2, 4, 8, 16]);
        assert_eq!(Threads::for_cores(1).tree, [1]);
    }

    #[test]
    fn no_case_is_listed_twice() {
        for cores in [1, 2, 3, 4, 6, 16] {
            let cases = all(&Threads::for_cores(cores));
            let places: HashSet<(&str, usize)> =
                cases.iter().map(|case| (case.name.as_str(), case.threads)).collect();
            assert_eq!(places.len(), cases.len());
        }
    }
}
