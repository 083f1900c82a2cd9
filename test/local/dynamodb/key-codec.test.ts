import fc from "fast-check";
import { decodeScalar, encodePrefix, encodeScalar, successor } from "../../../local/dynamodb/store/key-codec";
import { compareStrings } from "../../../local/dynamodb/value/compare";
import { compareNumbers, normalizeNumber } from "../../../local/dynamodb/value/number";

const sign = Math.sign;

describe("encoded keys", () => {
  const decimal = fc
    .tuple(fc.boolean(), fc.stringMatching(/^[0-9]{1,38}$/), fc.integer({ min: -130, max: 80 }))
    .map(([minus, digits, exponent]) => `${minus ? "-" : ""}${digits}e${exponent}`)
    .filter((text) => {
      try {
        return normalizeNumber(text) !== "";
      } catch {
        return false;
      }
    })
    .map(normalizeNumber);

  it("can be read back", () => {
    const value = fc.oneof(
      fc.record({ N: decimal }),
      fc.record({ S: fc.string({ unit: fc.constantFrom("a", "\0", "\u0001", "ä", "\u{1f600}") }) }),
      fc.record({ B: fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64")) }),
    );
    fc.assert(
      fc.property(value, fc.uint8Array(), (one, more) => {
        const encoded = encodeScalar(one);
        const type = Object.keys(one)[0] as "S" | "N" | "B";
        const read = decodeScalar(Buffer.concat([encoded, more]), type);
        expect(read).toEqual({ value: one, length: encoded.length });
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  it("order numbers", () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const order = Buffer.compare(encodeScalar({ N: a }), encodeScalar({ N: b }));
        expect(order).toBe(sign(compareNumbers(a, b)));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });

  const text = fc.string({ unit: "binary", maxLength: 6 });

  it("order strings by their UTF-8 bytes, and none is a prefix of another", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [x, y] = [encodeScalar({ S: a }), encodeScalar({ S: b })];
        expect(sign(Buffer.compare(x, y))).toBe(sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
        expect(sign(compareStrings(a, b))).toBe(sign(Buffer.compare(Buffer.from(a), Buffer.from(b))));
        if (a !== b) expect(x.subarray(0, y.length).equals(y)).toBe(false);
      }),
      { seed: 2, numRuns: 2_000 },
    );
  });

  it("start with the encoding of their prefix", () => {
    const bytes = fc.uint8Array({ maxLength: 5 });
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        const value = Buffer.from(a);
        const prefix = Buffer.from(b);
        const start = encodePrefix({ B: prefix.toString("base64") });
        const encoded = encodeScalar({ B: value.toString("base64") });
        expect(encoded.subarray(0, start.length).equals(start)).toBe(value.subarray(0, prefix.length).equals(prefix));
      }),
      { seed: 3, numRuns: 2_000 },
    );
  });

  it("sort before the successor of their prefix", () => {
    expect(successor(Buffer.from([1, 2]))).toEqual(Buffer.from([1, 3]));
    expect(successor(Buffer.from([1, 255, 255]))).toEqual(Buffer.from([2]));
  });
});
