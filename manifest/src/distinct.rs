//! A column of which most values are equal to the one before: each different value stands once.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// The values of rows, each different one once.
#[derive(Clone, Debug)]
pub struct Distinct<T> {
    /// Below the number of values.
    indices: Vec<usize>,
    values: Vec<T>,
}

impl<T> Distinct<T> {
    /// The place of each row's value among [`Distinct::values`].
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The different values, in the order of the first row that has each.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The value of a row; `None` beyond the last one.
    pub fn get(&self, row: usize) -> Option<&T> {
        self.values.get(*self.indices.get(row)?)
    }

    /// The same rows with what `change` makes of each different value.
    pub fn map<U>(&self, change: impl FnMut(&T) -> U) -> Distinct<U> {
        Distinct { indices: self.indices.clone(), values: self.values.iter().map(change).collect() }
    }
}

/// Puts a column together from stored values, each of which is decoded once.
pub(crate) struct DistinctBuilder<K, T> {
    column: Distinct<T>,
    known: HashMap<K, usize>,
    /// Mostly the next one, too.
    last: Option<(K, usize)>,
}

impl<K: Clone + Eq + Hash, T> DistinctBuilder<K, T> {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        let column = Distinct { indices: Vec::with_capacity(rows), values: Vec::new() };
        Self { column, known: HashMap::new(), last: None }
    }

    /// Adds a row whose value is stored as `stored`; one that is new is decoded.
    pub(crate) fn push<Q, E>(&mut self, stored: &Q, decode: impl FnOnce() -> Result<T, E>) -> Result<(), E>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let index = match &self.last {
            Some((last, index)) if last.borrow() == stored => *index,
            _ => self.find(stored, decode)?,
        };
        self.column.indices.push(index);
        Ok(())
    }

    fn find<Q, E>(&mut self, stored: &Q, decode: impl FnOnce() -> Result<T, E>) -> Result<usize, E>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let index = if let Some(index) = self.known.get(stored) {
            *index
        } else {
            self.column.values.push(decode()?);
            let index = self.column.values.len() - 1;
            self.known.insert(stored.to_owned(), index);
            index
        };
        self.last = Some((stored.to_owned(), index));
        Ok(index)
    }

    pub(crate) fn finish(self) -> Distinct<T> {
        self.column
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_different_value_is_decoded_once() {
        let mut builder = DistinctBuilder::<Vec<u8>, usize>::with_capacity(5);
        let mut decoded = 0;
        for stored in [&b"a"[..], b"a", b"b", b"a", b"b"] {
            let decode = || {
                decoded += 1;
                Ok::<_, ()>(stored.len() + decoded)
            };
            builder.push(stored, decode).unwrap();
        }
        let column = builder.finish();
        assert_eq!((column.indices(), column.values()), (&[0, 0, 1, 0, 1][..], &[2, 3][..]));
        assert_eq!((column.get(2), column.get(5)), (Some(&3), None));
        assert_eq!(column.map(|value| value * 10).get(4), Some(&30));
    }

    #[test]
    fn what_cannot_be_decoded_is_no_row() {
        let mut builder = DistinctBuilder::<i64, ()>::with_capacity(1);
        assert_eq!(builder.push(&7, || Err("damaged")), Err("damaged"));
        assert!(builder.finish().indices().is_empty());
    }
}
