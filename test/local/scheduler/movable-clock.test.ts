import { MovableClock } from "../../../local/scheduler/movable-clock";
import { ManualClock } from "../../support/manual-clock";

const hour = 3_600_000;

describe("a clock that can be advanced", () => {
  const setup = () => {
    const base = new ManualClock(1_000);
    const clock = new MovableClock(base);
    const fired: string[] = [];
    return { base, clock, fired, plan: (name: string, delay: number) => clock.schedule(delay, () => fired.push(name)) };
  };

  it("runs like the underlying clock", () => {
    const { base, clock, fired, plan } = setup();
    plan("soon", 10);
    base.advance(9);
    expect([clock.now(), fired]).toEqual([1_009, []]);
    base.advance(1);
    expect(fired).toEqual(["soon"]);
    expect(base.pending).toBe(0);
  });

  it("fires the timers that become due when it is advanced, and keeps the others", () => {
    const { base, clock, fired, plan } = setup();
    plan("tonight", 3 * hour);
    plan("tomorrow", 27 * hour);
    clock.advance(4 * hour);
    base.advance(0);
    expect([clock.now(), clock.aheadMs, fired]).toEqual([1_000 + 4 * hour, 4 * hour, ["tonight"]]);
    base.advance(22 * hour);
    expect(fired).toEqual(["tonight"]);
    base.advance(hour);
    expect(fired).toEqual(["tonight", "tomorrow"]);
  });

  it("fires no cancelled timer, before or after it is advanced", () => {
    const { base, clock, fired, plan } = setup();
    const [first, second] = [plan("first", hour), plan("second", 2 * hour)];
    first();
    clock.advance(1.5 * hour);
    second();
    base.advance(10 * hour);
    expect([fired, base.pending]).toEqual([[], 0]);
  });
});
