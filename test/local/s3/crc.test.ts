import { crc32 } from "node:zlib";
import fc from "fast-check";
import { combineChecksums, newHasher } from "../../../local/s3/checksums";
import { Crc, combineCrc, crc32Parameters, crc64NvmeParameters } from "../../../local/s3/crc";

const digest = (parameters: typeof crc32Parameters, ...chunks: readonly Uint8Array[]) => {
  const crc = new Crc(parameters);
  for (const chunk of chunks) crc.update(chunk);
  return crc.digest();
};

describe("CRC", () => {
  // The check values of "123456789" from the catalogue of parametrised CRC algorithms (Cook).
  it.each([
    ["CRC-32/ISO-HDLC", crc32Parameters, "cbf43926"],
    ["CRC-64/NVME", crc64NvmeParameters, "ae8b14860a799888"],
  ])("%s gives its check value", (_name, parameters, check) => {
    expect(digest(parameters, Buffer.from("123456789")).toString("hex")).toBe(check);
  });

  it("agrees with zlib for any split of the bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 6 }), (chunks) => {
        const expected = crc32(Buffer.concat(chunks)).toString(16).padStart(8, "0");
        expect(digest(crc32Parameters, ...chunks).toString("hex")).toBe(expected);
        const native = newHasher("CRC32");
        for (const chunk of chunks) native.update(chunk);
        expect(native.digest().toString("hex")).toBe(expected);
      }),
      { seed: 1 },
    );
  });

  it.each([
    ["CRC32", crc32Parameters],
    ["CRC64NVME", crc64NvmeParameters],
  ])("combines %s of A and B into that of AB", (_name, parameters) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const combined = combineCrc(parameters, digest(parameters, a), digest(parameters, b), b.length);
        expect(combined.toString("hex")).toBe(digest(parameters, a, b).toString("hex"));
      }),
      { seed: 2, numRuns: 40 },
    );
  });
});

it("a composite checksum is the checksum of the parts' checksums", () => {
  const parts = ["aaaaaa==", "bbbbbb=="].map((value) => ({ value, size: 1 }));
  const joined = Buffer.concat(parts.map(({ value }) => Buffer.from(value, "base64")));
  const expected = Buffer.alloc(4);
  expected.writeUInt32BE(crc32(joined));
  expect(combineChecksums("CRC32", "COMPOSITE", parts).value).toBe(`${expected.toString("base64")}-2`);
});
