/** Rows for which features are wanted, in the order of their times. Times are milliseconds since the epoch. */
export interface Labels {
  /** Number of the entity of each label; negative: it has none. */
  readonly entities: Int32Array;
  /** Times, ascending. */
  readonly times: Float64Array;
  /** Place of each label in the result. */
  readonly places: Float64Array;
  /** Number of different entities. */
  readonly entityCount: number;
}

/** Number of terms by which an entity's rows are ordered. */
const terms = 3;

/**
 * Finds for each label the values of the row that counts at its time, by replaying the view: rows come in the order in
 * which they became available, and the latest of each entity is kept by the order of `orderOf`. A label sees the state
 * after all rows that were available at its time. The memory depends on labels and entities, not on the view.
 */
export class Replay {
  /** `[labels, width]`: the values of the row of each label, by place; NaN if it has none. */
  readonly found: Float64Array;
  /**
   * The latest row of each entity: event time, creation time, arrival, and the values, which the caller writes from `at` on.
   * They are next to each other, because entities lie at random in more memory than the caches hold.
   */
  readonly latest: Float64Array;
  private readonly stride: number;
  private next = 0;
  private available = Number.NEGATIVE_INFINITY;

  /**
   * @param width number of values of a row
   * @param ttlMs absent: rows hold until a later one
   */
  constructor(
    private readonly labels: Labels,
    private readonly width: number,
    private readonly ttlMs = Number.POSITIVE_INFINITY,
  ) {
    this.found = new Float64Array(labels.times.length * width).fill(Number.NaN);
    this.stride = terms + width;
    // No row is before -Infinity.
    this.latest = new Float64Array(labels.entityCount * this.stride).fill(Number.NEGATIVE_INFINITY);
  }

  /** Returns the place of an entity's values in `latest`. */
  at(entity: number): number {
    return entity * this.stride + terms;
  }

  /**
   * Adds the row that becomes available next. Times are milliseconds since the epoch.
   *
   * @param entity negative: no label has it
   * @param creationTime the event time where the row has none
   * @param arrival place among all rows of the view
   * @returns whether the row is now the latest of its entity: the caller then writes its values into `latest`
   * @throws OrderError if the row was available before an earlier one
   */
  add(entity: number, eventTime: number, creationTime: number, arrival: number): boolean {
    const { times } = this.labels;
    const available = eventTime > creationTime ? eventTime : creationTime;
    if (available < this.available) throw new OrderError();
    this.available = available;
    while (this.next < times.length && times[this.next]! < available) this.look();
    if (entity < 0) return false;
    const { latest } = this;
    const at = entity * this.stride;
    const [event, creation] = [latest[at]!, latest[at + 1]!];
    if (eventTime < event) return false;
    if (eventTime === event && (creationTime < creation || (creationTime === creation && arrival < latest[at + 2]!)))
      return false;
    latest[at] = eventTime;
    latest[at + 1] = creationTime;
    latest[at + 2] = arrival;
    return true;
  }

  /** Ends the replay: the labels that are left see the last state. */
  end(): Float64Array {
    while (this.next < this.labels.times.length) this.look();
    return this.found;
  }

  private look(): void {
    const label = this.next;
    this.next += 1;
    const { found, latest, width } = this;
    const entity = this.labels.entities[label]!;
    if (entity < 0) return;
    const event = latest[entity * this.stride]!;
    // The TTL may be infinite, and so is the event time before the first row.
    if (event === Number.NEGATIVE_INFINITY || event < this.labels.times[label]! - this.ttlMs) return;
    const [from, to] = [this.at(entity), this.labels.places[label]! * width];
    for (let i = 0; i < width; i += 1) found[to + i] = latest[from + i]!;
  }
}

/** Thrown by a replay of rows that are not in the order in which they became available. */
export class OrderError extends Error {
  constructor() {
    super("the rows are not in the order in which they became available");
  }
}
