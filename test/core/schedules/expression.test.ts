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
    ["every day at 3", "0 3 * * ? *", "2026-01-01T03:00", ["2026-01-02T03:00", "2026-01-03T03:00"]],
    ["every 10 minutes", "0/10 * * * ? *", "2026-01-01T23:45", ["2026-01-01T23:50", "2026-01-02T00:00"]],
    ["steps from a star", "*/25 8 * * ? *", "2026-01-01T08:25", ["2026-01-01T08:50", "2026-01-02T08:00"]],
    ["weekdays at 18", "0 18 ? * MON-FRI *", "2026-01-02T18:00", ["2026-01-05T18:00"]],
    ["weekdays by number: 1 is Sunday", "0 0 ? * 1,7 *", "2026-01-01", ["2026-01-03", "2026-01-04", "2026-01-10"]],
    ["a range that wraps with a step", "0 0 ? * FRI-MON/3 *", "2026-01-01", ["2026-01-02", "2026-01-04"]],
    ["a range around the weekend", "0 0 ? * SAT-SUN *", "2026-01-01", ["2026-01-03", "2026-01-04"]],
    ["first of the month", "0 8 1 * ? *", "2026-01-15", ["2026-02-01T08:00", "2026-03-01T08:00"]],
    ["last day of the month", "0 0 L * ? *", "2026-01-15", ["2026-01-31", "2026-02-28"]],
    ["last Friday of the month", "0 0 ? * 6L *", "2026-01-01", ["2026-01-30", "2026-02-27"]],
    ["last Friday by name", "0 0 ? * FRIL *", "2026-01-01", ["2026-01-30"]],
    ["second Tuesday", "0 0 ? * 3#2 *", "2026-01-01", ["2026-01-13", "2026-02-10"]],
    ["fifth Thursday, which few months have", "0 0 ? * THU#5 *", "2026-01-01", ["2026-01-29", "2026-04-30"]],
    ["weekday nearest to the 15th, a Sunday in March", "0 0 15W * ? *", "2026-03-01", ["2026-03-16", "2026-04-15"]],
    ["weekday nearest to the 1st, in the same month", "0 0 1W 8 ? *", "2026-01-01", ["2026-08-03"]],
    ["last weekday: 31 January is a Saturday", "0 0 LW * ? *", "2026-01-01", ["2026-01-30"]],
    ["the 31st skips short months", "0 0 31 * ? *", "2026-02-01", ["2026-03-31", "2026-05-31"]],
    ["29 February", "0 0 29 2 ? *", "2026-01-01", ["2028-02-29", "2032-02-29"]],
    ["names, lists and ranges", "0 0 1 JAN,MAR-APR ? *", "2026-01-01", ["2026-03-01", "2026-04-01", "2027-01-01"]],
    ["one year", "0 0 1 6 ? 2027", "2026-01-01", ["2027-06-01"]],
    ["a year that is over", "0 0 1 6 ? 2025", "2026-01-01", []],
  ];
  const minute = (text: string) => text.padEnd(16, "T00:00");
  it.each(cases)("%s: %s", (_, expression, after, expected) => {
    const found = fires(`cron(${expression})`, `${minute(after)}:00`, Math.max(1, expected.length));
    expect(found).toEqual(expected.map(minute));
  });

  it.each([
    ["cron(0 3 * * *)", /6 fields/],
    ["cron(0 3 * * * *)", /exactly one/],
    ["cron(0 3 ? * ? *)", /exactly one/],
    ["cron(60 3 * * ? *)", /minute: minutes are 0–59/],
    ["cron(0 3 * 13 ? *)", /months 1–12/],
    ["cron(0 3 ? * MON#6 *)", /1-5/],
    ["cron(0/0 3 * * ? *)", /0-59\/0|stepping|step/],
    ["cron(0 3 ? * 8 *)", /day-of-week holds '8'/],
    ["cron(0 3 32W * ? *)", /days 1–31/],
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
  const tokyo = { timeZone: "Asia/Tokyo" };
  const newYork = { timeZone: "America/New_York" };
  it.each([
    ["follow the clock", "cron(0 9 * * ? *)", "2026-03-28", berlin, ["2026-03-28T08:00", "2026-03-29T07:00"]],
    ["skip what is leapt over", "cron(30 2 * * ? *)", "2026-03-28", berlin, ["2026-03-28T01:30", "2026-03-30T00:30"]],
    ["fire once, not twice", "cron(30 2 * * ? *)", "2026-10-25", berlin, ["2026-10-25T00:30", "2026-10-26T01:30"]],
    // Its Monday begins on UTC's Sunday.
    ["count Tokyo's days", "cron(0 1 ? * MON *)", "2026-01-01", tokyo, ["2026-01-04T16:00"]],
    ["apply to at(…)", "at(2026-07-01T12:00:00)", "2026-01-01", newYork, ["2026-07-01T16:00"]],
  ])("%s", (_name, expression, after, zone, expected) => {
    expect(fires(expression, `${after}T00:00:00`, expected.length, zone)).toEqual(expected);
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
