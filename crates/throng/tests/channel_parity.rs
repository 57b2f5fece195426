//! A program for `crossbeam-channel` compiles with `use throng::channel as crossbeam_channel`, and does the same.
//!
//! The program below is compiled twice. It returns a list of what it saw, texts of errors included.

/// A module with the program, over the channels of a crate.
macro_rules! program {
    ($name:ident, $channel:path) => {
        mod $name {
            use $channel as crossbeam_channel;

            use std::error::Error;
            use std::fmt::{Debug, Display};
            use std::iter::FusedIterator;
            use std::thread;
            use std::time::{Duration, Instant};

            use crossbeam_channel::{
                IntoIter, Iter, Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError,
                Sender, TryIter, TryRecvError, TrySendError, bounded, never, unbounded,
            };

            /// No bound on the type of the messages.
            pub(crate) struct Stage<T> {
                input: Receiver<T>,
                output: Sender<T>,
            }

            impl<T> Stage<T> {
                fn run(self, work: impl Fn(T) -> T) -> Result<(), SendError<T>> {
                    self.input.iter().try_for_each(|item| self.output.send(work(item)))
                }
            }

            fn shown(seen: &mut Vec<String>, value: &(impl Debug + Display)) {
                seen.push(format!("{value} / {value:?} / {value:>60} / {value:>60?}"));
            }

            /// The error can be boxed and sent on by `?`.
            fn boxed(result: Result<u8, impl Error + Send + Sync + 'static>) -> String {
                let box_it = || -> Result<u8, Box<dyn Error + Send + Sync>> { Ok(result?) };
                box_it().map_or_else(|error| error.to_string(), |value| value.to_string())
            }

            fn errors(seen: &mut Vec<String>) {
                shown(seen, &SendError(1));
                shown(seen, &TrySendError::Full(1));
                shown(seen, &TrySendError::Disconnected(1));
                shown(seen, &SendTimeoutError::Timeout(1));
                shown(seen, &SendTimeoutError::Disconnected(1));
                shown(seen, &RecvError);
                shown(seen, &TryRecvError::Empty);
                shown(seen, &TryRecvError::Disconnected);
                shown(seen, &RecvTimeoutError::Timeout);
                shown(seen, &RecvTimeoutError::Disconnected);
                seen.push(boxed(Err(TrySendError::Full(1))));
                seen.push(boxed(Err(SendTimeoutError::Timeout(1))));
                seen.push(boxed(Err(SendError(1))));
                seen.push(boxed(Err(RecvError)));
                seen.push(boxed(Err(TryRecvError::Empty)));
                seen.push(boxed(Err(RecvTimeoutError::Timeout)));
                let sent: [TrySendError<u8>; 2] = [SendError(1).into(), TrySendError::Full(2)];
                let timed: [SendTimeoutError<u8>; 2] =
                    [SendError(3).into(), SendTimeoutError::Timeout(4)];
                let tried: [TryRecvError; 2] = [RecvError.into(), TryRecvError::Empty];
                let waited: [RecvTimeoutError; 2] = [RecvError.into(), RecvTimeoutError::Timeout];
                for (sent, timed) in sent.into_iter().zip(timed) {
                    seen.push(format!("{} {}", sent.is_full(), sent.is_disconnected()));
                    seen.push(format!("{} {}", timed.is_timeout(), timed.is_disconnected()));
                    seen.push(format!("{} {}", sent.into_inner(), timed.into_inner()));
                }
                for (tried, waited) in tried.into_iter().zip(waited) {
                    seen.push(format!("{} {}", tried.is_empty(), tried.is_disconnected()));
                    seen.push(format!("{} {}", waited.is_timeout(), waited.is_disconnected()));
                }
                seen.push(format!("{}", SendError(5) == SendError(5)));
            }

            fn states(seen: &mut Vec<String>) {
                let millisecond = Duration::from_millis(1);
                for capacity in [Some(0), Some(1), None] {
                    let (sender, receiver) = capacity.map_or_else(unbounded, bounded);
                    seen.push(format!("{sender:?} {receiver:?}"));
                    for item in 0..2 {
                        let mut say = |text: String| seen.push(text);
                        say(format!("{:?}", sender.try_send(item)));
                        say(format!("{} {:?}", sender.len(), sender.capacity()));
                        say(format!("{} {:?}", receiver.len(), receiver.capacity()));
                        say(format!("{} {}", sender.is_empty(), sender.is_full()));
                        say(format!("{} {}", receiver.is_empty(), receiver.is_full()));
                        say(format!("{:?}", sender.send_timeout(item, millisecond)));
                        say(format!("{:?}", sender.send_deadline(item, Instant::now())));
                    }
                    seen.push(format!("{:?}", receiver.try_iter().collect::<Vec<_>>()));
                    seen.push(format!("{:?}", receiver.recv_timeout(millisecond)));
                    seen.push(format!("{:?}", receiver.recv_deadline(Instant::now())));
                    seen.push(format!("{:?}", receiver.try_recv()));
                    seen.push(format!("{}", sender.same_channel(&sender.clone())));
                    seen.push(format!("{}", receiver.same_channel(&receiver.clone())));
                    let iterators =
                        (receiver.iter(), receiver.try_iter(), receiver.clone().into_iter());
                    let (iter, try_iter, into_iter): (Iter<'_, _>, TryIter<'_, _>, IntoIter<_>) =
                        iterators;
                    seen.push(format!("{iter:?} {try_iter:?} {into_iter:?}"));
                    fn is_fused(_: impl FusedIterator) {}
                    is_fused(iter);
                    is_fused(into_iter);
                    drop(receiver);
                    seen.push(format!("{:?} {:?}", sender.send(7), sender.try_send(8)));
                    seen.push(format!("{:?}", sender.send_timeout(9, millisecond)));
                }
                let nothing: Receiver<u8> = never();
                let others: [Receiver<u8>; 3] = [never(), bounded(0).1, unbounded().1];
                seen.push(format!("{:?}", others.map(|other| nothing.same_channel(&other))));
                seen.push(format!("{}", bounded::<u8>(0).1.same_channel(&bounded(0).1)));
                seen.push(format!(
                    "{:?} {:?}",
                    nothing.try_recv(),
                    nothing.recv_timeout(millisecond)
                ));
                seen.push(format!(
                    "{:?} {} {}",
                    nothing.capacity(),
                    nothing.len(),
                    nothing.is_full()
                ));
            }

            fn pipeline(seen: &mut Vec<String>) {
                for capacity in [Some(0), Some(1), Some(10), None] {
                    let make = || capacity.map_or_else(unbounded::<u64>, bounded);
                    let ((first, input), (output, last)) = (make(), make());
                    let stage = Stage { input, output };
                    let worker = thread::spawn(move || stage.run(|number| number * number));
                    let source = thread::spawn(move || (0..100).all(|n| first.send(n).is_ok()));
                    seen.push(format!("{}", last.iter().sum::<u64>()));
                    seen.push(format!("{:?} {:?}", last.recv(), last.try_recv()));
                    seen.push(format!("{} {:?}", source.join().unwrap(), worker.join().unwrap()));
                    seen.push(format!("{:?}", (&last).into_iter().next()));
                    seen.push(format!("{:?}", last.into_iter().next()));
                }
            }

            pub(crate) fn run() -> Vec<String> {
                let mut seen = Vec::new();
                errors(&mut seen);
                states(&mut seen);
                pipeline(&mut seen);
                seen
            }
        }
    };
}

program!(ours, throng::channel);
program!(theirs, crossbeam_channel);

#[test]
fn a_program_for_crossbeam_channel_sees_the_same() {
    let (ours, theirs) = (ours::run(), theirs::run());
    for (line, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(our, their, "line {line}");
    }
    assert_eq!(ours.len(), theirs.len());
}
