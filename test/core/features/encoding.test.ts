import { decodeFeatureShard, encodeFeatureShard, shardLayout } from "../../../core/features/encoding";
import { CorruptShardError } from "../../../core/features/errors";
import type { FeatureTransform, LabelEncoding } from "../../../core/features/shapes";

/** distance | carrier one-hot of three | hour, so that numerics lie on both sides of a one-hot. */
const transform: FeatureTransform = {
  outputs: [
    { kind: "numeric", column: "distance", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 },
    { kind: "one-hot", column: "carrier", offset: 1, width: 3, source: 0, vocabulary: ["AA", "DL", "UA"] },
    { kind: "numeric", column: "pixels", offset: 4, width: 2, source: 1, mean: 0, deviation: 1 },
  ],
  width: 6,
  shape: [6],
};
const label: LabelEncoding = { kind: "class", column: "late", classes: [false, true] };
const rows = {
  rows: 3,
  numeric: Float32Array.from([0.5, 10, 11, -1, 20, 21, 2, 30, 31]),
  codes: Int32Array.from([2, -1, 0]),
  label: Int32Array.from([1, 0, 1]),
  slices: Int32Array.from([0, 5, 1, 6, 2, 7]),
};

describe("feature shard", () => {
  const bytes = encodeFeatureShard(rows, shardLayout(transform));

  it("unfolds a row over whatever stood in the buffer", () => {
    const view = decodeFeatureShard(bytes, { transform, label });
    const into = new Float32Array(14).fill(9);
    view.writeRow(0, into, 1);
    view.writeRow(1, into, 7);
    expect([...into]).toEqual([9, 0.5, 0, 0, 1, 10, 11, -1, 0, 0, 0, 20, 21, 9]);
  });

  it("gives labels and slices of a row", () => {
    const view = decodeFeatureShard(bytes, { transform, label });
    expect([0, 1, 2].map((row) => view.labelAt(row))).toEqual([1, 0, 1]);
    expect([0, 1, 2].map((row) => [view.sliceAt(row, 0), view.sliceAt(row, 1)])).toEqual([
      [0, 5],
      [1, 6],
      [2, 7],
    ]);
  });

  it("is safetensors, with the same bytes every time", () => {
    const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
    expect(length % 8).toBe(0);
    expect(JSON.parse(Buffer.from(bytes.subarray(8, 8 + length)).toString())).toEqual({
      codes: { dtype: "I32", shape: [3, 1], data_offsets: [0, 12] },
      label: { dtype: "I32", shape: [3], data_offsets: [12, 24] },
      numeric: { dtype: "F32", shape: [3, 3], data_offsets: [24, 60] },
      slices: { dtype: "I32", shape: [3, 2], data_offsets: [60, 84] },
    });
    expect(encodeFeatureShard(rows, shardLayout(transform))).toEqual(bytes);
  });

  it("does without numerics, and with a real-valued label", () => {
    const codesOnly: FeatureTransform = {
      outputs: [{ kind: "one-hot", column: "a", offset: 0, width: 2, source: 0, vocabulary: [0, 1] }],
      width: 2,
      shape: [2],
    };
    const shard = encodeFeatureShard(
      {
        rows: 2,
        numeric: new Float32Array(0),
        codes: Int32Array.from([1, 0]),
        label: Float32Array.from([1.5, -2]),
        slices: new Int32Array(0),
      },
      shardLayout(codesOnly),
    );
    const view = decodeFeatureShard(shard, { transform: codesOnly, label: { kind: "value", column: "price" } });
    const into = new Float32Array(2);
    view.writeRow(1, into, 0);
    expect([...into, view.labelAt(1)]).toEqual([1, 0, -2]);
  });

  it.each([
    ["cut off", bytes.subarray(0, bytes.length - 4), transform, label],
    ["empty", new Uint8Array(0), transform, label],
    ["of another label type", bytes, transform, { kind: "value", column: "late" } as const],
    ["of another width", bytes, { ...transform, outputs: transform.outputs.slice(0, 2) }, label],
  ])("refuses a shard %s", (_case, damaged, as, labelAs) => {
    expect(() => decodeFeatureShard(damaged, { transform: as, label: labelAs })).toThrow(CorruptShardError);
  });
});
