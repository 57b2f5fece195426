//! Busy processes beside a measurement.

use std::env;
use std::hint::black_box;
use std::io::{self, Read};
use std::process::{self, Child, Command, Stdio};
use std::thread;

use crate::error::Error;

/// The most neighbours that can be had.
pub const MOST: usize = 1024;

/// Processes that compute for as long as this lives.
#[derive(Debug)]
pub struct Neighbours(Vec<Child>);

impl Neighbours {
    /// Starts `count` of them.
    ///
    /// # Errors
    /// When one cannot be started. The others are ended.
    pub fn start(count: usize) -> Result<Self, Error> {
        let program = env::current_exe().map_err(Error::Neighbour)?;
        let mut neighbours = Neighbours(Vec::new());
        for _ in 0..count {
            let mut command = Command::new(&program);
            let command = command.arg(COMMAND).stdin(Stdio::piped()).stdout(Stdio::null());
            neighbours.0.push(command.spawn().map_err(Error::Neighbour)?);
        }
        Ok(neighbours)
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for neighbour in &mut self.0 {
            // Errors mean that it has ended already.
            let _ = neighbour.kill();
            let _ = neighbour.wait();
        }
    }
}

/// The hidden command that [`compute`] is the answer to.
const COMMAND: &str = "neighbour";

/// Computes until standard input ends: the process that wanted a neighbour has ended, however it did.
pub fn compute() -> ! {
    thread::spawn(|| {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    let mut number = 1_u64;
    loop {
        number = black_box(number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1));
    }
}
