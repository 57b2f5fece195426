//! `throng_team_new` and `throng_member_*`: a barrier with ranks.

use std::ffi::c_int;
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use throng::Barrier;
use throng::barrier::Member;
use throng_c_common::meeting;

use crate::barrier::status_of;
use crate::call;
use crate::handle::{self, Handle, Kind, Unused};
use crate::status::{Status, guard, need, writable};

/// A member of a team. A wait needs it alone, so a second call at the same time returns an error.
#[derive(Debug)]
pub struct TeamMember {
    member: Mutex<Member>,
    rank: u32,
}

impl Kind for TeamMember {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.memb");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<TeamMember> = Unused::new();
        &UNUSED
    }
}

impl TeamMember {
    #[inline]
    fn alone(&self) -> Result<MutexGuard<'_, Member>, Status> {
        match self.member.try_lock() {
            Ok(member) => Ok(member),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Status::EBusy),
        }
    }
}

/// Makes a team, and returns its handles by rank.
fn build(members: usize) -> Result<Vec<*mut Handle<TeamMember>>, Status> {
    if !(1..=Barrier::MAX_THREADS).contains(&members) {
        return Err(Status::EInval);
    }
    need(meeting::bytes(members))?;
    let mut handles = Vec::new();
    handles.try_reserve_exact(members).map_err(|_| Status::ENoMem)?;
    let team = Barrier::builder(members).build_team().map_err(|_| Status::EInval)?;
    for (rank, member) in team.into_iter().enumerate() {
        match handle::create(TeamMember { member: Mutex::new(member), rank: rank as u32 }) {
            Ok(made) => handles.push(made),
            Err(status) => {
                for made in handles {
                    // SAFETY: it was made above, and no other call knows it.
                    drop(unsafe { handle::destroy(made, |_| Ok(())) });
                }
                return Err(status);
            }
        }
    }
    Ok(handles)
}

/// Makes a team and writes its `members` handles, by rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_team_new(
    members: u32,
    handles: *mut *mut Handle<TeamMember>,
) -> c_int {
    guard(|| {
        writable(handles)?;
        let made = build(members as usize)?;
        // SAFETY: the contract of the header: there is room for `members` handles.
        unsafe { ptr::copy_nonoverlapping(made.as_ptr(), handles, made.len()) };
        Ok(Status::Ok)
    })
}

/// Waits until all members have come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_wait(member: *mut Handle<TeamMember>) -> c_int {
    let wait = |member: &TeamMember| status_of(member.alone()?.wait_checked(), None);
    // SAFETY: the contract of the header.
    unsafe { call::act(member, wait) }
}

/// Waits until all members have come, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_wait_timeout(
    member: *mut Handle<TeamMember>,
    nanoseconds: u64,
) -> c_int {
    let wait = |member: &TeamMember| {
        let mut member = member.alone()?;
        let (start, timeout) = (Instant::now(), Duration::from_nanos(nanoseconds));
        status_of(member.wait_timeout(timeout), Some((start, timeout)))
    };
    // SAFETY: the contract of the header.
    unsafe { call::act(member, wait) }
}

/// Breaks the barrier of the team.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_abort(member: *mut Handle<TeamMember>) -> c_int {
    let abort = |member: &TeamMember| {
        member.alone()?.abort();
        Ok(Status::Ok)
    };
    // SAFETY: the contract of the header.
    unsafe { call::act(member, abort) }
}

/// Writes whether the barrier of the team is broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_is_broken(
    member: *mut Handle<TeamMember>,
    is_broken: *mut c_int,
) -> c_int {
    let look = |member: &TeamMember| Ok(c_int::from(member.alone()?.is_broken()));
    // SAFETY: the contract of the header.
    unsafe { call::get(member, is_broken, look) }
}

/// Writes the rank of a member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_rank(
    member: *mut Handle<TeamMember>,
    rank: *mut u32,
) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::get(member, rank, |member| Ok(member.rank)) }
}

/// Destroys a member. The team cannot meet after that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_destroy(member: *mut Handle<TeamMember>) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::destroy(member, |member| member.alone().map(drop)) }
}
