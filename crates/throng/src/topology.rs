//! Who shares a cache with whom.
//!
//! On Linux this is read from `/sys` and `/proc`, which takes some tenths of a millisecond for a few
//! cores, and no library. What cannot be read there (another system, a container that hides it) is taken to be flat: all
//! cores alike. Everything here is for speed alone; nothing is wrong where it is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::OnceLock;
use std::thread;

/// The cores that this program may use, as groups within groups.
///
/// ```
/// use throng::topology::Topology;
///
/// let here = Topology::here();
/// assert!(here.processors() >= 1);
///
/// // 8 cores share a cache, 96 a socket:
/// let server = Topology::of_groups(&[8, 96]);
/// assert_eq!(server.groups(), [8, 96]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// How many cores are in a group, from the smallest groups to the largest.
    groups: Vec<usize>,
    /// For each core, by its number, its place among those that may be used when neighbours stand
    /// together.
    places: BTreeMap<usize, usize>,
    processors: usize,
}

impl Topology {
    /// That of the machine the program runs on, read when first asked for: the cores that any of the
    /// program's threads may use then. (A program whose only thread has pinned itself to a core is
    /// taken to have that core alone: pin threads later, or ask sooner.)
    pub fn here() -> &'static Topology {
        static HERE: OnceLock<Topology> = OnceLock::new();
        HERE.get_or_init(|| Topology::read(Path::new("/"), thread::available_parallelism().ok()))
    }

    /// One whose groups have these numbers of cores, smallest groups first: cores 0, 1, ... are in the
    /// first. Numbers that do not grow are left out.
    #[must_use]
    pub fn of_groups(sizes: &[usize]) -> Self {
        let mut groups = Vec::new();
        for &size in sizes {
            if size > groups.last().copied().unwrap_or(1) {
                groups.push(size);
            }
        }
        Topology { groups, places: BTreeMap::new(), processors: usize::MAX }
    }

    /// All cores alike.
    #[must_use]
    pub fn flat(processors: usize) -> Self {
        Topology { processors: processors.max(1), ..Topology::of_groups(&[]) }
    }

    /// How many cores are in a group, from the smallest groups to the largest. Not the group of all.
    #[must_use]
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// How many threads can run at once; `usize::MAX` where that was not said.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.processors
    }

    /// The place of core `number` when neighbours stand together; its number, where nothing is known.
    #[must_use]
    pub fn place(&self, number: usize) -> usize {
        self.places.get(&number).copied().unwrap_or(number)
    }

    /// What the system whose files are under `root` tells. `parallelism` is how many threads can run
    /// at once by what the calling thread knows of itself.
    fn read(root: &Path, parallelism: Option<NonZero<usize>>) -> Self {
        let allowed = allowed(root);
        let quota = quota(root, parallelism.map_or(1, NonZero::get), allowed.len());
        let mut paths: Vec<(Path6, usize)> =
            allowed.iter().filter_map(|&core| Some((path_of(root, core)?, core))).collect();
        if paths.is_empty() || paths.len() < allowed.len() {
            return Topology::flat(quota);
        }
        paths.sort_unstable();
        // The largest group on each level, from the smallest level up.
        let sizes: Vec<usize> = (1..=LEVELS)
            .rev()
            .map(|level| {
                let groups = paths.chunk_by(|(a, _), (b, _)| a[..level] == b[..level]);
                groups.map(<[_]>::len).max().unwrap_or(1)
            })
            .filter(|&size| size < paths.len())
            .collect();
        Topology {
            places: paths.iter().enumerate().map(|(place, (_, core))| (*core, place)).collect(),
            processors: quota,
            ..Topology::of_groups(&sizes)
        }
    }
}

/// How many threads can run at once on `cores` cores. Where the calling thread may use more cores than
/// can run at once, the program has a quota.
fn quota(root: &Path, parallelism: usize, cores: usize) -> usize {
    let own = allowed_by(&root.join("proc/thread-self/status")).map_or(0, |own| own.len());
    if cores == 0 || parallelism < own { parallelism } else { cores }
}

/// The cores that some thread of this program may use, and that are on.
fn allowed(root: &Path) -> Vec<usize> {
    let threads = fs::read_dir(root.join("proc/self/task")).into_iter().flatten().flatten();
    let masks = threads.filter_map(|thread| allowed_by(&thread.path().join("status")));
    let mut cores: Vec<usize> = masks.flatten().collect();
    cores.sort_unstable();
    cores.dedup();
    let online = read_cores(&root.join("sys/devices/system/cpu/online"));
    match online {
        Some(online) if cores.is_empty() => online,
        Some(online) => cores.into_iter().filter(|core| online.contains(core)).collect(),
        None => cores,
    }
}

/// The cores that the thread with this status file may use.
fn allowed_by(status: &Path) -> Option<Vec<usize>> {
    let status = fs::read_to_string(status).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(cores(list)).filter(|cores| !cores.is_empty())
}

/// Socket, caches of levels 4 to 1, and siblings that share everything.
const LEVELS: usize = 6;

/// The groups that a core is in, largest first, each named by its first member.
type Path6 = [usize; LEVELS];

/// The groups that `core` is in, where the system tells of any. On a level of which it does not tell,
/// the core shares with those of the next smaller level.
fn path_of(root: &Path, core: usize) -> Option<Path6> {
    let base = root.join(format!("sys/devices/system/cpu/cpu{core}"));
    let first = |path: &str| read_cores(&base.join(path)).map(|cores| cores[0]);
    let mut told = [None; LEVELS];
    told[0] = first("topology/package_cpus_list").or_else(|| first("topology/core_siblings_list"));
    told[5] = first("topology/core_cpus_list").or_else(|| first("topology/thread_siblings_list"));
    for index in 0..16 {
        let Ok(level) = fs::read_to_string(base.join(format!("cache/index{index}/level"))) else {
            break;
        };
        // Caches of instructions are shared like those of data on the same level.
        if let Ok(level @ 1..=4) = level.trim().parse::<usize>() {
            told[5 - level] = first(&format!("cache/index{index}/shared_cpu_list"));
        }
    }
    told.iter().any(Option::is_some).then(|| {
        let mut path = [core; LEVELS];
        let mut smaller = core;
        for (place, told) in path.iter_mut().zip(told).rev() {
            smaller = told.unwrap_or(smaller);
            *place = smaller;
        }
        path
    })
}

/// The cores in the list that the file at `path` holds; none where there is no such file or no core.
fn read_cores(path: &Path) -> Option<Vec<usize>> {
    let list = cores(&fs::read_to_string(path).ok()?);
    (!list.is_empty()).then_some(list)
}

/// A list as Linux writes it: `0-3,8,10-11`. What makes no sense is left out.
fn cores(list: &str) -> Vec<usize> {
    /// More than any system has; so a damaged file does not fill the memory.
    const MOST: usize = 1 << 16;

    let mut cores = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        if let (Ok(first), Ok(last)) = (first.trim().parse::<usize>(), last.trim().parse::<usize>())
        {
            cores.extend(first..=last.min(MOST));
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A system made of files, removed when dropped.
    struct System(PathBuf);

    impl System {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("throng-{}-{name}", std::process::id()));
            fs::create_dir_all(&root).unwrap();
            System(root)
        }

        fn write(&self, path: &str, content: &str) {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }

        /// Core `core`: siblings, second and third level cache, socket.
        fn core(&self, core: usize, siblings: &str, second: &str, third: &str, socket: &str) {
            let base = format!("sys/devices/system/cpu/cpu{core}");
            for (index, level, shared) in [(0, 1, siblings), (1, 2, second), (2, 3, third)] {
                self.write(&format!("{base}/cache/index{index}/level"), &format!("{level}\n"));
                self.write(&format!("{base}/cache/index{index}/shared_cpu_list"), shared);
            }
            self.write(&format!("{base}/topology/package_cpus_list"), socket);
            self.write(&format!("{base}/topology/core_cpus_list"), siblings);
        }

        /// The program has two threads, of which the second asks.
        fn allow(&self, first: &str, second: &str) {
            let status = |list| format!("Name:\tx\nCpus_allowed_list:\t{list}\n");
            self.write("proc/self/task/11/status", &status(first));
            self.write("proc/self/task/12/status", &status(second));
            self.write("proc/thread-self/status", &status(second));
        }

        fn read(&self, parallelism: usize) -> Topology {
            Topology::read(&self.0, NonZero::new(parallelism))
        }
    }

    impl Drop for System {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Two sockets of two caches of two cores, numbered across, as firmware likes to.
    fn two_sockets(name: &str) -> System {
        let system = System::new(name);
        for core in 0..8 {
            let (socket, cache) = (core % 2, core % 4);
            let third = format!("{cache},{}", cache + 4);
            let all: Vec<_> = (0..4).map(|i| (socket + 2 * i).to_string()).collect();
            system.core(core, &core.to_string(), &core.to_string(), &third, &all.join(","));
        }
        system.allow("0-7", "0-7");
        system
    }

    #[test]
    fn lists_of_cores_are_read_as_written() {
        assert_eq!(cores("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(cores("5"), [5]);
        assert_eq!(cores("x,3-1,,7"), [7]);
        assert_eq!(cores(""), [] as [usize; 0]);
        assert!(cores("0-18446744073709551615").len() <= (1 << 16) + 1);
    }

    #[test]
    fn groups_are_those_of_the_caches_and_sockets() {
        let topology = two_sockets("groups").read(8);
        assert_eq!((topology.groups(), topology.processors()), ([2, 4].as_slice(), 8));
        // Socket 0: caches {0, 4} and {2, 6}; socket 1: {1, 5} and {3, 7}.
        let mut cores: Vec<usize> = (0..8).collect();
        cores.sort_by_key(|&core| topology.place(core));
        assert_eq!(cores, [0, 4, 2, 6, 1, 5, 3, 7]);
    }

    #[test]
    fn only_the_allowed_cores_count() {
        let system = two_sockets("masked");
        system.allow("0,4,7", "0,4,7");
        let topology = system.read(3);
        assert_eq!((topology.groups(), topology.processors()), ([2].as_slice(), 3));
        assert_eq!([0, 4, 7].map(|core| topology.place(core)), [0, 1, 2]);
        assert_eq!(topology.place(3), 3, "a core that is not ours has its number");
        assert_eq!(system.read(2).processors(), 2, "a quota of two");
    }

    #[test]
    fn a_thread_that_is_pinned_does_not_hide_the_cores_of_the_others() {
        let system = two_sockets("pinned");
        system.allow("0-7", "3");
        assert_eq!(system.read(1).processors(), 8);
    }

    #[test]
    fn cores_that_are_off_do_not_count() {
        let system = two_sockets("off");
        system.allow("0-15", "0-15");
        system.write("sys/devices/system/cpu/online", "0-7\n");
        assert_eq!(system.read(16).processors(), 8);
        assert_eq!(system.read(16).groups(), [2, 4]);
    }

    #[test]
    fn a_core_without_a_cache_of_some_level_is_alone_there() {
        let system = two_sockets("efficient");
        fs::remove_dir_all(system.0.join("sys/devices/system/cpu/cpu7/cache/index2")).unwrap();
        assert_eq!(system.read(8).groups(), [2, 4]);
    }

    #[test]
    fn what_is_hidden_is_flat() {
        let system = System::new("hidden");
        assert_eq!(system.read(6), Topology::flat(6));
        system.allow("0-3", "0-3");
        assert_eq!(system.read(4), Topology::flat(4));
        system.core(0, "0", "0", "0-3", "0-3");
        assert_eq!(system.read(4), Topology::flat(4), "three cores are hidden");
    }

    #[test]
    fn this_machine_has_a_topology() {
        let here = Topology::here();
        assert!(here.processors() >= 1);
        assert!(here.groups().is_sorted() && here.groups().iter().all(|&group| group >= 2));
    }
}
