/** Maps a range of values to a range of pixels. */
export interface Scale {
  readonly log: boolean;
  at(value: number): number;
  readonly ticks: readonly number[];
}

/**
 * @param logWorthy the ratio of maximum to minimum from which positive values have a logarithmic scale; default: never
 */
export function scaleOf(
  values: readonly number[],
  pixels: readonly [from: number, to: number],
  logWorthy = Number.POSITIVE_INFINITY,
): Scale {
  const finite = values.filter(Number.isFinite);
  let low = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  let high = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (finite.length === 0) [low, high] = [0, 1];
  else if (low === high) {
    const room = Math.abs(low) / 10 || 1;
    [low, high] = [Math.max(low - room, -Number.MAX_VALUE), Math.min(high + room, Number.MAX_VALUE)];
  }
  // The ratio may be infinite although both values are finite. Only a finite threshold selects a logarithmic scale.
  const log = low > 0 && Number.isFinite(logWorthy) && high / low >= logWorthy;
  const [from, to] = pixels;
  // The difference of two finite values must not overflow.
  const unit = Math.max(Math.abs(low), Math.abs(high)) > 1e300 ? 1e-10 : 1;
  const place = log ? Math.log10 : (value: number): number => value * unit;
  const [start, span] = [place(low), place(high) - place(low)];
  return {
    log,
    at: (value) => round(from + ((place(value) - start) / span) * (to - from)),
    ticks: log ? logTicks(low, high) : linearTicks(low * unit, high * unit).map((tick) => tick / unit),
  };
}

/** Rounds to hundredths of a pixel. */
function round(pixel: number): number {
  return Math.round(pixel * 100) / 100;
}

/** Returns about five ticks in steps of 1, 2, 2.5 or 5 times a power of ten. */
function linearTicks(low: number, high: number): readonly number[] {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const ticks: number[] = [];
  for (let index = Math.ceil(low / step); index * step <= high && ticks.length < 12; index++) {
    ticks.push(Number((index * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low: number, high: number): readonly number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const every = Math.max(1, Math.ceil((last - first + 1) / 6));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every) ticks.push(Number(`1e${power}`));
  return ticks.length >= 2 ? ticks : [low, high];
}
