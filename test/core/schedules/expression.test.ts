import { fromWallTime, isTimeZone, nextFire, parseExpression, toWallTime } from "../../../core/schedules/expression";

const utc = (text: string) => Date.parse(`${text}Z`);

/** Returns the next `count` firings after a time. */
function fires(expression: string, after: string, count: number, options: object = {}): readonly string[] {
  const parsed = parseExpression(expression);
  const found: string[] = [];
  let time: number | undefined = utc(after);
  while (found.length < count) {
    time = nextFire(parsed, time, { base: utc("2026-01-01T00:00:00"), ...options });
    if (time === undefined) break;
    found.push(new Date(time).toISOString().slice(0, 16));
  }
  return found;
}

describe("cron", () => {
  // 2026: 1 January is a Thursday; February begins on a Sunday and has 28 days; 1 August is a Saturday.
  const cases: readonly [string, string, string, readonly string[]][] = [
    ["every day at 3", "cron(0 3 * * ? *)", "2026-01-01T03:00", ["2026-01-02T03:00", "2026-01-03T03:00"]],
    ["every 10 minutes", "cron(0/10 * * * ? *)", "2026-01-01T23:45", ["2026-01-01T23:50", "2026-01-02T00:00"]],
    [
      "steps from a star",
      "cron(*/25 8 * * ? *)",
      "2026-01-01T08:00",
      ["2026-01-01T08:25", "2026-01-01T08:50", "2026-01-02T08:00"],
    ],
    ["weekdays at 18", "cron(0 18 ? * MON-FRI *)", "2026-01-02T18:00", ["2026-01-05T18:00"]],
    [
      "weekdays by number: 1 is Sunday",
      "cron(0 0 ? * 1,7 *)",
      "2026-01-01T00:00",
      ["2026-01-03T00:00", "2026-01-04T00:00", "2026-01-10T00:00"],
    ],
    [
      "a range around the weekend",
      "cron(0 0 ? * SAT-SUN *)",
      "2026-01-01T00:00",
      ["2026-01-03T00:00", "2026-01-04T00:00"],
    ],
    ["first of the month", "cron(0 8 1 * ? *)", "2026-01-15T00:00", ["2026-02-01T08:00", "2026-03-01T08:00"]],
    ["last day of the month", "cron(0 0 L * ? *)", "2026-01-15T00:00", ["2026-01-31T00:00", "2026-02-28T00:00"]],
    ["last Friday of the month", "cron(0 0 ? * 6L *)", "2026-01-01T00:00", ["2026-01-30T00:00", "2026-02-27T00:00"]],
    ["last Friday by name", "cron(0 0 ? * FRIL *)", "2026-01-01T00:00", ["2026-01-30T00:00"]],
    ["second Tuesday", "cron(0 0 ? * 3#2 *)", "2026-01-01T00:00", ["2026-01-13T00:00", "2026-02-10T00:00"]],
    [
      "fifth Thursday, which few months have",
      "cron(0 0 ? * THU#5 *)",
      "2026-01-01T00:00",
      ["2026-01-29T00:00", "2026-04-30T00:00"],
    ],
    [
      "weekday nearest to the 15th, a Sunday in February",
      "cron(0 0 15W * ? *)",
      "2026-02-01T00:00",
      ["2026-02-16T00:00", "2026-03-16T00:00", "2026-04-15T00:00"],
    ],
    [
      "weekday nearest to the 1st stays in its month: Saturday 1 August → Monday 3",
      "cron(0 0 1W 8 ? *)",
      "2026-01-01T00:00",
      ["2026-08-03T00:00"],
    ],
    ["last weekday: 31 January is a Saturday", "cron(0 0 LW * ? *)", "2026-01-01T00:00", ["2026-01-30T00:00"]],
    ["the 31st skips short months", "cron(0 0 31 * ? *)", "2026-02-01T00:00", ["2026-03-31T00:00", "2026-05-31T00:00"]],
    ["29 February", "cron(0 0 29 2 ? *)", "2026-01-01T00:00", ["2028-02-29T00:00", "2032-02-29T00:00"]],
    [
      "months by name, lists and ranges",
      "cron(0 0 1 JAN,MAR-APR ? *)",
      "2026-01-01T00:00",
      ["2026-03-01T00:00", "2026-04-01T00:00", "2027-01-01T00:00"],
    ],
    ["one year", "cron(0 0 1 6 ? 2027)", "2026-01-01T00:00", ["2027-06-01T00:00"]],
    ["a year that is over", "cron(0 0 1 6 ? 2025)", "2026-01-01T00:00", []],
  ];
  it.each(cases)("%s: %s", (_, expression, after, expected) => {
    expect(fires(expression, `${after}:00`, Math.max(1, expected.length))).toEqual(expected);
  });

  it.each([
    ["cron(0 3 * * *)", /6 fields/],
    ["cron(0 3 * * * *)", /exactly one/],
    ["cron(0 3 ? * ? *)", /exactly one/],
    ["cron(60 3 * * ? *)", /minutes holds '60'/],
    ["cron(0 3 * 13 ? *)", /month holds '13'/],
    ["cron(0 3 ? * MON#6 *)", /1–5/],
    ["cron(0/0 3 * * ? *)", /minutes/],
    ["cron(0 3 ? * 8 *)", /day-of-week holds '8'/],
    ["cron(0 3 32W * ? *)", /day-of-month holds '32'/],
    ["rate(0 minutes)", /rate/],
    ["rate(5 weeks)", /rate/],
    ["at(2026-02-30T00:00:00)", /at\(/],
    ["every day", /none of/],
  ])("refuses %s", (expression, message) => {
    expect(() => parseExpression(expression)).toThrow(message);
  });
});

describe("time zones", () => {
  // Berlin 2026: forward on 29 March at 02:00, back on 25 October at 03:00.
  const berlin = { timeZone: "Europe/Berlin" };
  it("follow the clock", () => {
    expect(fires("cron(0 9 * * ? *)", "2026-03-28T00:00:00", 2, berlin)).toEqual([
      "2026-03-28T08:00",
      "2026-03-29T07:00",
    ]);
  });
  it("skip a time that the clock leaps over", () => {
    expect(fires("cron(30 2 * * ? *)", "2026-03-28T00:00:00", 2, berlin)).toEqual([
      "2026-03-28T01:30",
      "2026-03-30T00:30",
    ]);
  });
  it("fire once for a time that the clock shows twice", () => {
    expect(fires("cron(30 2 * * ? *)", "2026-10-24T12:00:00", 2, berlin)).toEqual([
      "2026-10-25T00:30",
      "2026-10-26T01:30",
    ]);
  });
  it("count the days where the schedule lives: Tokyo's Monday begins on UTC's Sunday", () => {
    expect(fires("cron(0 1 ? * MON *)", "2026-01-01T00:00:00", 1, { timeZone: "Asia/Tokyo" })).toEqual([
      "2026-01-04T16:00",
    ]);
  });
  it("apply to at(…)", () => {
    expect(fires("at(2026-07-01T12:00:00)", "2026-01-01T00:00:00", 2, { timeZone: "America/New_York" })).toEqual([
      "2026-07-01T16:00",
    ]);
  });
  it("are known by name only", () => {
    expect([isTimeZone("Europe/Berlin"), isTimeZone("Mars/Olympus")]).toEqual([true, false]);
  });
  it("convert there and back", () => {
    const wall = toWallTime(utc("2026-10-25T01:30:00"), "Europe/Berlin");
    expect(wall).toEqual({ year: 2026, month: 10, day: 25, hour: 2, minute: 30, second: 0 });
    expect(fromWallTime(wall, "Europe/Berlin")).toBe(utc("2026-10-25T00:30:00"));
    expect(fromWallTime({ ...wall, month: 3, day: 29 }, "Europe/Berlin")).toBeUndefined();
  });
});

describe("rates and bounds", () => {
  it("count from their base", () => {
    expect(fires("rate(5 minutes)", "2026-01-01T00:00:00", 2)).toEqual(["2026-01-01T00:05", "2026-01-01T00:10"]);
    expect(fires("rate(1 hour)", "2026-01-01T05:30:00", 1)).toEqual(["2026-01-01T06:00"]);
    expect(fires("rate(1 day)", "2025-12-31T00:00:00", 1, { atBase: true })).toEqual(["2026-01-01T00:00"]);
  });
  it("keep between start and end, both included", () => {
    const window = { start: utc("2026-01-01T00:10:00"), end: utc("2026-01-01T00:20:00") };
    expect(fires("rate(5 minutes)", "2026-01-01T00:00:00", 9, window)).toEqual([
      "2026-01-01T00:10",
      "2026-01-01T00:15",
      "2026-01-01T00:20",
    ]);
    expect(fires("cron(*/10 * * * ? *)", "2026-01-01T00:00:00", 9, window)).toEqual([
      "2026-01-01T00:10",
      "2026-01-01T00:20",
    ]);
  });
});
