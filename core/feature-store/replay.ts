import { sharedNumbers, sharedPlaces } from "./shared-arrays";

/** Rows that may be added at once. */
export const maxRowsAtOnce = 1 << 16;

/** Rows for which features are wanted, in the order of their times. Times are milliseconds since the epoch. */
export interface Labels {
  /** Number of the entity of each label; negative: it has none. */
  readonly entities: Int32Array;
  /** Times, ascending. */
  readonly times: Float64Array;
  /** Place of each label in the results. */
  readonly places: Uint32Array;
  /** Number of different entities. */
  readonly entityCount: number;
}

/** Rows of a view. The arrays may have more room. Times are milliseconds since the epoch. */
export interface ViewRows {
  readonly count: number;
  /** Number of the entity of each row; negative: no label has it. */
  readonly entities: Int32Array;
  readonly eventTimes: Float64Array;
  /** The event time where a row has none. Absent if no row has one. */
  readonly creationTimes?: Float64Array | undefined;
  /** Place of each row among all rows of the view. Absent if rows come in the order of their arrival. */
  readonly arrivals?: Float64Array | undefined;
}

/** Values that labels have found, in shared memory. */
export interface FoundRows {
  readonly width: number;
  /** Values of rows, one row after another. NaN: a missing value, or a label without a row. */
  readonly values: Float64Array;
  /** Row of `values` of each label, by the place of the label. */
  readonly rows: Uint32Array;
}

/**
 * Finds for each label the row that counts at its time, by replaying the view: rows come in the order in which they
 * became available, and the latest of each entity is kept by the order of `orderOf`. A label sees the state after all rows
 * that were available at its time.
 *
 * The values of rows are kept in the order in which they come. When there is no room, those of rows that no label has
 * found, and that are not the latest of their entity, are dropped. The memory depends on labels and entities, not on the
 * view.
 */
export class Replay {
  /** Values of rows, one row after another; NaN for a missing one. */
  readonly values: Float64Array;
  /** Row of `values` of each label. The first row, whose values are missing, is that of a label without a row. */
  readonly found: Int32Array;
  private readonly capacity: number;
  /** Row of `values` that is the latest of each entity; the first row before there is one. */
  private readonly latest: Int32Array;
  private readonly events: Float64Array;
  private readonly creations: Float64Array;
  private readonly arrivals: Float64Array;
  private filled = 1;
  private arrived = 0;
  private next = 0;
  private available = Number.NEGATIVE_INFINITY;

  /**
   * @param viewRows number of rows that come
   * @param width number of values of a row
   * @param ttlMs absent: rows hold until a later one
   */
  constructor(
    private readonly labels: Labels,
    viewRows: number,
    readonly width: number,
    private readonly ttlMs = Number.POSITIVE_INFINITY,
  ) {
    // At least half of the rows can be dropped when there is no room.
    const kept = labels.times.length + labels.entityCount;
    this.capacity = Math.min(viewRows, 2 * kept + maxRowsAtOnce) + 1;
    this.values = sharedNumbers(this.capacity * width).fill(Number.NaN, 0, width);
    this.found = new Int32Array(labels.times.length);
    this.latest = new Int32Array(labels.entityCount);
    // No row is before -Infinity.
    this.events = new Float64Array(labels.entityCount).fill(Number.NEGATIVE_INFINITY);
    this.creations = new Float64Array(labels.entityCount).fill(Number.NEGATIVE_INFINITY);
    this.arrivals = new Float64Array(labels.entityCount);
  }

  /** Returns the row of `values` that is the first of the next ones. The caller writes their values, and adds them. */
  room(rows: number): number {
    if (this.filled + rows > this.capacity) this.drop();
    return this.filled;
  }

  /**
   * Adds the rows that become available next, at most `maxRowsAtOnce`.
   *
   * @returns false if a row was available before an earlier one; the replay is of no use then
   */
  add({ count, entities, eventTimes, creationTimes = eventTimes, arrivals }: ViewRows): boolean {
    const { labels, found, latest, events, filled, ttlMs } = this;
    const { times } = labels;
    // Each row is later than all before it if rows come in the order of their event times and of their arrival.
    const isLatest = creationTimes === eventTimes && arrivals === undefined;
    let label = this.next;
    let last = this.available;
    // One loop without calls: a merge of rows and labels takes a few nanoseconds for each.
    for (let row = 0; row < count; row += 1) {
      const event = eventTimes[row]!;
      const creation = creationTimes[row]!;
      const available = event > creation ? event : creation;
      if (available < last) return false;
      last = available;
      for (; label < times.length && times[label]! < available; label += 1) {
        const entity = labels.entities[label]!;
        if (entity >= 0 && events[entity]! >= times[label]! - ttlMs) found[label] = latest[entity]!;
      }
      const entity = entities[row]!;
      if (entity < 0 || !(isLatest || this.isLater(entity, event, creation, arrivals?.[row] ?? this.arrived + row)))
        continue;
      events[entity] = event;
      latest[entity] = filled + row;
    }
    this.next = label;
    this.available = last;
    this.filled += count;
    this.arrived += count;
    return true;
  }

  /** Ends the replay: the labels that are left see the last state. Returns what the labels have found. */
  end(): FoundRows {
    const [entities, eventTimes] = [Int32Array.of(-1), Float64Array.of(Number.POSITIVE_INFINITY)];
    this.add({ count: 1, entities, eventTimes });
    this.filled -= 1;
    const { found, width } = this;
    const { places } = this.labels;
    const rows = sharedPlaces(found.length);
    let { values } = this;
    if (this.filled > found.length + 1) {
      // No row counts as the latest any more. What is left has at most one row for each label.
      this.latest.fill(0);
      this.drop();
      values = sharedNumbers(this.filled * width);
      values.set(this.values.subarray(0, values.length));
    }
    for (let label = 0; label < found.length; label += 1) rows[places[label]!] = found[label]!;
    return { width, values, rows };
  }

  /** Returns whether a row is later than the latest of its entity, and takes its creation time and arrival if so. */
  private isLater(entity: number, event: number, creation: number, arrival: number): boolean {
    const { events, creations, arrivals } = this;
    const later = event - events[entity]! || creation - creations[entity]! || arrival - arrivals[entity]!;
    if (later < 0) return false;
    creations[entity] = creation;
    arrivals[entity] = arrival;
    return true;
  }

  private drop(): void {
    const { values, width, found, latest } = this;
    const isKept = new Uint8Array(this.filled);
    for (const row of latest) isKept[row] = 1;
    for (const row of found) isKept[row] = 1;
    const places = new Int32Array(this.filled);
    let kept = 1;
    for (let row = kept; row < places.length; row += 1) {
      if (isKept[row] === 0) continue;
      values.copyWithin(kept * width, row * width, (row + 1) * width);
      places[row] = kept;
      kept += 1;
    }
    for (const rows of [latest, found]) for (let at = 0; at < rows.length; at += 1) rows[at] = places[rows[at]!]!;
    this.filled = kept;
  }
}
