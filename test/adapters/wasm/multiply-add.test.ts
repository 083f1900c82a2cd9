import { f32x4, local } from "../../../adapters/wasm/instructions";
import { createMemory, instantiate } from "../../../adapters/wasm/module";
import { multiplyAdd } from "../../../adapters/wasm/multiply-add";

const lanes = [0, 1, 2].map((index) => f32x4.splat(local.get(index))) as [number[], number[], number[]];
const memory = { initial: 0, maximum: 0, shared: false };
const compile = () =>
  instantiate(
    [
      {
        name: "run",
        params: ["f32", "f32", "f32"],
        result: "f32",
        body: [f32x4.extractLane(f32x4.relaxedMultiplyAdd(...lanes), 2)],
      },
    ],
    memory,
    createMemory(memory),
  )["run"]!;

it("multiplyAdd is how this process rounds", () => {
  if (multiplyAdd() === "fused") {
    expect(compile()(3, 2 ** -24 + 1, -3)).toBe(0); // 1 + 2⁻²⁴ is not a float32.
    expect(compile()(1 + 2 ** -23, 1 - 2 ** -23, -1)).toBe(-(2 ** -46));
    return;
  }
  let run: ReturnType<typeof compile> | undefined;
  try {
    run = compile();
  } catch {
    return; // The engine does not have the instruction.
  }
  expect(run(1 + 2 ** -23, 1 - 2 ** -23, -1)).toBe(0);
});
