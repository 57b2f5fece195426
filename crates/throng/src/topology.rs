//! Which cores share a cache.
//!
//! On Linux this is read from `/sys` and `/proc`, without a library. Reading takes about 0.1 ms for
//! each last-level cache. A barrier on a machine with one last-level cache reads two files. If the
//! files cannot be read (another system, or a container that hides them), all cores are taken to be
//! alike. A wrong topology costs speed only, never correctness.

use std::borrow::Cow;
use std::collections::BTreeMap;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use std::ffi::c_int;
use std::fs::{self, File};
use std::io::Read;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use crate::absent::{Feature, is_absent};
use crate::published::Published;

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
    /// The number of cores in a group, from the smallest groups to the largest.
    groups: Vec<usize>,
    /// Maps the number of a core to its place in an order in which cores that share a cache are
    /// neighbours.
    places: BTreeMap<usize, usize>,
    processors: usize,
}

static HERE: Published<Topology> = Published::new();

impl Topology {
    /// Returns the topology of this machine: the cores that any thread of the program may use. It
    /// is read at the first call and kept. If the only thread of a program has pinned itself to a
    /// core before that call, the program is taken to have one core. So call this before pinning
    /// threads.
    pub fn here() -> &'static Topology {
        let read = || {
            let parallelism = thread::available_parallelism().ok();
            if has_files() {
                Topology::read(Path::new("/"), parallelism)
            } else {
                Topology::flat(parallelism.map_or(1, NonZero::get))
            }
        };
        HERE.get_or_make(read)
    }

    /// Returns [`here`](Topology::here), or `None` if it has not been read.
    pub(crate) fn here_if_read() -> Option<&'static Topology> {
        HERE.get()
    }

    /// Returns the topology as far as it matters for a barrier of `members` threads, without the
    /// places of cores.
    ///
    /// The result is [`here`](Topology::here), but costs less in the usual cases. If each member
    /// has a core and there are at most [`FEW`](Topology::FEW) members, no file is read. If there
    /// are more members than cores, one file is read. If all cores share a cache, two are. A quota
    /// of processor time is not looked for.
    pub(crate) fn for_meeting(members: usize) -> Cow<'static, Topology> {
        let own = if has_files() { own_cores() } else { Vec::new() };
        let usual = if own.is_empty() {
            None
        } else if own.len() < members {
            // Other threads may use more cores than this one, unless there are no more.
            let online = read_cores(Path::new("/sys/devices/system/cpu/online"));
            (online.as_ref() == Some(&own)).then(|| Topology::flat(own.len()))
        } else if members <= Topology::FEW {
            Some(Topology::flat(own.len()))
        } else {
            Topology::of_one_cache(Path::new("/"), &own)
        };
        usual.map_or_else(|| Cow::Borrowed(Topology::here()), Cow::Owned)
    }

    /// The largest number of members for which shared caches do not matter to the choice of a
    /// barrier.
    pub(crate) const FEW: usize = 3;

    /// Returns the topology if all of `cores` share one last-level cache and no smaller cache is
    /// shared by more than the two threads of a core. Otherwise returns `None`.
    fn of_one_cache(root: &Path, cores: &[usize]) -> Option<Self> {
        let base = root.join(format!("sys/devices/system/cpu/cpu{}", cores.first()?));
        let shared = |path| read_cores(&base.join(path));
        let last_cache = shared("cache/index3/shared_cpu_list")?;
        if !cores.iter().all(|core| last_cache.contains(core)) {
            return None;
        }
        // The second-level cache belongs to one core, or to a cluster of cores.
        let threads = shared("cache/index2/shared_cpu_list")?.len();
        if threads > 2 {
            return None;
        }
        let groups = Some(threads).filter(|&size| size < cores.len());
        Some(Topology { processors: cores.len(), ..Topology::of_groups(groups.as_slice()) })
    }

    /// Returns a topology with groups of these numbers of cores, smallest groups first. Cores 0, 1,
    /// ... are in the first group. A number that is not greater than the one before it is left out.
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

    /// Returns a topology of `processors` cores without groups.
    #[must_use]
    pub fn flat(processors: usize) -> Self {
        Topology { processors: processors.max(1), ..Topology::of_groups(&[]) }
    }

    /// Returns the number of cores in a group, from the smallest groups to the largest. The group
    /// of all cores is left out.
    #[must_use]
    pub fn groups(&self) -> &[usize] {
        &self.groups
    }

    /// Returns the number of threads that can run at once, or `usize::MAX` if it is not known.
    #[must_use]
    pub fn processors(&self) -> usize {
        self.processors
    }

    /// Returns the place of core `number` in an order in which cores that share a cache are
    /// neighbours. Returns `number` if that order is not known.
    #[must_use]
    pub fn place(&self, number: usize) -> usize {
        self.places.get(&number).copied().unwrap_or(number)
    }

    /// Reads the topology of the system whose files are under `root`. `parallelism` is the number
    /// of threads that can run at once, as the standard library reports it to the calling thread.
    fn read(root: &Path, parallelism: Option<NonZero<usize>>) -> Self {
        let allowed = allowed(root);
        let quota = quota(root, parallelism.map_or(1, NonZero::get), allowed.len());
        let Some(mut paths) = paths_of(root, &allowed) else {
            return Topology::flat(quota);
        };
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

/// Returns whether the system may have files that describe its cores. Miri has no folders.
fn has_files() -> bool {
    !cfg!(miri) && !is_absent(Feature::Topology)
}

/// Returns the cores that the calling thread may use. Returns none where one system call does not
/// tell.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn own_cores() -> Vec<usize> {
    const WORDS: usize = 16;
    unsafe extern "C" {
        /// A function of the C library, which the standard library is linked with.
        fn sched_getaffinity(pid: c_int, bytes: usize, mask: *mut [u64; WORDS]) -> c_int;
    }
    let mut mask = [0; WORDS];
    // SAFETY: the system writes no more bytes than the mask has. Process 0 is the calling thread.
    let failed = unsafe { sched_getaffinity(0, size_of_val(&mask), &raw mut mask) } != 0;
    let is_set = |core: &usize| mask[core / 64] >> (core % 64) & 1 != 0;
    if failed { Vec::new() } else { (0..64 * WORDS).filter(is_set).collect() }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
const fn own_cores() -> Vec<usize> {
    Vec::new()
}

/// Returns the number of threads that can run at once on `cores` cores. If the calling thread may
/// use more cores than can run at once, the program has a quota.
fn quota(root: &Path, parallelism: usize, cores: usize) -> usize {
    let own = allowed_by(&root.join("proc/thread-self/status")).map_or(0, |own| own.len());
    if cores == 0 || parallelism < own { parallelism } else { cores }
}

/// Returns the cores that any thread of this program may use and that are switched on.
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

/// Returns the cores that the thread with this status file may use.
fn allowed_by(status: &Path) -> Option<Vec<usize>> {
    let status = fs::read_to_string(status).ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(cores(list)).filter(|cores| !cores.is_empty())
}

/// The number of levels of groups: socket, caches of levels 4 to 1, and hardware threads of one
/// core.
const LEVELS: usize = 6;

/// The groups that a core is in, largest first. A group is named by its first core.
type Path6 = [usize; LEVELS];

/// Returns the groups of each core, or `None` if the system does not tell them.
///
/// A machine has dozens of files for each core, so not all cores are read. If a core that was read
/// shares all smaller caches with no other core, or with one other, the remaining cores of its
/// last-level cache are taken to be like it.
fn paths_of(root: &Path, cores: &[usize]) -> Option<Vec<(Path6, usize)>> {
    let mut paths = BTreeMap::new();
    for &core in cores {
        if paths.contains_key(&core) {
            continue;
        }
        let lists = Lists::read(root, core)?;
        paths.insert(core, lists.path(core));
        let alike = lists.alike(core);
        let is_there = |other: &usize| cores.contains(other);
        if let Some(alike) = alike.filter(|alike| alike.iter().all(|(other, _)| is_there(other))) {
            for (other, path) in alike {
                paths.entry(other).or_insert(path);
            }
        }
    }
    (!paths.is_empty()).then(|| paths.into_iter().map(|(core, path)| (path, core)).collect())
}

/// The cores in each group of a core, largest group first. If the system does not tell of a level,
/// its list is that of the next smaller level.
struct Lists([Vec<usize>; LEVELS]);

impl Lists {
    /// The index of the last cache that is usually shared, the third level.
    const LAST_CACHE: usize = 2;

    /// Reads the lists of `core`. Returns `None` if the system lists no level.
    fn read(root: &Path, core: usize) -> Option<Self> {
        let base = root.join(format!("sys/devices/system/cpu/cpu{core}"));
        let list = |path: &str| read_cores(&base.join(path));
        let mut lists_read = [const { None }; LEVELS];
        lists_read[0] =
            list("topology/package_cpus_list").or_else(|| list("topology/core_siblings_list"));
        lists_read[5] =
            list("topology/core_cpus_list").or_else(|| list("topology/thread_siblings_list"));
        for index in 0..16 {
            let level = fs::read_to_string(base.join(format!("cache/index{index}/level")));
            let Ok(level) = level else {
                break;
            };
            // Caches of instructions are shared like those of data on the same level.
            if let Ok(level @ 1..=4) = level.trim().parse::<usize>()
                && lists_read[5 - level].is_none()
            {
                lists_read[5 - level] = list(&format!("cache/index{index}/shared_cpu_list"));
            }
        }
        if lists_read.iter().all(Option::is_none) {
            return None;
        }
        let mut lists = [const { Vec::new() }; LEVELS];
        let mut smaller = vec![core];
        for (place, lists_read) in lists.iter_mut().zip(lists_read).rev() {
            smaller = lists_read.unwrap_or(smaller);
            place.clone_from(&smaller);
        }
        Some(Lists(lists))
    }

    fn path(&self, core: usize) -> Path6 {
        self.0.each_ref().map(|list| list.first().copied().unwrap_or(core))
    }

    /// Returns the cores that share the last cache with `core`, and their groups, if they can be
    /// derived from those of `core`. They can if `core` is alone in all smaller groups, or in a
    /// pair; all pairs have the same distance.
    fn alike(&self, core: usize) -> Option<Vec<(usize, Path6)>> {
        let (shared, small) = (&self.0[Self::LAST_CACHE], &self.0[Self::LAST_CACHE + 1]);
        if self.0[Self::LAST_CACHE + 1..].iter().any(|list| list != small) {
            return None;
        }
        let distance = match small[..] {
            [alone] if alone == core => 0,
            [first, second] if second > first => second - first,
            _ => return None,
        };
        let mut alike = BTreeMap::new();
        for &other in shared {
            // Cores come in ascending order, so the first core of a pair comes first.
            let partner = other + distance;
            if !alike.contains_key(&other) {
                for member in [other, partner] {
                    let mut path = self.path(core);
                    path[Self::LAST_CACHE + 1..].fill(other);
                    alike.insert(member, path);
                }
            }
        }
        // The last core of a pair must not be outside the cache.
        alike.keys().eq(shared).then(|| alike.into_iter().collect())
    }
}

/// Reads the list of cores in the file at `path`. Returns `None` if there is no such file or no
/// core in it.
///
/// One `read` of up to 4 kB gets the list. Asking for the length first, and for the end afterwards,
/// would take half as long again.
fn read_cores(path: &Path) -> Option<Vec<usize>> {
    let mut content = [0; 4096];
    let length = File::open(path).and_then(|mut file| file.read(&mut content)).ok()?;
    let list = cores(str::from_utf8(&content[..length]).ok()?);
    (!list.is_empty()).then_some(list)
}

/// Parses a list as Linux writes it: `0-3,8,10-11`. Parts that cannot be parsed are left out.
fn cores(list: &str) -> Vec<usize> {
    /// More cores than any system has. It keeps a damaged file from filling the memory.
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
mod tests;
