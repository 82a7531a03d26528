//! Room in memory for the bodies of requests, which all of them together have no more of than there is.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a body has for nothing: most need no more, and these are as many as there are connections.
pub(super) const FREE_BYTES: usize = 64 << 10;
/// Room is counted in units of so many bytes.
const UNIT_BYTES: usize = 64 << 10;

/// Room for bodies.
///
/// Bodies take room as they arrive, not as they are announced, so that nobody gets it for a promise. Where it is used up, several that
/// have some of it may all wait for more; so that one of them always goes on, one at a time takes what it needs beyond.
pub(super) struct Room {
    units: Arc<Semaphore>,
    beyond: Arc<Semaphore>,
}

/// What a body has of it, until this is dropped.
pub(super) struct Held {
    room: Arc<Room>,
    units: usize,
    taken: Option<OwnedSemaphorePermit>,
    beyond: Option<OwnedSemaphorePermit>,
}

impl Room {
    /// Room for so many bytes, and for those of one body.
    pub(super) fn of_bytes(bytes: usize) -> Self {
        Self { units: Arc::new(Semaphore::new(bytes.div_ceil(UNIT_BYTES))), beyond: Arc::new(Semaphore::new(1)) }
    }
}

impl Held {
    /// None of it.
    pub(super) fn none(room: &Arc<Room>) -> Self {
        Self { room: Arc::clone(room), units: 0, taken: None, beyond: None }
    }

    /// Returns when there is room for so many bytes in all.
    pub(super) async fn grow_to(&mut self, bytes: usize) {
        let units = bytes.saturating_sub(FREE_BYTES).div_ceil(UNIT_BYTES);
        let more = units.saturating_sub(self.units);
        if more == 0 || self.beyond.is_some() {
            return;
        }
        let of_all = Arc::clone(&self.room.units).acquire_many_owned(u32::try_from(more).unwrap_or(u32::MAX));
        tokio::select! {
            biased;
            taken = of_all => {
                self.units = units;
                match (&mut self.taken, taken) {
                    (Some(had), Ok(taken)) => had.merge(taken),
                    (had, taken) => *had = taken.ok(),
                }
            }
            beyond = Arc::clone(&self.room.beyond).acquire_owned() => self.beyond = beyond.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    /// Whether a body of so many units beyond what is free has room now.
    fn has_room(held: &mut Held, units: usize) -> bool {
        held.grow_to(FREE_BYTES + units * UNIT_BYTES).now_or_never().is_some()
    }

    #[test]
    fn there_is_so_much_room_and_that_of_one_body() {
        let room = Arc::new(Room::of_bytes(4 * UNIT_BYTES));
        let [mut one, mut other, mut third] = [(); 3].map(|()| Held::none(&room));
        assert!(has_room(&mut one, 2) && has_room(&mut other, 2));
        assert!(has_room(&mut one, 3) && has_room(&mut one, 1_000));
        assert!(!has_room(&mut other, 3) && !has_room(&mut third, 1));
        assert!(has_room(&mut other, 2) && has_room(&mut third, 0));
        drop(one);
        assert!(has_room(&mut other, 4) && has_room(&mut third, 1));
    }
}
