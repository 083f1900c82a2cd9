import { storedValue } from "../../../core/feature-store/values";

describe("a stored value", () => {
  it("takes a time without an offset as UTC, whatever the time zone of the machine", () => {
    const zone = process.env["TZ"];
    process.env["TZ"] = "America/New_York";
    try {
      expect(storedValue("2026-01-01T10:00:00", "timestamp")).toBe(Date.UTC(2026, 0, 1, 10));
      expect(storedValue("2026-01-01T10:00:00+02:00", "timestamp")).toBe(Date.UTC(2026, 0, 1, 8));
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });

  it.each([
    ["int", 1.5],
    ["int", "1"],
    ["float", "1"],
    ["bool", 1],
    ["string", 1],
    ["timestamp", "5"],
    ["timestamp", 5],
  ] as const)("is not of type %s: %p", (type, value) => expect(storedValue(value, type)).toBeUndefined());
});
