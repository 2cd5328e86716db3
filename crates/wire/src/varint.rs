//! Numbers in as few bytes as they need, and the reader that takes them back out.
//!
//! Unsigned numbers are LEB128: seven bits per byte, lowest first, the high bit set on all but the last.
//! Signed ones are folded first (0, -1, 1, -2, … become 0, 1, 2, 3, …), so that small ones of either
//! sign stay short. Each number has one form: a longer one that means the same is refused.

use crate::DecodeError;

/// The bit that is set on every byte of a number but its last.
const MORE: u8 = 0x80;

/// The most bytes of a number: 64 bits, seven at a time.
const BYTES_MAX: u32 = u64::BITS.div_ceil(7);

/// The number of bytes that `value` takes.
pub(crate) const fn length_of(value: u64) -> usize {
    // Why `| 1`: zero still takes one byte, as if it had one bit.
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Folds the sign into the lowest bit, so that small negative numbers stay short.
pub(crate) const fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)) as u32
}

/// The inverse of [`zigzag`]; every `u32` unfolds to one `i32`.
const fn unzigzag(folded: u32) -> i32 {
    (folded >> 1) as i32 ^ -((folded & 1) as i32)
}

/// Appends `value`, in one to ten bytes.
pub fn put_u64(out: &mut Vec<u8>, mut value: u64) {
    while u64::from(MORE) <= value {
        out.push(value as u8 | MORE);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends `value`, in one to five bytes.
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    put_u64(out, u64::from(value));
}

/// Appends `value`, sign folded in, in one to five bytes.
pub fn put_i32(out: &mut Vec<u8>, value: i32) {
    put_u32(out, zigzag(value));
}

/// Takes fields off the front of a byte string.
///
/// It only borrows: it never allocates, and bytes that it cannot take are an error, never a panic. After an
/// error its place is unspecified; the message is refused as a whole.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// True if every byte was taken.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Takes the next byte off the front.
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Takes the next `N` bytes, by value.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (&array, rest) = self.rest.split_first_chunk().ok_or(DecodeError::TooShort)?;
        self.rest = rest;
        Ok(array)
    }

    /// Takes the next `len` bytes, borrowed from the input.
    pub fn slice(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (slice, rest) = self.rest.split_at_checked(len).ok_or(DecodeError::TooShort)?;
        self.rest = rest;
        Ok(slice)
    }

    /// Takes the next number, of up to 64 bits.
    pub fn u64(&mut self) -> Result<u64, DecodeError> {
        let mut value = 0;
        for index in 0..BYTES_MAX {
            let byte = self.byte()?;
            value |= bits_at(index, byte & !MORE)?;
            if byte & MORE == 0 {
                // A last byte of zero adds no bits: the same number has a shorter form.
                let is_overlong = byte == 0 && 0 < index;
                return if is_overlong { Err(DecodeError::Overlong) } else { Ok(value) };
            }
        }
        Err(TOO_WIDE)
    }

    /// Takes the next number, of up to 32 bits.
    pub fn u32(&mut self) -> Result<u32, DecodeError> {
        u32::try_from(self.u64()?).map_err(|_| DecodeError::OutOfRange("a number of 32 bits"))
    }

    /// Takes the next signed number, of up to 32 bits.
    pub fn i32(&mut self) -> Result<i32, DecodeError> {
        self.u32().map(unzigzag)
    }

    /// Ends the message; bytes that are left do not belong to it.
    pub fn finish(self) -> Result<(), DecodeError> {
        if self.is_empty() { Ok(()) } else { Err(DecodeError::TrailingBytes) }
    }
}

const TOO_WIDE: DecodeError = DecodeError::OutOfRange("a number of 64 bits");

/// Seven bits in their place within the number. Only one bit of the tenth byte has a place.
fn bits_at(index: u32, bits: u8) -> Result<u64, DecodeError> {
    let (wide, shift) = (u64::from(bits), 7 * index);
    let placed = wide << shift;
    if placed >> shift == wide { Ok(placed) } else { Err(TOO_WIDE) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Take<'a, T> = fn(&mut Reader<'a>) -> Result<T, DecodeError>;

    fn read<'a, T>(bytes: &'a [u8], take: Take<'a, T>) -> Result<T, DecodeError> {
        let mut reader = Reader::new(bytes);
        let value = take(&mut reader)?;
        reader.finish()?;
        Ok(value)
    }

    #[test]
    fn small_numbers_of_either_sign_fold_to_small_ones() {
        let folded = [0, -1, 1, -2, i32::MAX, i32::MIN].map(zigzag);
        assert_eq!(folded, [0, 1, 2, 3, u32::MAX - 1, u32::MAX]);
        assert_eq!(folded.map(unzigzag), [0, -1, 1, -2, i32::MAX, i32::MIN]);
    }

    /// [wire-01] A number has one form.
    #[test]
    fn longer_forms_are_refused() {
        for overlong in [&[0x80, 0x00][..], &[0xff, 0x00], &[0x80, 0x80, 0x80, 0x00]] {
            assert_eq!(read(overlong, Reader::u64), Err(DecodeError::Overlong), "{overlong:02x?}");
        }
        assert_eq!(read(&[0x00], Reader::u64), Ok(0));
        assert_eq!(read(&[0x80, 0x01], Reader::u64), Ok(128));
    }

    /// [wire-02] A number too large for its type is refused, not wrapped.
    #[test]
    fn wide_numbers_are_refused() {
        let ones = [0xff; 9];
        let tenth = |last: u8| [&ones[..], &[last]].concat();
        assert_eq!(read(&tenth(0x01), Reader::u64), Ok(u64::MAX));
        assert_eq!(read(&tenth(0x02), Reader::u64), Err(TOO_WIDE));
        assert_eq!(read(&tenth(0x81), Reader::u64), Err(TOO_WIDE));
        let narrow = Err(DecodeError::OutOfRange("a number of 32 bits"));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f], Reader::u32), Ok(u32::MAX));
        assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x10], Reader::u32), narrow);
    }

    #[test]
    fn a_number_cut_short_is_refused() {
        for cut in [&[][..], &[0x80], &[0xff; 9]] {
            assert_eq!(read(cut, Reader::u64), Err(DecodeError::TooShort), "{cut:02x?}");
        }
    }

    proptest! {
        /// [wire-01] Written and read back, in exactly as many bytes as [`length_of`] says.
        #[test]
        fn numbers_come_back(value: u64, shift in 0u32..64) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            put_u64(&mut bytes, value);
            prop_assert_eq!(bytes.len(), length_of(value));
            prop_assert_eq!(read(&bytes, Reader::u64), Ok(value));
            let narrow = read(&bytes, Reader::u32).ok();
            prop_assert_eq!(narrow, u32::try_from(value).ok());
        }

        #[test]
        fn signed_numbers_come_back(value: i32, shift in 0u32..32) {
            let mut bytes = Vec::new();
            put_i32(&mut bytes, value >> shift);
            prop_assert_eq!(read(&bytes, Reader::i32), Ok(value >> shift));
        }

        /// [wire-01] Bytes that are a number are the bytes of that number.
        #[test]
        fn a_number_has_one_form(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let Ok(value) = read(&bytes, Reader::u64) else { return Ok(()) };
            let mut again = Vec::new();
            put_u64(&mut again, value);
            prop_assert_eq!(again, bytes);
        }
    }
}
