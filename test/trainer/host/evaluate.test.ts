import type { EvaluationTools } from "../../../core/evaluation/task";
import { objectKeys } from "../../../core/object-keys";
import type { Phase } from "../../../core/runs/run-states";
import type { RunDetails, StepRecord } from "../../../core/runs/shapes";
import { type EvaluateRunDependencies, evaluateHereOrInJob } from "../../../core/training/evaluate-run";
import { createEngine } from "../../../trainer-container/engine/create-engine";
import { BackendUnavailableError } from "../../../trainer-container/engine/errors";
import { type EvaluatorDependencies, evaluateRun } from "../../../trainer-container/host/evaluate";
import { operationsPerRow } from "../../../trainer-container/tfjs/operations";
import { loadPredictor } from "../../../trainer-container/tfjs/predictor";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { registered } from "../../support/exportable";
import { preparedFeatures, resultOf, runOf } from "../../support/fixtures";
import { oneColumn, storeOneColumn } from "../../support/one-column";

const clock = { now: () => Date.parse("2026-01-01T00:00:00.000Z") };
const logger = { log: () => undefined } as unknown as EvaluatorDependencies["logger"];
const rows = 300;

/** A run whose model is trained, and the function's and the job's way to evaluate it. */
async function trained() {
  const objects = createMemoryObjectStore();
  const label = { kind: "class", column: "y", classes: ["no", "yes", "maybe"] } as const;
  const at = Array.from({ length: rows }, (_, i) => i);
  const features = await storeOneColumn(objects, { xs: at.map(Math.sin), labels: at.map((i) => i % 3), label });
  const featureManifestKey = objectKeys.featureManifest(features.inputHash);
  await objects.put(featureManifestKey, JSON.stringify(features));
  const { artifactKey } = await registered(objects, [], { transform: oneColumn, label }, { hidden: [4] });
  const { weights, topology, weightsSha256 } = JSON.parse(
    Buffer.from(await objects.getContent(artifactKey!.split("/").at(-1)!)).toString(),
  );
  const record = (step: Phase, output: unknown): StepRecord => ({
    ...{ step, inputHash: "", output, startedAt: "", finishedAt: "" },
  });
  const steps = [
    record("PrepareFeatures", { ...preparedFeatures.output, featureManifestKey }),
    record("LaunchTraining", { ...resultOf("run-1"), weights, topology, weightsSha256 }),
  ];
  const run = runOf("run-1", { status: "running", phase: "Evaluate" });
  const details = { run, steps, attempts: [] as RunDetails["attempts"] } as unknown as RunDetails;
  const tools: EvaluationTools = {
    objects,
    loadModel: loadPredictor,
    withRows: () => Promise.reject(new Error("there is no champion")),
    engine: { backend: "wasm", device: "cpu", ran: "function" },
  };
  const recorded: StepRecord[] = [];
  const inFunction = (maxOperations: number) =>
    evaluateHereOrInJob(
      {
        ...tools,
        datasets: {},
        clock,
        maxOperations,
        operationsPerRow,
        runs: {
          findDetails: async () => details,
          enterPhase: async () => true,
          recordStep: async (_runId: string, step: StepRecord) => void recorded.push(step),
        },
        cache: { find: async () => undefined, keep: async (_step: Phase, _hash: string, output: unknown) => output },
      } as unknown as EvaluateRunDependencies,
      details,
      undefined,
    );
  const inJob = (inputHash: string, more: Partial<EvaluatorDependencies> = {}) =>
    evaluateRun({
      ...{ runId: "run-1", inputHash, jobId: "job-1", store: objects, clock, logger, createEngine },
      machine: Promise.resolve(undefined),
      ...more,
    });
  return { objects, inFunction, inJob, recorded };
}

describe("an evaluation", () => {
  it("is the function's up to the limit, and then a job's, with the same report and predictions", async () => {
    const { objects, inFunction, inJob, recorded } = await trained();
    const small = await inFunction(rows * 200_000);
    expect(small).toMatchObject({ output: { engine: { ran: "function" } } });
    const large = await inFunction(rows);
    if (!("job" in large)) throw new Error("a job was expected");
    expect(await inFunction(rows)).toEqual(large);
    expect(recorded).toHaveLength(1);

    expect([await inJob(large.job), await inJob(large.job)]).toEqual([0, 0]);
    const done = await inFunction(rows);
    if ("job" in done || "job" in small) throw new Error("an output was expected");
    const { report, metrics, engine, latency } = done.output;
    expect({ report, metrics }).toEqual({ report: small.output.report, metrics: small.output.metrics });
    expect(engine).toEqual({ backend: "wasm", device: "cpu", ran: "job" });
    expect(latency?.predictions).toBeGreaterThanOrEqual(100);
    expect(recorded.map(({ step }) => step)).toEqual(["Evaluate", "Evaluate"]);
    // A job has no right to write content; the function has taken its files in.
    const { predictions } = JSON.parse(Buffer.from(await objects.getContent(report.sha256)).toString());
    expect(await objects.hasContent(predictions, "by-checksum")).toBe(true);
  });

  it.each<[string, Partial<EvaluatorDependencies>, number, object | undefined]>([
    [
      "records why it cannot continue",
      { createEngine: () => Promise.reject(new BackendUnavailableError("no GPU")) },
      1,
      { code: "BACKEND_UNAVAILABLE", message: "no GPU" },
    ],
    [
      "asks to be started again if a service is not available",
      { createEngine: () => Promise.reject(Object.assign(new Error("reset"), { code: "ECONNRESET" })) },
      75,
      undefined,
    ],
  ])("by a job %s", async (_what, more, code, failure) => {
    const { objects, inFunction, inJob } = await trained();
    const { job } = (await inFunction(rows)) as { job: string };
    expect(await inJob(job, more)).toBe(code);
    const stored = await objects.find(objectKeys.evaluationFailure("run-1", job, "job-1"));
    if (failure) expect(JSON.parse(Buffer.from(stored!).toString())).toMatchObject(failure);
    else expect(stored).toBeUndefined();
  });
});
