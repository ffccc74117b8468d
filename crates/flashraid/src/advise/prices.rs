//! Prices of drives, slots and power, which a user writes into a file. The program ships none, because they age.

use std::collections::BTreeMap;

use serde::Deserialize;

const HOURS_PER_YEAR: f64 = 24.0 * 365.25;

/// Prices of drives, and what running them costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// Currency of all sums, such as `EUR`.
    pub currency: String,
    /// Years for which an array is kept. Worn-out drives are replaced.
    pub years: f64,
    slot: f64,
    power_per_kwh: f64,
    drives: BTreeMap<String, DrivePrice>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct DrivePrice {
    price: f64,
    watts: f64,
}

/// A file of prices as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    years: String,
    slot: Option<String>,
    power: Option<String>,
    drives: BTreeMap<String, WrittenDrive>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenDrive {
    price: String,
    watts: Option<String>,
}

impl Prices {
    /// Reads prices.
    ///
    /// # Errors
    /// Returns a text that names the key, what was found and what is allowed.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let form = "prices are texts with units: years = \"5y\", slot = \"40 EUR\", power = \"0.25 EUR/kWh\", and for each drive \
                        [drives.NAME] with price = \"900 EUR\" and watts = \"18 W\"";
            format!("{}; {form}", error.to_string().trim_end())
        })?;
        let mut currency: Option<String> = None;
        let mut money = |key: &str, text: &str| -> Result<f64, String> {
            let (sum, found) = sum_of(text).ok_or_else(|| format!("`{key}`: {text:?} is no sum of money; write 900 EUR"))?;
            match &currency {
                Some(known) if *known != found => Err(format!("`{key}`: {text:?} is in {found}, and other prices are in {known}")),
                _ => {
                    currency = Some(found);
                    Ok(sum)
                }
            }
        };
        let mut drives = BTreeMap::new();
        for (name, drive) in &written.drives {
            let price = money(&format!("drives.{name}.price"), &drive.price)?;
            let watts = match &drive.watts {
                Some(text) => number_before(text, "W").ok_or_else(|| format!("`drives.{name}.watts`: {text:?} is no power; write 18 W"))?,
                None => 0.0,
            };
            drives.insert(name.clone(), DrivePrice { price, watts });
        }
        let slot = written.slot.as_deref().map_or(Ok(0.0), |text| money("slot", text))?;
        let power_per_kwh = match &written.power {
            Some(text) => {
                let sum = text.trim().strip_suffix("/kWh").ok_or_else(|| format!("`power`: {text:?} is no price; write 0.25 EUR/kWh"))?;
                money("power", sum)?
            }
            None => 0.0,
        };
        let years = number_before(&written.years, "y").filter(|years| (0.1..=100.0).contains(years));
        let years = years.ok_or_else(|| format!("`years`: {:?} is no time from 0.1y to 100y; write 5y", written.years))?;
        let currency = currency.ok_or("prices need at least one drive: [drives.NAME] with price = \"900 EUR\"")?;
        if drives.values().any(|drive| drive.watts > 0.0) && written.power.is_none() {
            return Err("`watts` of a drive need a price of power, such as power = \"0.25 EUR/kWh\"".to_owned());
        }
        Ok(Self { currency, years, slot, power_per_kwh, drives })
    }

    /// Returns the names of the drives.
    pub fn drives(&self) -> impl Iterator<Item = &str> {
        self.drives.keys().map(String::as_str)
    }

    /// Returns the cost of an array over [`Prices::years`], with drives that are replaced when they are worn out; `None` if the drive has
    /// no price.
    pub fn cost(&self, drive: &str, members: f64, life_years: Option<f64>) -> Option<f64> {
        let DrivePrice { price, watts } = *self.drives.get(drive)?;
        let bought = life_years.map_or(1.0, |life| (self.years / life).ceil().max(1.0));
        let energy_kwh = watts * HOURS_PER_YEAR * self.years / 1000.0;
        Some(members * (price * bought + self.slot + energy_kwh * self.power_per_kwh))
    }
}

/// Returns a sum of money and its currency, from a text such as `900 EUR`.
pub(super) fn sum_of(text: &str) -> Option<(f64, String)> {
    let (sum, currency) = text.trim().split_once(' ')?;
    let sum = sum.parse::<f64>().ok().filter(|sum| sum.is_finite() && *sum >= 0.0)?;
    let currency = currency.trim();
    (currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase())).then(|| (sum, currency.to_owned()))
}

fn number_before(text: &str, unit: &str) -> Option<f64> {
    text.trim().strip_suffix(unit)?.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: &str = "years = \"5y\"\nslot = \"40 EUR\"\npower = \"0.2 EUR/kWh\"\n[drives.a]\nprice = \"900 EUR\"\nwatts = \"20 W\"\n\
                          [drives.b]\nprice = \"700 EUR\"\n";

    #[test]
    fn worn_out_drives_are_bought_again_and_power_is_paid() {
        let prices = Prices::from_toml(PRICES).unwrap();
        // 20 W for 43,830 hours are 876.6 kWh, or 175.32 EUR.
        let near = |cost: Option<f64>, expected: f64| assert!((cost.unwrap() - expected).abs() < 1e-6, "{cost:?} {expected}");
        near(prices.cost("a", 4.0, None), 4.0 * (900.0 + 40.0 + 175.32));
        near(prices.cost("a", 4.0, Some(2.4)), 4.0 * (2700.0 + 40.0 + 175.32));
        near(prices.cost("b", 2.0, Some(9.0)), 2.0 * 740.0);
        assert_eq!(prices.cost("c", 2.0, None), None);
        assert_eq!((prices.currency.as_str(), prices.years), ("EUR", 5.0));
    }

    #[test]
    fn prices_without_units_are_refused() {
        for (from, to, part) in [
            ("\"900 EUR\"", "900", "texts with units"),
            ("\"900 EUR\"", "\"900\"", "is no sum of money; write 900 EUR"),
            ("\"900 EUR\"", "\"900 USD\"", "other prices are in"),
            ("\"20 W\"", "\"20\"", "is no power; write 18 W"),
            ("\"0.2 EUR/kWh\"", "\"0.2 EUR\"", "write 0.25 EUR/kWh"),
            ("\"5y\"", "\"5\"", "write 5y"),
            ("power = \"0.2 EUR/kWh\"\n", "", "need a price of power"),
            ("slot", "slots", "unknown field"),
        ] {
            let error = Prices::from_toml(&PRICES.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(part), "{to}: {error}");
        }
        assert!(Prices::from_toml("years = \"5y\"\n[drives]\n").unwrap_err().contains("at least one drive"));
    }
}
