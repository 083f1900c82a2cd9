import { InvalidInputError } from "../errors";
import { type SplitName, splitNames } from "./shapes";
import { mulberry32, type Stratum } from "./split";

/** Splits of whole groups and of whole times. A unit is the rows with one value of the split's column. */

type Fractions = Readonly<Record<SplitName, number>>;

/**
 * Assigns each group to a split, so that no group is in two of them. Takes the groups in a random order, and gives each
 * to the split that lacks most rows. Splits are filled if there are at least as many groups as splits.
 *
 * @param sizes rows of each group
 * @param held the split of a group that has one already
 */
export function assignGroups(
  seed: number,
  fractions: Fractions,
  sizes: readonly number[],
  held: (group: number) => SplitName | undefined = () => undefined,
): readonly SplitName[] {
  const wanted = splitNames.filter((split) => fractions[split] > 0);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const lacking = new Map(wanted.map((split) => [split, total * fractions[split]]));
  const empty = new Set<SplitName>(wanted);
  const assigned = new Array<SplitName>(sizes.length);
  const take = (group: number, split: SplitName): void => {
    lacking.set(split, (lacking.get(split) ?? 0) - sizes[group]!);
    empty.delete(split);
    assigned[group] = split;
  };
  const order = shuffled(sizes.length, seed);
  const free = order.filter((group) => held(group) === undefined);
  for (const group of order) {
    const split = held(group);
    if (split) take(group, split);
  }
  for (const [taken, group] of free.entries()) {
    const candidates = free.length - taken <= empty.size ? wanted.filter((split) => empty.has(split)) : wanted;
    const split = candidates.reduce((best, each) => (lacking.get(each)! > lacking.get(best)! ? each : best));
    take(group, split);
  }
  return assigned;
}

/**
 * Assigns each time to a split: the earliest to train, the latest to test, so that no split has a row that is later than
 * one of the next split. Splits are filled if there are at least as many times as splits.
 *
 * @param counts rows of each time, ascending
 */
export function assignTimes(fractions: Fractions, counts: readonly number[]): readonly SplitName[] {
  const wanted = splitNames.filter((split) => fractions[split] > 0);
  const total = counts.reduce((sum, count) => sum + count, 0);
  let at = 0;
  let [before, end, filled] = [0, total * fractions[wanted[0]!], false];
  return counts.map((count, index) => {
    const later = wanted.length - 1 - at;
    // A time goes to the split in which most of its rows lie.
    if (later > 0 && filled && (before + count / 2 > end || counts.length - index <= later)) {
      at += 1;
      end += total * fractions[wanted[at]!];
    }
    filled = true;
    before += count;
    return wanted[at]!;
  });
}

/** @throws InvalidInputError if there are fewer groups or times than splits */
export function assertUnitsSuffice(
  { by, column }: { readonly by: "group" | "time"; readonly column: string },
  units: readonly Stratum[],
  fractions: Fractions,
): void {
  const wanted = splitNames.filter((split) => fractions[split] > 0);
  if (units.length >= wanted.length) return;
  const rule =
    `must have at least ${wanted.length} different values, one for each of ${wanted.join(", ")}, because the split is by ${by}; ` +
    `it has ${units.length}. Push more rows, or split by another column`;
  throw new InvalidInputError("a split has no rows", [{ path: "split.column", value: column, rule }]);
}

/** The first and the last time of rows in a split. */
export type SplitTimes = readonly [split: SplitName, first: number, last: number];

/**
 * Returns the reasons why stored splits are not in the order of time.
 *
 * @param times of each split, also of several parts of its rows
 */
export function timeReasons(column: string, times: readonly SplitTimes[]): readonly string[] {
  const ordered = splitNames.flatMap((split) => {
    const ranges = times.filter(([name]) => name === split);
    const [first, last] = [Math.min(...ranges.map((each) => each[1])), Math.max(...ranges.map((each) => each[2]))];
    return ranges.length > 0 ? [{ split, first, last }] : [];
  });
  return ordered.slice(1).flatMap((later, index) => {
    const earlier = ordered[index]!;
    if (earlier.last < later.first) return [];
    return [
      `the split is by time, but the last ${column} of ${earlier.split} (${earlier.last}) is not before the first of ${later.split} (${later.first})`,
    ];
  });
}

/**
 * @param crossing number of groups that are in more than one split
 * @param crossingRows two rows of one of these groups, counted from 0
 */
export function groupReasons(
  column: string,
  { crossing, crossingRows }: { readonly crossing: number; readonly crossingRows: readonly number[] | undefined },
): readonly string[] {
  if (!crossingRows) return [];
  return [
    `the split is by group, but ${crossing} values of ${column} are in more than one split, for example that of rows ${crossingRows.join(" and ")}`,
  ];
}

/** Returns 0 … count - 1 in a random order (Fisher and Yates). */
function shuffled(count: number, seed: number): readonly number[] {
  const random = mulberry32(seed);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i -= 1) {
    const other = Math.floor(random() * (i + 1));
    [order[i], order[other]] = [order[other]!, order[i]!];
  }
  return order;
}
