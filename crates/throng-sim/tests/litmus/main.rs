//! Litmus tests: what an access costs on each machine, computed by hand from the numbers of its
//! file and from the rules in `src/memory/README.md`; and that no machine ever shows a stale value,
//! fails to wake a waiting processor or lets time go back.
//!
//! A test is a short [`script`](bench::run): which processor does what to which line, from what time
//! on. It returns how long each access takes. Where accesses overlap, the sum is in a comment.

mod bench;

mod alewife;
mod ksr1;
mod networks;
mod order;
mod origin2000;
mod same;
mod sequent;
mod server;
mod shapes;
mod tc2000;
