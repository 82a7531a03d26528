//! How much of a random test is run: `PRUNUS_ROUNDS` times the usual, from the seed `PRUNUS_SEED`.

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> Option<T> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// How many times the usual number of rounds.
pub(crate) fn times() -> u32 {
    number("PRUNUS_ROUNDS").unwrap_or(1)
}

/// The seed, if one is asked for.
pub(crate) fn seed() -> Option<u64> {
    number("PRUNUS_SEED")
}
