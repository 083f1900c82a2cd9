import { Replay } from "../../../core/feature-store/replay";
import { sortAscending } from "../../../core/feature-store/time-order";
import { type ArrivedRow, latestAt } from "./oracle";

/** Returns numbers from 0 to 1 that look random (an LCG). */
function generator(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}

describe("a replay of a view", () => {
  it.each([true, false])("keeps the values that count when it drops rows, in order of arrival: %s", (isOrdered) => {
    const random = generator(isOrdered ? 1 : 2);
    const whole = (below: number) => Math.floor(random() * below);
    const [rowCount, labelCount, entityCount, ttlMs] = [150_000, 60, 8, 2_000];
    const rows = Array.from({ length: rowCount }, (_, place): ArrivedRow<number> => {
      const eventTime = isOrdered ? place : whole(rowCount);
      // Entity 7 is rare, so its latest row is old.
      const entity = whole(10_000) === 0 ? 7 : whole(7);
      return { entity, eventTime, creationTime: isOrdered ? undefined : eventTime + whole(3), value: place, place };
    });
    const available = ({ eventTime, creationTime = eventTime }: ArrivedRow<number>) =>
      Math.max(eventTime, creationTime);
    const replayed = [...rows].sort((a, b) => available(a) - available(b));
    const times = Float64Array.from({ length: labelCount }, () => whole(rowCount)).sort();
    const entities = Int32Array.from(times, () => whole(entityCount + 1) - 1);
    const places = Uint32Array.from(times, (_, label) => labelCount - 1 - label);
    const replay = new Replay({ entities, times, places, entityCount }, rowCount, 2, ttlMs);
    expect(replay.values.length).toBeLessThan(rowCount);
    for (let first = 0; first < rowCount; first += 2_000) {
      const some = replayed.slice(first, first + 2_000);
      replay.values.set(
        some.flatMap(({ value }) => [value, -value]),
        2 * replay.room(some.length),
      );
      const added = replay.add({
        ...{ count: some.length, entities: Int32Array.from(some, ({ entity }) => Number(entity)) },
        eventTimes: Float64Array.from(some, ({ eventTime }) => eventTime),
        ...(isOrdered
          ? {}
          : {
              creationTimes: Float64Array.from(some, ({ creationTime }) => creationTime ?? Number.NaN),
              arrivals: Float64Array.from(some, ({ place }) => place),
            }),
      });
      expect(added).toBe(true);
    }
    const found = replay.end();
    // Values of rows that no label has found are dropped.
    expect(found.values.length).toBeLessThanOrEqual(2 * (labelCount + 1));
    for (let label = 0; label < labelCount; label += 1) {
      const value = latestAt(rows, entities[label]!, times[label]!, ttlMs)?.value ?? Number.NaN;
      const at = 2 * found.rows[places[label]!]!;
      expect([...found.values.subarray(at, at + 2)]).toEqual([value, -value]);
    }
  });

  it("reports rows that were available before earlier ones", () => {
    const labels = { entities: Int32Array.of(0), times: Float64Array.of(9), places: Uint32Array.of(0), entityCount: 1 };
    const replay = new Replay(labels, 2, 0);
    const rows = { count: 2, entities: Int32Array.of(0, 0), eventTimes: Float64Array.of(2, 1) };
    expect(replay.add(rows)).toBe(false);
  });
});

it.each([
  ["no numbers", []],
  ["equal numbers", [5, 5, 5]],
  ["a range above 32 bits", [2 ** 45, -(2 ** 45), 7, 2 ** 33, 7, 0, 2_047, 2_048]],
])("orders %s as a stable sort does", (_, numbers) => {
  const sorted = [...numbers.keys()].sort((a, b) => numbers[a]! - numbers[b]! || a - b);
  const found = sortAscending(Float64Array.from(numbers));
  expect([...found.places]).toEqual(sorted);
  expect([...found.numbers]).toEqual(sorted.map((place) => numbers[place]));
});
