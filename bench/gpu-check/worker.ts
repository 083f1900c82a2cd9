/** One process of the check: a training of one worker, wired like the trainer. Only the data are prepared in memory. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createEngine } from "../../trainer-container/engine/create-engine";
import type { Execution } from "../../trainer-container/engine/engine";
import { engineOptionsOf } from "../../trainer-container/host/prepare";
import type { Replica } from "../../trainer-container/loop/replica";
import { trainAlone } from "../support/alone";
import { runChild, say } from "../support/child";
import { benchPlan, benchTask } from "../support/training-plan";
import { memoryFeed } from "../train/memory-feed";
import { batchesInMemory } from "../train/models";
import { definitionOf } from "../train/modules";
import { type CheckReady, type CheckResult, type CheckSetup, type CheckTask, everySteps } from "./protocol";

function bytesOf({ buffers, finishedSteps }: Replica): Buffer {
  const parts = buffers.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  const steps = Buffer.alloc(8);
  steps.writeDoubleLE(finishedSteps);
  return Buffer.concat([steps, ...parts]);
}

function restore(replica: Replica, file: string): void {
  const bytes = readFileSync(file);
  let at = 8;
  for (const { buffer, byteOffset, byteLength } of replica.buffers) {
    bytes.copy(Buffer.from(buffer, byteOffset, byteLength), 0, at);
    at += byteLength;
  }
  replica.finishedSteps = bytes.readDoubleLE();
}

async function main(): Promise<void> {
  const { model: spec, batchSize, microBatches, precision, device, state } = JSON.parse(process.argv[2]!) as CheckSetup;
  let execution: Execution["engine"] = "tape";
  const training = {
    batchSize,
    microBatches,
    precision,
    backend: "native",
    workers: 1,
    clipNorm: 0,
    rows: batchSize * batchesInMemory,
    gpusPerWorker: device === "gpu" ? 1 : 0,
  } as const;
  const engine = await createEngine({
    ...engineOptionsOf(benchTask(training)),
    onExecution: (found) => {
      if (found.pass === "gradients") execution = found.engine;
    },
  });
  const model = await engine.createModel(definitionOf({ model: spec }), 1);
  const { replica, step } = trainAlone(
    model,
    benchPlan(training),
    memoryFeed({ model: spec, batchSize, microBatches }),
  );
  if (state !== undefined && existsSync(state)) {
    restore(replica, state);
    model.writeWeights(replica.weights);
  }
  say({ finishedSteps: replica.finishedSteps, numerics: engine.numerics() } satisfies CheckReady);
  for await (const line of createInterface({ input: process.stdin })) {
    const { steps, digest } = JSON.parse(line) as CheckTask;
    const start = performance.now();
    for (let i = 0; i < steps; i += 1) {
      await step();
      if (state === undefined || replica.finishedSteps % everySteps !== 0) continue;
      writeFileSync(`${state}.new`, bytesOf(replica));
      renameSync(`${state}.new`, state);
    }
    const seconds = (performance.now() - start) / 1_000;
    const hash = digest ? { digest: createHash("sha256").update(bytesOf(replica)).digest("hex") } : {};
    say({ seconds, engine: execution, ...hash } satisfies CheckResult);
  }
}

runChild(main);
