import fc from "fast-check";
import { decodeSafetensors, encodeSafetensors, SafetensorsError, type SafetensorsFile } from "../../core/safetensors";

function file(header: unknown, data: readonly number[] = []): Uint8Array {
  const json = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, Buffer.from(data)]);
}

const one: SafetensorsFile = {
  tensors: { b: { dtype: "F32", shape: [2], data: new Float32Array([1, -2]) } },
  metadata: { step: "3", epoch: "1" },
};

describe("encodeSafetensors", () => {
  it("writes length, padded header and data (by hand)", () => {
    const bytes = Buffer.from(encodeSafetensors(one));
    const json =
      '{"__metadata__":{"epoch":"1","step":"3"},"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'.padEnd(96);
    expect(Number(bytes.readBigUInt64LE(0))).toBe(96);
    expect(bytes.subarray(8, 104).toString()).toBe(json);
    expect([...bytes.subarray(104)]).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0]);
  });

  it("gives equal bytes whatever the order of insertion", () => {
    const a = { dtype: "U8", shape: [1], data: new Uint8Array([7]) } as const;
    const b = { dtype: "F64", shape: [], data: new Float64Array([1.5]) } as const;
    const forward = encodeSafetensors({ tensors: { a, b }, metadata: { x: "1", y: "2" } });
    expect(encodeSafetensors({ tensors: { b, a }, metadata: { y: "2", x: "1" } })).toEqual(forward);
    const header = JSON.parse(Buffer.from(forward.subarray(8)).toString().split("\n")[0]?.slice(0, -9) ?? "");
    expect(header.b.data_offsets).toEqual([0, 8]); // the wider type first, so that it is aligned
    expect(header.a.data_offsets).toEqual([8, 9]);
  });

  it.each<[string, SafetensorsFile["tensors"], RegExp]>([
    ["too little data", { w: { dtype: "F32", shape: [3], data: new Float32Array(2) } }, /'w'.*3 elements.*has 2/],
    ["another type", { w: { dtype: "F64", shape: [2], data: new Float32Array(2) } }, /'w'.*F64.*4 bytes/],
    ["a reserved name", { __metadata__: { dtype: "U8", shape: [0], data: new Uint8Array(0) } }, /cannot be named/],
  ])("refuses %s", (_, tensors, message) => {
    expect(() => encodeSafetensors({ tensors })).toThrow(message);
  });
});

describe("decodeSafetensors", () => {
  it("returns what was written, for every type", () => {
    const tensors: SafetensorsFile["tensors"] = {
      f32: { dtype: "F32", shape: [2, 1], data: new Float32Array([0.1, Number.NaN]) },
      f64: { dtype: "F64", shape: [1], data: new Float64Array([Math.PI]) },
      i32: { dtype: "I32", shape: [1], data: new Int32Array([-5]) },
      i64: { dtype: "I64", shape: [1], data: new BigInt64Array([-(2n ** 62n)]) },
      u32: { dtype: "U32", shape: [1], data: new Uint32Array([2 ** 32 - 1]) },
      u8: { dtype: "U8", shape: [3], data: new Uint8Array([1, 2, 3]) },
      none: { dtype: "F32", shape: [0, 4], data: new Float32Array(0) },
    };
    expect(decodeSafetensors(encodeSafetensors({ tensors }))).toEqual({ tensors });
  });

  it("returns what was written, at any alignment of the buffer", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z/]{1,9}$/), fc.array(fc.float(), { maxLength: 9 })),
        fc.integer({ min: 0, max: 7 }),
        (arrays, shift) => {
          const tensors = Object.fromEntries(
            Object.entries(arrays).map(([name, values]) => {
              const data = new Float32Array(values);
              return [name, { dtype: "F32" as const, shape: [data.length], data }];
            }),
          );
          const bytes = encodeSafetensors({ tensors });
          const moved = new Uint8Array(bytes.length + shift);
          moved.set(bytes, shift);
          expect(decodeSafetensors(moved.subarray(shift))).toEqual({ tensors });
        },
      ),
    );
  });

  const f32 = (shape: unknown, offsets: unknown): unknown => ({ dtype: "F32", shape, data_offsets: offsets });

  it.each<[string, Uint8Array, RegExp]>([
    ["an empty file", new Uint8Array(3), /3 bytes, but at least 8/],
    ["a cut header", file({}).subarray(0, 9), /header says 2 bytes, but only 1 follow/],
    ["a length past any file", new Uint8Array(16).fill(255), /18446744073709551615/],
    ["a header that is not JSON", file("{oops"), /not JSON/],
    ["a header that is not UTF-8", file({}).fill(0xff, 8), /not JSON/],
    ["a list for a header", file([]), /not an object/],
    ["an unknown type", file({ w: { dtype: "F8", shape: [], data_offsets: [0, 1] } }, [0]), /'w' has dtype "F8"/],
    ["an inherited name for a type", file({ w: { dtype: "toString" } }), /dtype "toString"/],
    ["a negative size", file({ w: f32([-1], [0, 4]) }, [0, 0, 0, 0]), /'w' has shape \[-1\]/],
    ["offsets of the wrong form", file({ w: f32([1], [0]) }, [0, 0, 0, 0]), /'w' has data_offsets \[0\]/],
    ["truncated data", file({ w: f32([1], [0, 4]) }, [0, 0]), /lies at \[0, 4\), but the data has 2 bytes/],
    ["a shape that does not fit", file({ w: f32([2], [0, 4]) }, [0, 0, 0, 0]), /needs 8 bytes.*has 4/],
    ["a gap", file({ w: f32([1], [4, 8]) }, [0, 0, 0, 0, 0, 0, 0, 0]), /begins at 4.*ends at 0/],
    ["an overlap", file({ v: f32([1], [0, 4]), w: f32([1], [0, 4]) }, [0, 0, 0, 0]), /'w' begins at 0.*ends at 4/],
    ["bytes left over", file({ w: f32([1], [0, 4]) }, [0, 0, 0, 0, 0]), /end at 4, but the data has 5/],
    ["metadata of numbers", file({ __metadata__: { a: 1 } }), /not a map of strings/],
    ["a tensor that is null", file({ w: null }), /'w' has dtype undefined/],
  ])("refuses %s", (_, bytes, message) => {
    expect(() => decodeSafetensors(bytes)).toThrow(SafetensorsError);
    expect(() => decodeSafetensors(bytes)).toThrow(message);
  });
});
