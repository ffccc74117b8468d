// Numbers beside axes, the same as in pictures (chart/ticks.rs). The library's own of logarithmic axes never end on some of them, and few fall on
// round numbers where an axis begins anywhere but at a power of ten.
const { logarithmicTicks, linearTicks } = (() => {
  // Digits before the power of ten, from the coarsest choice to the finest; fewer numbers can't be read, more would touch each other.
  const DIGITS = [[1], [1, 2, 5], [1, 2, 3, 4, 5, 6, 7, 8, 9]], COUNT_MIN = 3, COUNT_MAX = 9;
  // The part of a value by which it may lie beyond the end of an axis.
  const SLACK = 1e-9;
  // Rounded once, as the number is when it is typed.
  const decimal = (digits, power) => Number(`${digits}e${power}`);

  // Multiples of the largest step 1, 2 or 5 times a power of ten that gives enough of them.
  function roundNumbers(min, max) {
    const largest = Math.ceil(Math.log10(max - min));
    for (let below = 0; below < 4; below++) {
      for (const digit of [5, 2, 1]) {
        const step = decimal(digit, largest - below), first = Math.ceil(min / step - SLACK), last = Math.floor(max / step + SLACK);
        const count = Math.min(Math.max(last - first, 0), 100) + 1;
        if (count >= COUNT_MIN) return [...Array(count).keys()].map((index) => decimal((first + index) * digit, largest - below));
      }
    }
    return [min, max];
  }

  // Multiples of the least step 1, 2 or 5 times a power of ten of which there are no more than `most`.
  function linearTicks(min, max, most, whole) {
    const span = max - min;
    if (!(span > 0 && Number.isFinite(span))) return [min];
    const largest = Math.ceil(Math.log10(span));
    for (let below = 3; below >= 0; below--) {
      for (const digit of [1, 2, 5]) {
        const step = decimal(digit, largest - below), first = Math.ceil(min / step - SLACK), last = Math.floor(max / step + SLACK);
        if ((whole && step < 1) || last - first >= most) continue;
        return [...Array(Math.max(0, last - first + 1)).keys()].map((index) => decimal((first + index) * digit, largest - below));
      }
    }
    return [min];
  }

  const logarithmicTicks = (min, max) => {
    const first = Math.floor(Math.log10(min)), last = Math.ceil(Math.log10(max));
    for (const digits of DIGITS) {
      const values = [];
      for (let power = first; power <= last; power++) values.push(...digits.map((digit) => decimal(digit, power)));
      const within = values.filter((value) => value >= min * (1 - SLACK) && value <= max * (1 + SLACK));
      const step = Math.ceil(within.length / COUNT_MAX);
      if (within.length >= COUNT_MIN) return within.filter((_, index) => index % step === 0);
    }
    return roundNumbers(min, max);
  };
  return { logarithmicTicks, linearTicks };
})();
