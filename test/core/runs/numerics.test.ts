import { numericsDifferences, numericsIdentity } from "../../../core/runs/numerics";
import type { NumericsRecord } from "../../../core/runs/shapes";

const wasm: NumericsRecord = {
  backend: "wasm",
  device: "cpu",
  libraries: { "tfjs-core": "4.22.0" },
  threads: { intraOp: 1, interOp: 1 },
  cpu: { model: "A", features: ["avx2"] },
  switches: { simd: "on" },
  node: "v20.20.2",
  platform: "linux",
  arch: "x64",
};
const native: NumericsRecord = { ...wasm, backend: "native", threads: { intraOp: 2, interOp: 1 } };
const otherCpu = { cpu: { model: "B", features: ["avx2", "avx512f"] } };
const reordered = { cpu: { model: "B", features: ["avx512f", "avx2"] } };

describe("numericsDifferences", () => {
  it.each<[string, NumericsRecord, NumericsRecord, string[]]>([
    ["equal records", wasm, { ...wasm }, []],
    ["another CPU, WebAssembly", wasm, { ...wasm, ...otherCpu }, []],
    ["another CPU, native", native, { ...native, ...otherCpu }, ["cpu.features"]],
    ["features in another order", { ...native, ...otherCpu }, { ...native, ...reordered }, []],
    ["other threads", native, { ...native, threads: { intraOp: 4, interOp: 1 } }, ["threads.intraOp"]],
    ["another library", wasm, { ...wasm, libraries: { "tfjs-core": "4.23.0" } }, ["libraries.tfjs-core"]],
    ["a minor version of Node", wasm, { ...wasm, node: "v20.21.0" }, []],
    ["a major version of Node", wasm, { ...wasm, node: "v22.1.0" }, ["node.major"]],
    ["a GPU", native, { ...native, gpu: { model: "H100", driver: "550" } }, ["gpu.driver", "gpu.model"]],
    ["another switch", wasm, { ...wasm, switches: { simd: "off" } }, ["switches.simd"]],
  ])("%s", (_, left, right, fields) => {
    expect(numericsDifferences(left, right).map((difference) => difference.field)).toEqual(fields);
  });

  it("says both sides", () => {
    expect(numericsDifferences(wasm, { ...wasm, arch: "arm64" })).toEqual([
      { field: "arch", left: "x64", right: "arm64" },
    ]);
  });

  it("names its fields in a fixed order", () => {
    const fields = Object.keys(numericsIdentity(native));
    expect(fields).toEqual([...fields].sort());
  });
});
