/** Rows for which features are wanted, in the order of their times. Times are milliseconds since the epoch. */
export interface Labels {
  /** Number of the entity of each label; negative: it has none. */
  readonly entities: Int32Array;
  /** Times, ascending. */
  readonly times: Float64Array;
  /** Number of different entities. */
  readonly entityCount: number;
}

/**
 * Finds for each label the row that counts at its time, by replaying the view: rows come in the order in which they
 * became available, and the latest of each entity is kept by the order of `orderOf`. A label sees the state after all rows
 * that were available at its time. The memory depends on labels and entities, not on the view.
 */
export class Replay {
  /** Arrival of the row of each label; -1: none. */
  readonly found: Float64Array;
  private readonly arrivals: Float64Array;
  private readonly events: Float64Array;
  private readonly creations: Float64Array;
  private next = 0;
  private available = Number.NEGATIVE_INFINITY;

  /** @param ttlMs absent: rows hold until a later one */
  constructor(
    private readonly labels: Labels,
    private readonly ttlMs = Number.POSITIVE_INFINITY,
  ) {
    this.found = new Float64Array(labels.times.length).fill(-1);
    this.arrivals = new Float64Array(labels.entityCount).fill(-1);
    this.events = new Float64Array(labels.entityCount);
    this.creations = new Float64Array(labels.entityCount);
  }

  /**
   * Adds the row that becomes available next. Times are milliseconds since the epoch.
   *
   * @param entity negative: no label has it
   * @param creationTime the event time where the row has none
   * @param arrival place among all rows of the view
   * @returns false if the row was available before an earlier one
   */
  add(entity: number, eventTime: number, creationTime: number, arrival: number): boolean {
    const { times } = this.labels;
    const available = eventTime > creationTime ? eventTime : creationTime;
    if (available < this.available) return false;
    this.available = available;
    while (this.next < times.length && times[this.next]! < available) this.look();
    if (entity < 0) return true;
    const { arrivals, events, creations } = this;
    if (arrivals[entity]! >= 0) {
      const [event, creation] = [events[entity]!, creations[entity]!];
      if (eventTime < event) return true;
      if (
        eventTime === event &&
        (creationTime < creation || (creationTime === creation && arrival < arrivals[entity]!))
      )
        return true;
    }
    events[entity] = eventTime;
    creations[entity] = creationTime;
    arrivals[entity] = arrival;
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
    const entity = this.labels.entities[label]!;
    if (entity < 0 || this.arrivals[entity]! < 0) return;
    if (this.events[entity]! >= this.labels.times[label]! - this.ttlMs) this.found[label] = this.arrivals[entity]!;
  }
}
