import { systemClock } from "../../local/clock";

/** Node's timers with the fake clock, which is ahead of `Date`. */
describe("systemClock", () => {
  let lag = 0;
  beforeEach(() => {
    lag = 0;
    jest.useFakeTimers({ now: 1_000 });
    const { now } = Date;
    jest.spyOn(Date, "now").mockImplementation(() => now() - lag);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it("calls back when the delay is over, once", () => {
    const callback = jest.fn();
    systemClock.schedule(50, callback);
    jest.advanceTimersByTime(49);
    expect(callback).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it.each([
    ["a timer that comes a millisecond too soon", 50, 1],
    ["a fraction of a millisecond, which timers drop", 50.7, 0],
    ["a clock that is set back", 50, 5_000],
  ])("is never too early: %s", (_what, delay, behind) => {
    const seen: number[] = [];
    const due = Date.now() + delay;
    systemClock.schedule(delay, () => seen.push(Date.now()));
    lag = behind;
    jest.advanceTimersByTime(10_000);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeGreaterThanOrEqual(due);
  });

  it("waits longer than a timer can", () => {
    const callback = jest.fn();
    const delay = 2 ** 31 + 5_000;
    systemClock.schedule(delay, callback);
    jest.advanceTimersByTime(delay - 1);
    expect(callback).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(callback).toHaveBeenCalledTimes(1);
  });

  it("drops cancelled timers, also rearmed ones", () => {
    const callback = jest.fn();
    const cancel = systemClock.schedule(50, callback);
    lag = 1_000;
    jest.advanceTimersByTime(60);
    cancel();
    jest.advanceTimersByTime(10_000);
    expect(callback).not.toHaveBeenCalled();
  });
});
