import { InvalidInputError } from "../errors";
import { type SplitName, splitNames } from "./shapes";

/**
 * Returns how many of a class's `count` rows go to each split. The largest remainders get the rows that rounding down
 * left over. A class with at least as many rows as there are splits has a row in each.
 */
export function splitQuotas(
  count: number,
  fractions: Readonly<Record<SplitName, number>>,
): Readonly<Record<SplitName, number>> {
  const wanted = splitNames.filter((split) => fractions[split] > 0);
  const quotas: Record<SplitName, number> = { train: 0, validation: 0, test: 0 };
  for (const split of wanted) quotas[split] = Math.floor(count * fractions[split] + 1e-9);
  const byRemainder = [...wanted].sort((a, b) => count * fractions[b] - quotas[b] - (count * fractions[a] - quotas[a]));
  const total = (): number => quotas.train + quotas.validation + quotas.test;
  for (let i = 0; total() < count; i += 1) quotas[byRemainder[i % byRemainder.length]!] += 1;
  if (count >= wanted.length) {
    for (const split of wanted) {
      if (quotas[split] > 0) continue;
      const largest = wanted.reduce((a, b) => (quotas[b] > quotas[a] ? b : a));
      quotas[largest] -= 1;
      quotas[split] += 1;
    }
  }
  return quotas;
}

/**
 * Returns the quotas of a class's `fresh` rows that bring the class as near to the fractions as possible, next to the
 * rows that it has in the splits already.
 */
export function quotasOfMore(
  fresh: number,
  fractions: Readonly<Record<SplitName, number>>,
  held: Readonly<Record<SplitName, number>>,
): Readonly<Record<SplitName, number>> {
  const wanted = splitQuotas(fresh + held.train + held.validation + held.test, fractions);
  const quotas: Record<SplitName, number> = { train: 0, validation: 0, test: 0 };
  for (const split of splitNames) quotas[split] = Math.max(0, wanted[split] - held[split]);
  for (let excess = quotas.train + quotas.validation + quotas.test - fresh; excess > 0; ) {
    const largest = splitNames.reduce((a, b) => (quotas[b] > quotas[a] ? b : a));
    const others = splitNames.filter((split) => split !== largest).map((split) => quotas[split]);
    const taken = Math.min(excess, Math.max(1, quotas[largest] - Math.max(...others)));
    quotas[largest] -= taken;
    excess -= taken;
  }
  return quotas;
}

/**
 * Assigns rows to splits in one pass, in row order, with exactly the quotas of each class: selection sampling (Knuth,
 * TAOCP vol. 2, 3.4.2, algorithm S) with three boxes.
 *
 * A row goes to a split with probability (places left there) / (rows left of its class). Every assignment is therefore
 * equally likely, nothing is sorted, and the splits' row numbers are ascending.
 *
 * @param classCounts rows of each class; one class if nothing is stratified
 * @param held rows of each class that are in the splits already
 */
export function createSplitter(
  seed: number,
  fractions: Readonly<Record<SplitName, number>>,
  classCounts: readonly number[],
  held?: readonly Readonly<Record<SplitName, number>>[],
): { readonly assign: (classIndex: number) => SplitName } {
  const left = classCounts.map((count, index) => ({
    ...(held ? quotasOfMore(count, fractions, held[index]!) : splitQuotas(count, fractions)),
  }));
  const random = mulberry32(seed);
  return {
    assign(classIndex) {
      const places = left[classIndex]!;
      const draw = random() * (places.train + places.validation + places.test);
      const split = draw < places.train ? "train" : draw < places.train + places.validation ? "validation" : "test";
      places[split] -= 1;
      return split;
    },
  };
}

/** A value of the column by which a split is stratified, and the number of its rows. */
export interface Stratum {
  readonly value: unknown;
  readonly rows: number;
}

/**
 * Refuses splits without rows.
 *
 * @param strata the strata of a stratified split
 * @throws InvalidInputError. Names the values that are too rare if stratification is the cause.
 */
export function assertSplitsFilled(
  rows: Readonly<Record<SplitName, number>>,
  fractions: Readonly<Record<SplitName, number>>,
  strata?: { readonly column: string; readonly values: readonly Stratum[] },
): void {
  const wanted = splitNames.filter((split) => fractions[split] > 0);
  const empty = wanted.filter((split) => rows[split] === 0);
  if (empty.length === 0) return;
  const total = rows.train + rows.validation + rows.test;
  if (strata !== undefined && total >= wanted.length) {
    const { column, values } = strata;
    const shown = [...values].sort((a, b) => a.rows - b.rows).slice(0, 3);
    const listed = shown.map(
      ({ value, rows: rowCount }) => `${JSON.stringify(value)} has ${rowCount} ${rowCount === 1 ? "row" : "rows"}`,
    );
    const more = values.length > shown.length ? `, and ${values.length - shown.length} more values` : "";
    const rule =
      `leaves ${empty.join(" and ")} without rows: the split is stratified, and each value needs ${wanted.length} rows to be in ` +
      `${wanted.join(", ")}, but ${listed.join(", ")}${more}; push more rows of these values, set split.stratifyBy to a ` +
      "column with fewer values, or to null for a split without strata";
    throw new InvalidInputError("a split has no rows", [{ path: "split.stratifyBy", value: column, rule }]);
  }
  const problems = empty.map((split) => ({
    path: `split.fractions.${split}`,
    value: fractions[split],
    rule: `gives split ${split} none of the dataset's ${total} rows; push more rows or increase the fraction`,
  }));
  throw new InvalidInputError("the dataset is too small for its splits", problems);
}

/** Generates uniform numbers in [0, 1) with 32 bits from a 32-bit seed (Tommy Ettinger's Mulberry32). */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
