import fc from "fast-check";
import { addNumbers, compareNumbers, normalizeNumber, subtractNumbers } from "../../../local/dynamodb/value/number";

describe("numbers", () => {
  it.each([
    ["1", "2", "3"],
    ["0.1", "0.2", "0.3"],
    ["-5", "5", "0"],
    ["1e37", "1", `1${"0".repeat(36)}1`],
    ["99999999999999999999999999999999999999", "-1", "99999999999999999999999999999999999998"],
    ["1e-130", "1e-130", `0.${"0".repeat(129)}2`],
  ])("%s + %s = %s", (a, b, sum) => {
    expect(addNumbers(normalizeNumber(a), normalizeNumber(b))).toBe(sum);
  });

  it.each([
    ["1e38", "1", /38 significant digits/],
    ["9.99e125", "9.99e125", /overflow/],
    ["1e100", "1e-100", /38 significant digits/],
  ])("%s + %s is refused", (a, b, message) => {
    expect(() => addNumbers(normalizeNumber(a), normalizeNumber(b))).toThrow(message);
  });

  it.each(["", ".", "-", "1e", "e1", "1.2.3", " 1", "1 ", "0x1", "NaN", "Infinity", "1,5", "١"])(
    "%j is no number",
    (text) => {
      expect(() => normalizeNumber(text)).toThrow(/cannot be converted to a numeric value/);
    },
  );

  it("agrees with the arithmetic of whole numbers", () => {
    const safe = fc.maxSafeInteger();
    fc.assert(
      fc.property(safe, safe, (a, b) => {
        expect(addNumbers(String(a), String(b))).toBe(String(BigInt(a) + BigInt(b)));
        expect(subtractNumbers(String(a), String(b))).toBe(String(BigInt(a) - BigInt(b)));
        expect(Math.sign(compareNumbers(String(a), String(b)))).toBe(Math.sign(a - b));
      }),
      { seed: 1 },
    );
  });

  it("does not change a canonical form", () => {
    const digits = fc.stringMatching(/^[0-9]{1,20}$/);
    fc.assert(
      fc.property(digits, digits, fc.integer({ min: -90, max: 80 }), fc.boolean(), (whole, part, exponent, minus) => {
        const canonical = normalizeNumber(`${minus ? "-" : ""}${whole}.${part.slice(0, 18)}e${exponent}`);
        expect(normalizeNumber(canonical)).toBe(canonical);
        expect(canonical).toMatch(/^(0|-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?)$/);
      }),
      { seed: 2 },
    );
  });
});
