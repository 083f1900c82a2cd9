import { ByteReader, FormatError } from "../../../../local/storage/leveldb/byte-reader";

const varint = (...bytes: readonly number[]) => new ByteReader(Buffer.from(bytes)).varint();

describe("a varint", () => {
  it.each([
    [[0x00], 0],
    [[0x7f], 127],
    [[0x80, 0x01], 128],
    [[0xac, 0x02], 300],
  ])("of the bytes %j is %i", (bytes, value) => {
    expect(varint(...bytes)).toBe(value);
  });

  it("is refused in a longer form: one flipped bit turns 5 before a zero into it", () => {
    expect(() => varint(0x85, 0x00)).toThrow(FormatError);
  });

  it("is refused past the end of the bytes", () => {
    expect(() => varint(0x80)).toThrow(FormatError);
  });
});
