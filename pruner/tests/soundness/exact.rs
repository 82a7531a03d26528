//! Numbers as digits, for comparing what no machine type holds.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

/// `0.digits * 10^magnitude` with no zero at either end of the digits; zero has none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exact {
    negative: bool,
    digits: String,
    magnitude: i32,
}

impl Exact {
    /// Reads `-12.50e3`.
    pub(crate) fn parse(text: &str) -> Self {
        let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (digits, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        let leading = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0').to_owned();
        let magnitude =
            exponent.parse::<i32>().unwrap() + i32::try_from(whole.len()).unwrap() - i32::try_from(leading).unwrap();
        let is_zero = digits.is_empty();
        Self { negative: negative && !is_zero, digits, magnitude: if is_zero { 0 } else { magnitude } }
    }

    pub(crate) fn of_scaled(value: i128, scale: u8) -> Self {
        Self::parse(&format!("{value}e-{scale}"))
    }

    /// Of a finite float. Its digits are long, so they are kept.
    pub(crate) fn of_float(value: f64) -> Self {
        thread_local!(static KNOWN: RefCell<HashMap<u64, Exact>> = RefCell::default());
        KNOWN.with_borrow_mut(|known| {
            known.entry(value.to_bits()).or_insert_with(|| Self::parse(&format!("{value:.1074}"))).clone()
        })
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| if number.digits.is_empty() { 0 } else { 1 - 2 * i32::from(number.negative) };
        if sign(self) != sign(other) || sign(self) == 0 {
            return sign(self).cmp(&sign(other));
        }
        let size = self.magnitude.cmp(&other.magnitude).then_with(|| self.digits.cmp(&other.digits));
        if self.negative { size.reverse() } else { size }
    }

    /// The multiples of `10^-scale` at or below and at or above.
    pub(crate) fn neighbours(&self, scale: u8) -> (Self, Self) {
        let kept = usize::try_from(self.magnitude + i32::from(scale)).unwrap_or(0);
        if self.digits.len() <= kept {
            return (self.clone(), self.clone());
        }
        let cut: i128 = self.digits[..kept].parse().unwrap_or(0);
        let (inner, outer) = (Self::of_scaled(cut, scale), Self::of_scaled(cut + 1, scale));
        let negated = |number: Self| Self { negative: !number.digits.is_empty(), ..number };
        if self.negative { (negated(outer), negated(inner)) } else { (inner, outer) }
    }
}
