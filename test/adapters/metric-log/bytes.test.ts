import fc from "fast-check";
import { ByteReader, ByteWriter } from "../../../adapters/metric-log/bytes";

const written = (write: (out: ByteWriter) => void): Buffer => {
  const out = new ByteWriter(1);
  write(out);
  return out.bytes();
};

describe("packed numbers", () => {
  it("are seven bits a byte", () => {
    expect([...written((out) => out.count(127))]).toEqual([127]);
    expect([...written((out) => out.count(300))]).toEqual([0b1010_1100, 0b10]);
  });

  it.each([
    ["equal ones once", [5, 5, 5, 5], [0, 10]],
    ["whole ones as differences", [100, 101, 99], [1, 0b1100_1000, 1, 2, 3]],
  ])("%s", (_what, column, bytes) => {
    expect([...written((out) => out.column(column))]).toEqual(bytes);
  });

  const integer = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.constantFrom(2 ** 51, -(2 ** 51), 2 ** 53 - 1));
  it("come back as they were, whatever they are", () => {
    const column = fc.oneof(fc.array(integer), fc.array(fc.double()), fc.array(fc.constant(-0)));
    fc.assert(
      fc.property(
        column,
        fc.array(fc.double()),
        fc.string({ unit: "binary" }),
        fc.maxSafeInteger(),
        (c, f, text, n) => {
          const count = Math.abs(n);
          const bytes = written((out) => {
            out.column(c);
            out.floats(f);
            out.text(text);
            out.count(count);
          });
          const from = new ByteReader(bytes);
          expect(from.column(c.length)).toEqual(c);
          expect(from.floats(f.length)).toEqual(f);
          expect(from.text()).toBe(text);
          expect(from.count()).toBe(count);
          expect(from.done).toBe(true);
        },
      ),
    );
  });

  it("that end too early are an error", () => {
    expect(() => new ByteReader(Buffer.of(128)).count()).toThrow(RangeError);
    expect(() => new ByteReader(Buffer.of(1, 2)).float()).toThrow("outside buffer bounds");
  });
});
