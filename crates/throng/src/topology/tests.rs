use super::*;
use std::path::PathBuf;

/// A system made of files, which are removed on drop.
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

    /// Writes the files of `core`: hardware threads, second- and third-level cache, socket.
    fn core(&self, core: usize, siblings: &str, second: &str, third: &str, socket: &str) {
        let base = format!("sys/devices/system/cpu/cpu{core}");
        for (index, level, shared) in [(0, 1, siblings), (1, 2, second), (2, 3, third)] {
            self.write(&format!("{base}/cache/index{index}/level"), &format!("{level}\n"));
            self.write(&format!("{base}/cache/index{index}/shared_cpu_list"), shared);
        }
        self.write(&format!("{base}/topology/package_cpus_list"), socket);
        self.write(&format!("{base}/topology/core_cpus_list"), siblings);
    }

    /// Gives the program two threads with these masks. The second is the calling thread.
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

/// Two sockets of two caches of two cores. The numbers of the cores alternate between sockets,
/// as some firmware does it.
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

/// 8 cores of one cache. Core 0 is alone in all smaller groups, or shares them with core
/// `distance`.
fn one_cache(name: &str, distance: usize, cores: usize) -> System {
    let system = System::new(name);
    let pair = if distance == 0 { "0".into() } else { format!("0,{distance}") };
    let all = format!("0-{}", cores - 1);
    system.core(0, &pair, &pair, &all, &all);
    system.allow(&all, &all);
    system
}

#[test]
fn cores_that_share_the_last_cache_are_taken_to_be_alike() {
    let alone = one_cache("alone", 0, 8).read(8);
    assert_eq!((alone.groups(), alone.processors()), ([].as_slice(), 8));
    let side_by_side = one_cache("side-by-side", 1, 8).read(8);
    assert_eq!(side_by_side.groups(), [2]);
    assert_eq!([0, 1, 2, 7].map(|core| side_by_side.place(core)), [0, 1, 2, 7]);
    let apart = one_cache("apart", 4, 8).read(8);
    assert_eq!(apart.groups(), [2]);
    assert_eq!([0, 4, 1, 5, 3, 7].map(|core| apart.place(core)), [0, 1, 2, 3, 6, 7]);
}

#[test]
fn cores_that_cannot_be_alike_are_read() {
    // Seven cores cannot be pairs, and the files describe core 0 only.
    assert_eq!(one_cache("odd", 1, 7).read(7), Topology::flat(7));
    let quads = one_cache("quads", 0, 8);
    for core in 0..8 {
        let second = if core < 4 { "0-3" } else { "4-7" };
        quads.core(core, &core.to_string(), second, "0-7", "0-7");
    }
    assert_eq!(quads.read(8).groups(), [4]);
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
    system.core(0, "0", "0", "0-1", "0-3");
    assert_eq!(system.read(4), Topology::flat(4), "two cores are hidden");
}

#[test]
fn a_machine_of_one_cache_is_known_from_two_files() {
    let all = [0, 1, 2, 3, 4, 5, 6, 7];
    let quick = |name: &str, second: &str, third: &str, cores: &[usize]| {
        let system = System::new(name);
        for (index, shared) in [(2, second), (3, third)] {
            let file = format!("sys/devices/system/cpu/cpu0/cache/index{index}/shared_cpu_list");
            system.write(&file, &format!("{shared}\n"));
        }
        let topology = Topology::of_one_cache(&system.0, cores)?;
        Some((topology.groups().to_vec(), topology.processors()))
    };
    assert_eq!(quick("one-alone", "0", "0-7", &all), Some((vec![], 8)));
    assert_eq!(quick("one-pairs", "0,4", "0-7", &all), Some((vec![2], 8)));
    assert_eq!(quick("one-core", "0-1", "0-7", &[0, 1]), Some((vec![], 2)));
    assert_eq!(quick("one-of-two", "0", "0-3", &all), None);
    assert_eq!(quick("one-quads", "0-3", "0-7", &all), None, "groups within the cache");
    assert_eq!(quick("one-without-cores", "0", "0-7", &[]), None);
    assert_eq!(Topology::of_one_cache(&System::new("one-hidden").0, &all), None);
}

#[test]
fn members_without_a_core_each_meet_on_the_whole_machine() {
    let cores = Topology::here().processors();
    assert!(Topology::for_meeting(1).processors() >= 1);
    assert_eq!(Topology::for_meeting(cores + 1_000).processors(), cores);
}

#[test]
fn this_machine_has_a_topology() {
    let here = Topology::here();
    assert!(here.processors() >= 1);
    assert!(here.groups().is_sorted() && here.groups().iter().all(|&group| group >= 2));
}
