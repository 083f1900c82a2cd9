import { type BackoffTiming, backoffMs, createPause, inRounds } from "../../core/backoff";

describe("backoff", () => {
  const timing: BackoffTiming = { firstMs: 100, maxMs: 1_000 };

  it.each<[string, number, BackoffTiming, number, number]>([
    ["doubles its bound with each retry", 3, timing, 0.5, 400],
    ["keeps to its maximum", 10, timing, 0.5, 500],
    ["may be nothing with full jitter", 3, timing, 0, 0],
    ["always waits the minimum share", 3, { ...timing, minShare: 0.5 }, 0, 400],
    ["adds jitter to the minimum share", 3, { ...timing, minShare: 0.5 }, 0.5, 600],
    ["stays finite after a thousand retries", 1_030, timing, 0.999, 999],
  ])("%s", (_name, retry, given, random, expected) => expect(backoffMs(retry, given, () => random)).toBe(expected));

  it("sleeps for the computed time", async () => {
    const slept: number[] = [];
    const pause = createPause(
      timing,
      async (ms) => slept.push(ms),
      () => 0.25,
    );
    for (const retry of [1, 2, 3]) await pause(retry);
    expect(slept).toEqual([50, 100, 200]);
  });
});

describe("optimistic writes in rounds", () => {
  const paused: number[] = [];
  const retry = {
    rounds: 3,
    pause: async (round: number) => void paused.push(round),
    busy: () => new Error("others were first"),
  };
  beforeEach(() => void paused.splice(0));

  it("return the first result, which may be false", async () => {
    const results = [undefined, false, true];
    expect(await inRounds(retry, async (round) => results[round])).toBe(false);
    expect(paused).toEqual([1]);
  });

  it("pause between rounds only, and fail after the last", async () => {
    await expect(inRounds(retry, async () => undefined)).rejects.toThrow("others were first");
    expect(paused).toEqual([1, 2]);
  });

  it("end with the error of an attempt", async () => {
    const refuse = () => Promise.reject(new Error("refused"));
    await expect(inRounds(retry, refuse)).rejects.toThrow("refused");
    expect(paused).toEqual([]);
  });
});
