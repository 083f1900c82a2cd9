/** Trains the transformer in a process of its own, and reports memory and processor time. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import type { ModelDefinition } from "../../core/runs/model-definition";
import { allocateSum } from "../../trainer-container/collective/sum-memory";
import { createEngine } from "../../trainer-container/engine/create-engine";
import type { Batch } from "../../trainer-container/engine/engine";
import { seededRandom } from "../../trainer-container/engine/seeded-random";
import { runChild, say } from "../support/child";
import { definitionOf } from "../train/modules";
import type { Measured, Setup } from "./protocol";

const learningRate = 1e-3;

/** Returns a field of /proc/self/status in bytes. */
function status(field: "VmRSS" | "VmHWM"): number {
  const [, kibibytes] = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

const resetPeak = (): void => writeFileSync("/proc/self/clear_refs", "5");

function batchOf({ model, rows }: Setup, step: number): Batch {
  const random = seededRandom(`batch ${step}`);
  const [positions = 0] = model.inputShape;
  return {
    rows,
    inputs: Float32Array.from({ length: rows * positions }, () => Math.floor(random() * model.vocabulary)),
    labels: Int32Array.from({ length: rows }, () => Math.floor(random() * model.outputs)),
  };
}

async function main(): Promise<void> {
  const setup = JSON.parse(process.argv[2]!) as Setup;
  const engine = await createEngine({ preferred: "native", threads: 1 });
  const definition = { ...definitionOf({ model: setup.model }), rematerialise: setup.rematerialise };
  const model = await engine.createModel(definition as ModelDefinition, 1);
  const weights = allocateSum(model.parameterCount);
  const gradient = allocateSum(model.parameterCount);
  gradient.fill(0);
  model.readWeights(weights);
  const baseline = status("VmRSS");
  const step = (index: number): number => {
    const cpu = process.cpuUsage();
    model.gradients(batchOf(setup, index), `step ${index}`, gradient);
    const { user, system } = process.cpuUsage(cpu);
    for (let i = 0; i < weights.length; i += 1) weights[i]! -= learningRate * gradient[i]!;
    model.writeWeights(weights);
    return (user + system) / 1_000;
  };
  resetPeak();
  step(0);
  const firstPeak = status("VmHWM") - baseline;
  resetPeak();
  const cpuMs = Array.from({ length: setup.steps }, (_, index) => step(index + 1));
  const peak = status("VmHWM") - baseline;
  const sha256 = createHash("sha256").update(weights).digest("hex");
  say({ baseline, firstPeak, peak, cpuMs, sha256 } satisfies Measured);
}

runChild(main);
