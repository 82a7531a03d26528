//! A decimal number exactly as it was written.

use std::cmp::Ordering;
use std::fmt;

/// `mantissa * 10^exponent`, exact. Trailing zeros of the mantissa are moved into the exponent, so equal numbers are equal
/// here.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    mantissa: i128,
    exponent: i32,
    /// Whether it was written with a point or an exponent. The number is the same, but engines may read it as a float.
    float_notation: bool,
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        (self.mantissa, self.exponent) == (other.mantissa, other.exponent)
    }
}

impl Eq for Number {}

/// Exponents beyond this are taken as it; no type distinguishes what lies there.
const MAX_EXPONENT: i32 = 100_000;

impl Number {
    /// Reads digits with an optional sign, fraction and exponent: `-12.50`, `1e9`, `.5`. `None` if the text is no number
    /// or has more digits than fit 127 bits.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let (digits, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (unsigned.get(..at)?, unsigned.get(at + 1..)?.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut mantissa: i128 = 0;
        let significant = fraction.trim_end_matches('0');
        for digit in whole.bytes().chain(significant.bytes()) {
            if !digit.is_ascii_digit() {
                return None;
            }
            mantissa = mantissa.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
        }
        if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let exponent = exponent.checked_sub(i32::try_from(significant.len()).ok()?)?;
        let number = Self::new(if negative { -mantissa } else { mantissa }, exponent);
        Some(Self { float_notation: unsigned.contains(['.', 'e', 'E']), ..number })
    }

    /// `mantissa * 10^exponent`.
    pub fn new(mut mantissa: i128, mut exponent: i32) -> Self {
        if mantissa == 0 {
            return Self { mantissa, exponent: 0, float_notation: false };
        }
        while mantissa % 10 == 0 {
            mantissa /= 10;
            exponent = exponent.saturating_add(1);
        }
        // Only without its zeros is a number cut the same way when it is read from its text.
        exponent = exponent.clamp(-MAX_EXPONENT, MAX_EXPONENT);
        Self { mantissa, exponent, float_notation: false }
    }

    /// The same number as if it were written as a float.
    #[must_use]
    pub fn in_float_notation(self) -> Self {
        Self { float_notation: true, ..self }
    }

    /// Whether it was written with a point or an exponent.
    pub fn is_float_notation(self) -> bool {
        self.float_notation
    }

    /// The number with the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { mantissa: -self.mantissa, ..self }
    }

    /// The number times `10^scale`, rounded down and rounded up to integers; `Err` is the side of the integers' range on
    /// which it lies.
    ///
    /// # Errors
    /// `Less` if the result lies below `i128::MIN`, `Greater` if above `i128::MAX`.
    pub fn scaled(self, scale: u8) -> Result<(i128, i128), Ordering> {
        let shift = self.exponent.saturating_add(i32::from(scale));
        let power = 10_i128.checked_pow(shift.unsigned_abs());
        if shift >= 0 {
            let scaled = power.and_then(|power| self.mantissa.checked_mul(power));
            let beyond = self.mantissa.cmp(&0);
            return scaled.map(|value| (value, value)).ok_or(beyond).or_else(|side| match side {
                Ordering::Equal => Ok((0, 0)),
                side => Err(side),
            });
        }
        let (low, exact) = match power {
            Some(power) => (self.mantissa.div_euclid(power), self.mantissa.rem_euclid(power) == 0),
            None => (if self.mantissa < 0 { -1 } else { 0 }, self.mantissa == 0),
        };
        Ok((low, if exact { low } else { low + 1 }))
    }

    /// The nearest 64-bit floats at or below and at or above the number; equal where it is one.
    pub fn to_floats(self) -> (f64, f64) {
        let nearest = self.nearest_float();
        match self.compare_to_float(nearest) {
            Ordering::Equal => (nearest, nearest),
            Ordering::Less => (nearest.next_down(), nearest),
            Ordering::Greater => (nearest, nearest.next_up()),
        }
    }

    /// Whether an engine compares another value than this one with decimals of `scale` digits behind the point, since it takes the
    /// number for a 64-bit float, and casts that to a decimal of as many digits, or of 15 if these are more: DataFusion does. Of
    /// `19.99` nothing is lost, of `100000.01` something is.
    #[expect(clippy::cast_possible_truncation, reason = "what the float is beyond 128 bits is no decimal either")]
    pub fn changes_by_way_of_float(self, scale: u8) -> bool {
        const DIGITS: u8 = 15;
        let digits = scale.max(DIGITS);
        self.is_float_notation()
            && match (self.scaled(digits), self.to_string().parse::<f64>()) {
                (Ok((low, high)), Ok(float)) => {
                    let cast = (float * 10_f64.powi(digits.into())).round() as i128;
                    low != cast || high != cast
                }
                _ => true,
            }
    }

    /// The float that the number is nearest to; of two the one with an even last bit.
    fn nearest_float(self) -> f64 {
        // Both numbers are floats, so that one division or multiplication rounds once (Clinger 1990).
        const MAX_WHOLE: u128 = 1 << f64::MANTISSA_DIGITS;
        const MAX_POWER: u32 = 22;
        let power = self.exponent.unsigned_abs();
        if self.mantissa.unsigned_abs() > MAX_WHOLE || power > MAX_POWER {
            return format!("{}e{}", self.mantissa, self.exponent).parse().unwrap_or(f64::NAN);
        }
        #[expect(clippy::cast_precision_loss, reason = "each is a float as it is")]
        let (whole, power) = (self.mantissa as f64, 10_u128.pow(power) as f64);
        if self.exponent < 0 { whole / power } else { whole * power }
    }

    /// How the number compares with a float, exactly.
    fn compare_to_float(self, float: f64) -> Ordering {
        if float.is_infinite() {
            return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
        }
        let sign = self.mantissa.signum();
        let float_sign = if float == 0.0 { 0 } else { i128::from(float > 0.0) * 2 - 1 };
        if sign != float_sign || sign == 0 {
            return sign.cmp(&float_sign);
        }
        if let Some(magnitude) = self.compare_magnitude(float.abs()) {
            return if sign < 0 { magnitude.reverse() } else { magnitude };
        }
        // No float has more than 767 significant digits, so this form is the float itself and not a rounding of it.
        let exact = format!("{:.780e}", float.abs());
        let (digits, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        let float_exponent: i32 = exponent.parse().unwrap_or(0);
        let own_digits = self.mantissa.unsigned_abs().to_string();
        let own_exponent = self.exponent + i32::try_from(own_digits.len()).unwrap_or(i32::MAX) - 1;
        let float_digits = digits.replacen('.', "", 1);
        let magnitude =
            own_exponent.cmp(&float_exponent).then_with(|| own_digits.as_str().cmp(float_digits.trim_end_matches('0')));
        if sign < 0 { magnitude.reverse() } else { magnitude }
    }

    /// How the magnitudes compare, as whole numbers; `None` where these pass 128 bits.
    fn compare_magnitude(self, float: f64) -> Option<Ordering> {
        const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;
        /// What the exponent of a float with a whole mantissa is, were its bits zero.
        const BIAS: i64 = 1075;
        let bits = float.to_bits();
        let (biased, fraction) = (bits >> FRACTION_BITS, bits & ((1 << FRACTION_BITS) - 1));
        // The least exponent stands for two: with the leading bit and without.
        let mantissa = if biased == 0 { fraction } else { fraction | (1 << FRACTION_BITS) };
        let zeros = mantissa.trailing_zeros().min(FRACTION_BITS);
        let binary_exponent = i64::try_from(biased.max(1)).ok()? - BIAS + i64::from(zeros);
        let power = 10_u128.checked_pow(self.exponent.unsigned_abs())?;
        let (mut own, mut other) = (self.mantissa.unsigned_abs(), u128::from(mantissa >> zeros));
        let scaled = if self.exponent < 0 { &mut other } else { &mut own };
        *scaled = scaled.checked_mul(power)?;
        let shift = u32::try_from(binary_exponent.unsigned_abs()).ok()?;
        let shifted = if binary_exponent < 0 { &mut own } else { &mut other };
        *shifted = shifted.checked_mul(1_u128.checked_shl(shift)?)?;
        Some(own.cmp(&other))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.unsigned_abs().to_string();
        if self.mantissa < 0 {
            f.write_str("-")?;
        }
        let fraction = usize::try_from(-i64::from(self.exponent)).unwrap_or(0);
        if (0..=20).contains(&self.exponent) {
            let point = if self.float_notation { ".0" } else { "" };
            write!(f, "{digits}{}{point}", "0".repeat(self.exponent.unsigned_abs() as usize))
        } else if self.exponent < 0 && fraction <= 40 {
            let padded = format!("{digits:0>width$}", width = fraction + 1);
            let (whole, fraction) = padded.split_at(padded.len() - fraction);
            write!(f, "{whole}.{fraction}")
        } else {
            write!(f, "{digits}e{}", self.exponent)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::parse(text).unwrap()
    }

    #[test]
    fn a_number_reads_back_from_its_print() {
        for text in ["0", "-1", "12.5", "0.001", "-0.07", "123e30", "-5e-60", "170141183460469231731687303715884105727"]
        {
            assert_eq!(number(text).to_string(), text);
        }
        assert_eq!(number("1.50e1"), number("15"));
        assert_eq!(number("+007"), number("7"));
        assert_eq!(number(".5"), number("0.50"));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in
            ["", "-", ".", "1.2.3", "1e", "0x10", "1_000", "NaN", "1.-5", "999999999999999999999999999999999999999999"]
        {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }

    #[test]
    fn scaling_rounds_outward() {
        assert_eq!(number("1.005").scaled(2), Ok((100, 101)));
        assert_eq!(number("-1.005").scaled(2), Ok((-101, -100)));
        assert_eq!(number("1.25").scaled(2), Ok((125, 125)));
        assert_eq!(number("1e-90").scaled(2), Ok((0, 1)));
        assert_eq!(number("-1e-90").scaled(2), Ok((-1, 0)));
        assert_eq!(number("1e60").scaled(0), Err(Ordering::Greater));
        assert_eq!(number("-1e60").scaled(0), Err(Ordering::Less));
        assert_eq!(number("0e60").scaled(9), Ok((0, 0)));
    }

    #[test]
    fn a_number_between_two_floats_has_both_as_neighbours() {
        let (low, high) = number("0.1").to_floats();
        assert_eq!(high.to_bits() - low.to_bits(), 1);
        // The nearest float to 0.1 lies above it.
        assert_eq!(high, 0.1);
        assert_eq!(number("0.5").to_floats(), (0.5, 0.5));
        assert_eq!(number("-0.375").to_floats(), (-0.375, -0.375));
        assert_eq!(number("9007199254740993").to_floats(), (9_007_199_254_740_992.0, 9_007_199_254_740_994.0));
        assert_eq!(number("1e400").to_floats(), (f64::MAX, f64::INFINITY));
        assert_eq!(number("-1e400").to_floats(), (f64::NEG_INFINITY, f64::MIN));
        assert_eq!(number("1e-400").to_floats(), (0.0, f64::from_bits(1)));
    }
    #[test]
    fn whole_numbers_compare_as_digits_do() {
        let slow = |number: Number, float: f64| -> Ordering {
            // With a zero less behind it and one more in the exponent nothing fits 128 bits.
            let digits = format!("{float:.780e}");
            let (digits, exponent) = digits.split_once('e').unwrap();
            let own = number.mantissa.unsigned_abs().to_string();
            let own_exponent = number.exponent + i32::try_from(own.len()).unwrap() - 1;
            let digits = digits.replacen('.', "", 1);
            own_exponent
                .cmp(&exponent.parse().unwrap())
                .then_with(|| own.trim_end_matches('0').cmp(digits.trim_end_matches('0')))
        };
        let mut state = 1_u64;
        let mut fast = 0;
        for round in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mantissa = 1 + i128::from(state >> (round % 60));
            let exponent = i32::try_from(state % 51).unwrap() - 25;
            let number = Number::new(mantissa, exponent);
            let parsed: f64 = format!("{mantissa}e{exponent}").parse().unwrap();
            assert_eq!(number.nearest_float().to_bits(), parsed.to_bits(), "{mantissa}e{exponent}");
            for float in [parsed.next_down(), parsed, parsed.next_up()] {
                if let Some(order) = number.compare_magnitude(float) {
                    fast += 1;
                    assert_eq!(order, slow(number, float), "{mantissa}e{exponent} and {float:e}");
                }
            }
        }
        assert!(fast > 30_000, "{fast}");
    }
}
