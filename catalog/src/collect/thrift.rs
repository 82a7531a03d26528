//! A reader of thrift's compact protocol over bytes that may be damaged or hostile.
//!
//! Nothing is allocated here and no claimed size is believed: the elements of a list take at least a byte each, so a list
//! that claims more of them than there are bytes left is refused at once, and what is skipped may be nested only so deep.

/// How deep values that are skipped may be nested.
pub const MAX_THRIFT_DEPTH: usize = 64;

/// Why bytes are not what thrift's compact protocol allows, or not the struct that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThriftError {
    /// The bytes end too early.
    #[error("the bytes end in the middle of a value")]
    UnexpectedEnd,
    /// An integer that its type cannot hold.
    #[error("an integer is too large for its type")]
    IntegerTooLarge,
    /// A code for a kind of value that the protocol does not have.
    #[error("unknown kind of value {0}")]
    UnknownKind(u8),
    /// A known field, or an element of a known list, of a kind that it cannot have.
    #[error("a value is of another kind than its field has")]
    WrongKind,
    /// A list, set or map that claims more elements than there are bytes for.
    #[error("a list claims {count} elements with {bytes_left} bytes left")]
    ListTooLong {
        /// How many elements it claims.
        count: u64,
        /// How many bytes are left for them.
        bytes_left: usize,
    },
    /// Unknown values nested in each other.
    #[error("values are nested more than {MAX_THRIFT_DEPTH} deep")]
    TooDeep,
    /// A struct without a field that it must have.
    #[error("the field `{0}` is missing")]
    MissingField(&'static str),
    /// A text that is not UTF-8.
    #[error("a text is not UTF-8")]
    NotUtf8,
    /// More of something than is accepted.
    #[error("there are more than {max} {what}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many are accepted.
        max: usize,
    },
}

/// The kind of a value, as the protocol writes it. A boolean field has its value in its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    Integer,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl Kind {
    fn from_code(code: u8) -> Result<Self, ThriftError> {
        Ok(match code {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4..=6 => Self::Integer,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            unknown => return Err(ThriftError::UnknownKind(unknown)),
        })
    }
}

/// The header of a field of a struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) id: i16,
    pub(super) kind: Kind,
}

/// The bytes that are still to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that are still to be read.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Reads a struct, handing each field's header to `visit`, which reads or skips the value.
    pub(super) fn fields(
        &mut self,
        mut visit: impl FnMut(&mut Self, Field) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        let mut last_id = 0;
        while let Some(field) = self.field(last_id)? {
            last_id = field.id;
            visit(self, field)?;
        }
        Ok(())
    }

    fn field(&mut self, last_id: i16) -> Result<Option<Field>, ThriftError> {
        let header = self.byte()?;
        if header == 0 {
            return Ok(None);
        }
        let kind = Kind::from_code(header & 0x0f)?;
        let delta = i16::from(header >> 4);
        let id = if delta == 0 {
            i16::try_from(self.zigzag()?).map_err(|_| ThriftError::IntegerTooLarge)?
        } else {
            last_id.checked_add(delta).ok_or(ThriftError::IntegerTooLarge)?
        };
        Ok(Some(Field { id, kind }))
    }

    /// Reads the list that a field of this kind holds, handing the kind of its elements to `visit` once for each.
    pub(super) fn list(
        &mut self,
        kind: Kind,
        mut visit: impl FnMut(&mut Self, Kind) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        if kind != Kind::List {
            return Err(ThriftError::WrongKind);
        }
        let (element, count) = self.list_header()?;
        for _ in 0..count {
            visit(self, element)?;
        }
        Ok(())
    }

    fn list_header(&mut self) -> Result<(Kind, u64), ThriftError> {
        let header = self.byte()?;
        let count = if header >> 4 == 0x0f { self.varint()? } else { u64::from(header >> 4) };
        self.check_count(count)?;
        // An empty list may have any code for its elements.
        let element = if count == 0 { Kind::Byte } else { Kind::from_code(header & 0x0f)? };
        Ok((element, count))
    }

    fn check_count(&self, count: u64) -> Result<(), ThriftError> {
        let bytes_left = self.rest.len();
        if usize::try_from(count).is_ok_and(|count| count <= bytes_left) {
            Ok(())
        } else {
            Err(ThriftError::ListTooLong { count, bytes_left })
        }
    }

    /// Reads a struct that is an element of a list or the value of a field.
    pub(super) fn nested(
        &mut self,
        kind: Kind,
        visit: impl FnMut(&mut Self, Field) -> Result<(), ThriftError>,
    ) -> Result<(), ThriftError> {
        if kind == Kind::Struct { self.fields(visit) } else { Err(ThriftError::WrongKind) }
    }

    pub(super) fn boolean(kind: Kind) -> Result<bool, ThriftError> {
        match kind {
            Kind::True => Ok(true),
            Kind::False => Ok(false),
            _ => Err(ThriftError::WrongKind),
        }
    }

    pub(super) fn i64(&mut self, kind: Kind) -> Result<i64, ThriftError> {
        match kind {
            Kind::Integer => self.zigzag(),
            Kind::Byte => Ok(i64::from(self.byte()?.cast_signed())),
            _ => Err(ThriftError::WrongKind),
        }
    }

    pub(super) fn i32(&mut self, kind: Kind) -> Result<i32, ThriftError> {
        i32::try_from(self.i64(kind)?).map_err(|_| ThriftError::IntegerTooLarge)
    }

    pub(super) fn binary(&mut self, kind: Kind) -> Result<&'a [u8], ThriftError> {
        if kind != Kind::Binary {
            return Err(ThriftError::WrongKind);
        }
        let length = usize::try_from(self.varint()?).map_err(|_| ThriftError::UnexpectedEnd)?;
        self.take(length)
    }

    pub(super) fn text(&mut self, kind: Kind) -> Result<&'a str, ThriftError> {
        std::str::from_utf8(self.binary(kind)?).map_err(|_| ThriftError::NotUtf8)
    }

    /// Passes over the value of a field of this kind.
    pub(super) fn skip(&mut self, kind: Kind) -> Result<(), ThriftError> {
        self.skip_nested(kind, 0)
    }

    fn skip_nested(&mut self, kind: Kind, depth: usize) -> Result<(), ThriftError> {
        if depth > MAX_THRIFT_DEPTH {
            return Err(ThriftError::TooDeep);
        }
        match kind {
            Kind::True | Kind::False => Ok(()),
            Kind::Byte => self.byte().map(drop),
            Kind::Integer => self.varint().map(drop),
            Kind::Double => self.take(8).map(drop),
            Kind::Uuid => self.take(16).map(drop),
            Kind::Binary => self.binary(kind).map(drop),
            Kind::Struct => self.fields(|reader, field| reader.skip_nested(field.kind, depth + 1)),
            Kind::List => self.list(kind, |reader, element| reader.skip_element(element, depth + 1)),
            Kind::Map => self.skip_map(depth),
        }
    }

    /// In a list or map a boolean is a byte of its own.
    fn skip_element(&mut self, kind: Kind, depth: usize) -> Result<(), ThriftError> {
        match kind {
            Kind::True | Kind::False => self.byte().map(drop),
            _ => self.skip_nested(kind, depth),
        }
    }

    fn skip_map(&mut self, depth: usize) -> Result<(), ThriftError> {
        let count = self.varint()?;
        if count == 0 {
            return Ok(());
        }
        self.check_count(count)?;
        let kinds = self.byte()?;
        let (key, value) = (Kind::from_code(kinds >> 4)?, Kind::from_code(kinds & 0x0f)?);
        for _ in 0..count {
            self.skip_element(key, depth + 1)?;
            self.skip_element(value, depth + 1)?;
        }
        Ok(())
    }

    pub(super) fn zigzag(&mut self) -> Result<i64, ThriftError> {
        let coded = self.varint()?;
        Ok((coded >> 1).cast_signed() ^ -(coded & 1).cast_signed())
    }

    pub(super) fn varint(&mut self) -> Result<u64, ThriftError> {
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits.leading_zeros() < shift {
                return Err(ThriftError::IntegerTooLarge);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ThriftError::IntegerTooLarge)
    }

    fn byte(&mut self) -> Result<u8, ThriftError> {
        let (first, rest) = self.rest.split_first().ok_or(ThriftError::UnexpectedEnd)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], ThriftError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(ThriftError::UnexpectedEnd)?;
        self.rest = rest;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skip(kind: Kind, bytes: &[u8]) -> Result<usize, ThriftError> {
        let mut reader = Reader::new(bytes);
        reader.skip(kind).map(|()| reader.rest.len())
    }

    #[test]
    fn integers_are_zigzag_varints() {
        let read = |bytes: &[u8]| Reader::new(bytes).i64(Kind::Integer);
        assert_eq!(read(&[0x00]), Ok(0));
        assert_eq!(read(&[0x01]), Ok(-1));
        assert_eq!(read(&[0x96, 0x01]), Ok(75));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Ok(i64::MIN));
        assert_eq!(Reader::new(&[0xff]).i64(Kind::Byte), Ok(-1));
    }

    #[test]
    fn a_varint_beyond_64_bits_is_refused() {
        let read = |bytes: &[u8]| Reader::new(bytes).i64(Kind::Integer);
        assert_eq!(read(&[0xff; 10]), Err(ThriftError::IntegerTooLarge));
        let over = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02];
        assert_eq!(read(&over), Err(ThriftError::IntegerTooLarge));
        assert_eq!(Reader::new(&[0x80, 0x80, 0x80, 0x80, 0x10]).i32(Kind::Integer), Err(ThriftError::IntegerTooLarge));
    }

    #[test]
    fn a_list_that_claims_more_elements_than_bytes_is_refused() {
        let bomb = [0xfc, 0xff, 0xff, 0xff, 0xff, 0x07];
        let error = ThriftError::ListTooLong { count: 0x7fff_ffff, bytes_left: 0 };
        assert_eq!(skip(Kind::List, &bomb), Err(error));
        let map = [0xff, 0xff, 0xff, 0xff, 0x07, 0x88];
        assert!(matches!(skip(Kind::Map, &map), Err(ThriftError::ListTooLong { count: 0x7fff_ffff, .. })));
    }

    #[test]
    fn a_binary_longer_than_the_bytes_is_refused() {
        let error = Err(ThriftError::UnexpectedEnd);
        assert_eq!(Reader::new(&[0x05, b'a']).binary(Kind::Binary), error);
        let huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Reader::new(&huge).binary(Kind::Binary), error);
    }

    #[test]
    fn unknown_values_are_skipped_only_so_deep() {
        // Structs in structs: field 1 of each is a struct.
        let nested = |depth: usize| [vec![0x1c; depth], vec![0; depth + 1]].concat();
        assert_eq!(skip(Kind::Struct, &nested(MAX_THRIFT_DEPTH)), Ok(0));
        assert_eq!(skip(Kind::Struct, &nested(MAX_THRIFT_DEPTH + 1)), Err(ThriftError::TooDeep));
        let lists = vec![0x19; 1_000_000];
        assert_eq!(skip(Kind::List, &lists), Err(ThriftError::TooDeep));
    }

    #[test]
    fn every_kind_of_value_is_skipped_whole() {
        assert_eq!(skip(Kind::True, &[9]), Ok(1));
        assert_eq!(skip(Kind::Double, &[0; 9]), Ok(1));
        assert_eq!(skip(Kind::Uuid, &[0; 17]), Ok(1));
        // A list of two booleans, a map from a byte to a boolean, the empty map, the empty list.
        assert_eq!(skip(Kind::List, &[0x21, 1, 2, 9]), Ok(1));
        assert_eq!(skip(Kind::Map, &[0x01, 0x31, 7, 1, 9]), Ok(1));
        assert_eq!(skip(Kind::Map, &[0x00, 9]), Ok(1));
        assert_eq!(skip(Kind::List, &[0x00, 9]), Ok(1));
    }

    #[test]
    fn field_ids_are_deltas_or_written_out() {
        let mut ids = Vec::new();
        let bytes = [0x11, 0x21, 0x01, 0x28, 0x00];
        let visit = |_: &mut Reader<'_>, field: Field| {
            ids.push(field.id);
            Ok(())
        };
        assert_eq!(Reader::new(&bytes).fields(visit), Ok(()));
        assert_eq!(ids, [1, 3, 20]);
    }

    #[test]
    fn a_code_that_the_protocol_does_not_have_is_refused() {
        assert_eq!(skip(Kind::Struct, &[0x1e]), Err(ThriftError::UnknownKind(14)));
    }
}
