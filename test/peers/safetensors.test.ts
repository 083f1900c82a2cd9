import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { stateBuffers } from "../../trainer-container/checkpoint/state";
import { contentOf, fileOf, readLive, stateFiles, storeState } from "../../trainer-container/checkpoint/state-files";
import type { ParameterSlot } from "../../trainer-container/engine/engine";
import type { Replica } from "../../trainer-container/loop/replica";
import { createMemoryObjectStore } from "../adapters/s3/memory-object-store";
import { temporaryFolder } from "../support/temporary-folder";

const python = process.env["RINGMASTER_PEERS_PYTHON"] || "python3";
const found = spawnSync(python, ["-c", "import safetensors.numpy"]).status === 0;

/** Names of which JavaScript's order and the layout's differ, a scalar, an empty tensor, more than one group. */
const layout: readonly ParameterSlot[] = [
  { name: "layer-10/kernel", shape: [1024, 1025], offset: 0, size: 1024 * 1025, trainable: true },
  { name: "layer-2/kernel", shape: [3, 2], offset: 1024 * 1025, size: 6, trainable: true },
  { name: "größe", shape: [], offset: 1024 * 1025 + 6, size: 1, trainable: true },
  { name: "none", shape: [0, 4], offset: 1024 * 1025 + 7, size: 0, trainable: true },
  { name: "norm/mean", shape: [5], offset: 1024 * 1025 + 7, size: 5, trainable: false },
];
const elements = 1024 * 1025 + 12;

/** Reads each file and prints names, types, shapes, first and last value and the sum of squares. */
const script = `
import json, sys
import numpy as np
from safetensors.numpy import load_file
out = {}
for file in sys.argv[1:]:
    for name, values in load_file(file).items():
        flat = values.astype(np.float64).ravel()
        ends = [float(flat[0]), float(flat[-1])] if flat.size else []
        out.setdefault(file, {})[name] = [str(values.dtype), list(values.shape), ends, float((flat ** 2).sum())]
print(json.dumps(out))
`;

const title = found
  ? "Python's safetensors"
  : `Python's safetensors (skipped: ${python} cannot import safetensors.numpy)`;
(found ? describe : describe.skip)(title, () => {
  const directory = temporaryFolder("safetensors-peer");

  it("reads a checkpoint's groups and weights.safetensors, with equal values", async () => {
    const fill = (length: number, factor: number) => Float32Array.from({ length }, (_, i) => Math.sin(i) * factor);
    const replica = {
      weights: fill(elements, 1),
      slots: { m: fill(elements - 5, 1e-3), v: fill(elements - 5, 1e-20) },
    } as unknown as Replica;
    const buffers = stateBuffers(replica, layout);
    const store = createMemoryObjectStore();
    const read = readLive(buffers.map(({ values }) => values));
    const places = { runId: "run-1", step: 1, earlier: {} };
    const { tensors } = await storeState(store, stateFiles(buffers, layout), read, places);
    expect(tensors.map(({ buffer }) => buffer)).toEqual(
      ["weights", "optimizer/m", "optimizer/v"].flatMap((buffer) => [buffer, buffer]),
    );

    const files = tensors.map(({ key }, i) => {
      const file = path.join(directory, `group-${i}.safetensors`);
      writeFileSync(file, store.objects.get(key!)!);
      return file;
    });
    const whole = path.join(directory, "weights.safetensors");
    const chunks: Buffer[] = [];
    for await (const chunk of contentOf(fileOf("weights", layout), readLive([replica.weights]))) {
      chunks.push(Buffer.from(chunk));
    }
    writeFileSync(whole, Buffer.concat(chunks));

    const { status, stdout, stderr } = spawnSync(python, ["-c", script, ...files, whole], { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    const seen = JSON.parse(stdout) as Record<string, Record<string, readonly [string, number[], number[], number]>>;
    const expectSame = (got: (typeof seen)[string], values: Float32Array, slots: readonly ParameterSlot[]) => {
      expect(Object.keys(got).sort()).toEqual(slots.map(({ name }) => name).sort());
      for (const { name, shape, offset, size } of slots) {
        const own = values.subarray(offset, offset + size);
        const [dtype, gotShape, ends, squares] = got[name]!;
        expect([dtype, gotShape, ends]).toEqual(["float32", shape, size === 0 ? [] : [own[0], own[size - 1]]]);
        const expected = own.reduce((sum, value) => sum + value * value, 0);
        expect(Math.abs(squares - expected)).toBeLessThanOrEqual(expected * 1e-9);
      }
    };
    expectSame(seen[whole]!, replica.weights, layout);
    const trainable = layout.filter((slot) => slot.trainable);
    buffers.forEach(({ name, values }, i) => {
      const merged = { ...seen[files[2 * i]!], ...seen[files[2 * i + 1]!] };
      expectSame(merged, values, name === "weights" ? layout : trainable);
    });
  });
});
