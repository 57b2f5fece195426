//! `throng_team_new` and `throng_member_*`: a barrier with ranks.

use std::ffi::c_int;
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use throng::Barrier;
use throng::barrier::{Member, Shaped};

use crate::barrier::status_of;
use crate::handle::{self, Handle, Kind, Unused};
use crate::status::{Status, guard, put, writable};

/// A member of a team. A wait needs it alone, so a second call at the same time is answered by an error.
#[derive(Debug)]
pub struct TeamMember {
    member: Mutex<Member<Shaped>>,
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
    fn alone(&self) -> Result<MutexGuard<'_, Member<Shaped>>, Status> {
        match self.member.try_lock() {
            Ok(member) => Ok(member),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Status::EBusy),
        }
    }
}

/// Makes a team and writes its `members` handles, by rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_team_new(
    members: u32,
    handles: *mut *mut Handle<TeamMember>,
) -> c_int {
    guard(|| {
        writable(handles)?;
        let team = Barrier::builder(members as usize).build_team().map_err(|_| Status::EInval)?;
        for (rank, member) in team.into_iter().enumerate() {
            let made = handle::create(TeamMember { member: Mutex::new(member), rank: rank as u32 });
            // SAFETY: the contract of the header: there is room for `members` handles.
            unsafe { ptr::write(handles.wrapping_add(rank), made) };
        }
        Ok(Status::Ok)
    })
}

/// Waits until all members have come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_wait(member: *mut Handle<TeamMember>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let mut member = unsafe { handle::value(member) }?.alone()?;
        status_of(member.wait_checked(), None)
    })
}

/// Waits until all members have come, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_wait_timeout(
    member: *mut Handle<TeamMember>,
    nanoseconds: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let mut member = unsafe { handle::value(member) }?.alone()?;
        let (start, timeout) = (Instant::now(), Duration::from_nanos(nanoseconds));
        status_of(member.wait_timeout(timeout), Some((start, timeout)))
    })
}

/// Breaks the barrier of the team.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_abort(member: *mut Handle<TeamMember>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(member) }?.alone()?.abort();
        Ok(Status::Ok)
    })
}

/// Tells whether the barrier of the team is broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_is_broken(
    member: *mut Handle<TeamMember>,
    is_broken: *mut c_int,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let broken = unsafe { handle::value(member) }?.alone()?.is_broken();
        // SAFETY: the contract of the header.
        unsafe { put(is_broken, c_int::from(broken)) }?;
        Ok(Status::Ok)
    })
}

/// Writes the rank of a member.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_rank(
    member: *mut Handle<TeamMember>,
    rank: *mut u32,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let own = unsafe { handle::value(member) }?.rank;
        // SAFETY: the contract of the header.
        unsafe { put(rank, own) }?;
        Ok(Status::Ok)
    })
}

/// Destroys a member. The team cannot meet after that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_member_destroy(member: *mut Handle<TeamMember>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let member = unsafe { handle::destroy(member, |member| member.alone().map(drop)) }?;
        drop(member);
        Ok(Status::Ok)
    })
}
