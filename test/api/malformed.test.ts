import { eachLimited } from "../../core/each-limited";
import type { EvaluationOutput } from "../../core/evaluation/shapes";
import { type EvaluationResult, evaluationResult } from "../../core/evaluation/task";
import { featureManifest } from "../../core/features/shapes";
import { CorruptObjectError, type DocumentKind } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { isoTime } from "../../core/ports";
import {
  type TrainingFailure,
  type TrainingPause,
  trainingFailure,
  trainingPause,
  trainingResult,
} from "../../core/runs/training-task";
import { encodeSafetensors, type SafetensorsTensor } from "../../core/safetensors";
import { closeRunByConclusion } from "../../core/training/conclusion";
import { evaluateHereOrInJob } from "../../core/training/evaluate-run";
import { beginEvaluation } from "../../core/training/evaluation-job";
import { launchAttempt, nextAttempt } from "../../core/training/launch";
import { reconcileAll } from "../../core/training/reconcile";
import { trainingOutputOf } from "../../core/training/training-step";
import { callApp, useTestApp } from "../support/app";
import { createEvaluatedRun, stepTimes } from "../support/evaluated-run";
import { resultOf, runOf, storeResult } from "../support/fixtures";
import { malformed } from "../support/malformed";
import { rounds } from "../support/rounds";

const at = "2026-01-01T00:00:00.000Z";
const sha = "a".repeat(64);

/** A document of a run that its module, or the job of its evaluation, writes. */
interface Written {
  readonly kind: DocumentKind<unknown>;
  readonly valid: object;
  readonly key: (runId: string) => string;
  readonly amount: number;
  /** Whether its job has ended. */
  readonly ended?: boolean;
}

const pause: TrainingPause = {
  ...{ runId: "run-x", segment: 0, epoch: 1, finishedSteps: 5, weightsSha256: sha, pausedAt: at },
};
const failure: TrainingFailure = {
  ...{ runId: "run-x", code: "USER_CODE", message: "it threw", step: 3, retryable: true, failedAt: at },
};
const earlyStopping = { metric: "validation/loss", bestEpoch: 1, value: 0.5, stopped: true };
const result = { ...resultOf("run-x"), warnings: [{ code: "SLOW", message: "slow" }], earlyStopping };
const evaluation: EvaluationResult = {
  runId: "run-x",
  output: {
    report: { sha256: sha, bytes: 2 },
    metrics: { accuracy: 0.9 },
    task: "balanced",
    decision: { positive: "yes", threshold: 0.5 },
    comparison: { kind: "incompatible", champion: 1, reasons: ["other columns"] },
    engine: { backend: "wasm", device: "cpu", ran: "job" },
  },
  files: [{ sha256: sha, bytes: 2 }],
  machine: { memberId: "m", instanceType: "c7i.large" },
};

const numericColumn = { kind: "numeric", column: "x", offset: 0, width: 1, source: 0, mean: 0, deviation: 1 } as const;
const plan = { name: "plan", entities: ["id"], ttl: "7d", steps: [{ kind: "number", column: "x", name: "x_number" }] };
const features = {
  ...{
    inputHash: "f00",
    dataset: { name: "digits", version: 1, digest: sha },
    slices: [{ column: "s", values: ["a"] }],
  },
  transform: {
    ...{ outputs: [numericColumn], width: 1, shape: [1] },
    plan: {
      format: 1,
      view: plan,
      columns: [{ name: "x", type: "float" }],
      rows: 5,
      fitted: { x_number: { fill: 1 } },
    },
  },
  label: { kind: "class", column: "y", classes: ["n", "y"] },
  splits: {
    train: { rows: 0, shards: [] },
    validation: { rows: 0, shards: [] },
    test: { rows: 1, shards: [{ sha256: sha, bytes: 8, rows: 1 }] },
  },
};

const tensor = (dtype: "I32" | "F32", shape: readonly number[], values: readonly number[]): SafetensorsTensor => ({
  ...{ dtype, shape, data: dtype === "I32" ? Int32Array.from(values) : Float32Array.from(values) },
});
const label = tensor("I32", [2], [0, 1]);
const probabilities = tensor("F32", [2], [0.1, 0.9]);
/** Predictions of two rows and two classes are `label` and `probabilities`. */
const malformedPredictions: readonly (string | Uint8Array)[] = [
  ...["-", "{}", "\u0000".repeat(8), "\u00ff".repeat(32)],
  ...[
    {},
    { label },
    { probabilities },
    { label: tensor("F32", [2], [0, 1]), probabilities },
    { label: tensor("I32", [2], [0, 2]), probabilities },
    { label: tensor("I32", [3], [0, 1, 1]), probabilities },
    { label, probabilities: tensor("F32", [2, 1], [0.1, 0.9]) },
    { label: tensor("F32", [2], [0, 1]), predicted: tensor("F32", [2], [0, 1]) },
  ].map((tensors) => encodeSafetensors({ tensors: tensors as Readonly<Record<string, SafetensorsTensor>> })),
];

const documents: Readonly<Record<string, Written>> = {
  results: { kind: trainingResult, valid: result, key: objectKeys.trainingResult, amount: rounds(10, 65) },
  pauses: {
    kind: trainingPause,
    valid: pause,
    key: (runId) => objectKeys.trainingPause(runId, 0),
    amount: rounds(5, 15),
  },
  failures: {
    ...{ kind: trainingFailure, valid: failure, amount: rounds(6, 25), ended: true },
    key: (runId) => objectKeys.trainingFailure(runId, `job-${runId}-1`),
  },
  evaluations: {
    ...{ kind: evaluationResult, valid: evaluation, amount: rounds(6, 25) },
    key: (runId) => objectKeys.evaluationResult(runId, "h1"),
  },
};

describe("what user code stores and answers", () => {
  const { platform, calls, app } = useTestApp();
  const runIds: string[] = [];
  const call = (method: string, path: string, body?: unknown) => callApp(app, method, path, body);

  /** Creates a run whose job is at work. */
  async function launched(name: string, evaluates: boolean): Promise<string> {
    const runId = `run-${name}`;
    await platform.runs.create(runOf(runId));
    await platform.runs.recordStep(runId, {
      ...{ step: "PrepareFeatures", inputHash: "h", ...stepTimes },
      output: { featureManifestKey: "k", digest: "d", width: 1, rows: { train: 1, validation: 1, test: 1 } },
    });
    const phase = evaluates ? "Evaluate" : "LaunchTraining";
    await platform.runs.enterPhase(runId, phase, isoTime(platform.clock));
    if (evaluates) await beginEvaluation(platform, runId, `token-${runId}`, "h1");
    else {
      await platform.runs.putTaskToken(runId, phase, `token-${runId}`);
      const details = (await platform.runs.findDetails(runId))!;
      await launchAttempt(platform, details.run, nextAttempt(details));
    }
    runIds.push(runId);
    return runId;
  }

  /** Does what `reconcile-runs` does in a minute. @returns the runs that it could not reconcile */
  async function sweep(): Promise<readonly string[]> {
    const errors: string[] = [];
    const onError = (runId: string, error: unknown) => void errors.push(`${runId}: ${error}`);
    const options = { clock: platform.clock, meter: platform.meter, until: Number.POSITIVE_INFINITY };
    await reconcileAll(await platform.listOpenRuns(), {
      ...options,
      forTeam: () => platform,
      onDone: () => {},
      onError,
    });
    return errors;
  }

  async function expectLists(): Promise<void> {
    const { experimentId } = (await call("GET", `/runs/${runIds.at(-1)}`)).body.run;
    const answers = [
      await call("GET", "/training-runs?limit=30"),
      await call("POST", "/runs/search", { limit: 50 }),
      await call("GET", `/experiments/${experimentId}/runs?limit=30`),
      await call("POST", "/runs/compare", { runs: runIds.slice(-20) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const path of [
      "/pages/experiments",
      `/pages/experiments/${experimentId}`,
      `/experiments/${experimentId}/export?table=runs&format=csv`,
    ])
      expect((await app.request(`/api/v1${path}`)).status).toBe(200);
  }

  it.each(Object.entries(documents))(
    "%s that are malformed end their runs with the reason, and no other run",
    async (name, { kind, valid, key, amount, ended = false }) => {
      const texts = malformed(kind.schema, valid, amount, 47);
      const good = ended || name === "evaluations" ? undefined : await launched(`good-${name}`, false);
      const bad = new Map<string, string>();
      await eachLimited(texts.entries(), 8, async ([i, text]) => {
        const runId = await launched(`${name}-${i}`, name === "evaluations");
        await platform.objects.put(key(runId), Buffer.from(text));
        bad.set(runId, text);
      });
      if (good) await storeResult(platform.objects, good);
      calls.job = ended
        ? { status: "failed", hostLoss: false, reason: "exited" }
        : { status: "running", hostLoss: false };
      expect(await sweep()).toEqual([]);
      await eachLimited(bad, 8, async ([runId, text]) => {
        const answer = calls.failed.find(({ token }) => token === `token-${runId}`);
        expect([text.slice(0, 200), answer?.error, answer?.cause.length ?? 0]).toEqual([
          text.slice(0, 200),
          "CORRUPT_OBJECT",
          expect.any(Number),
        ]);
        expect(answer?.cause).toContain(key(runId));
        expect(answer?.cause.length).toBeLessThan(3_000);
        await closeRunByConclusion(platform, runId, "failed", { Error: answer!.error, Cause: answer!.cause });
        const { status, failure: reason } = (await platform.runs.find(runId))!;
        expect([status, reason?.code]).toEqual(["failed", "CORRUPT_OBJECT"]);
        expect(ended || calls.terminated.includes(`job-${runId}-1`)).toBe(true);
      });
      if (good) expect(calls.succeeded.map(({ token }) => token)).toContain(`token-${good}`);
      await expectLists();
    },
    60_000,
  );

  it("feature manifests, and the plans in them, end the evaluation with the reason", async () => {
    const texts = malformed(featureManifest.schema, features, rounds(6, 20), 47);
    await eachLimited(texts.entries(), 8, async ([i, text]) => {
      const runId = await launched(`features-${i}`, true);
      const featureManifestKey = objectKeys.featureManifest(`malformed-${i}`);
      await platform.objects.put(featureManifestKey, Buffer.from(text));
      const output = { featureManifestKey, digest: `${i}`, width: 1, rows: { train: 1, validation: 1, test: 1 } };
      await platform.runs.recordStep(runId, { step: "PrepareFeatures", inputHash: "h", ...stepTimes, output });
      await platform.runs.recordStep(runId, {
        ...{ step: "LaunchTraining", inputHash: "h", ...stepTimes, output: trainingOutputOf(resultOf(runId)) },
      });
      const tools = { loadModel: async () => Promise.reject(), withRows: async () => Promise.reject() };
      const limits = { maxOperations: Number.POSITIVE_INFINITY, operationsPerRow: async () => 1 };
      const details = (await platform.runs.findDetails(runId))!;
      const evaluating = evaluateHereOrInJob({ ...platform, ...tools, ...limits }, details, undefined);
      const error = await evaluating.catch((thrown: unknown) => thrown);
      expect([text.slice(0, 200), error]).toEqual([text.slice(0, 200), expect.any(CorruptObjectError)]);
      const { code, message } = error as CorruptObjectError;
      await closeRunByConclusion(platform, runId, "failed", { Error: code, Cause: message });
      expect((await platform.runs.find(runId))!.failure?.message).toContain(featureManifestKey);
    });
    await expectLists();
  });

  it("predictions that are malformed make their run unreadable, and no list", async () => {
    const runId = "run-predictions";
    await createEvaluatedRun(platform, runId, { classes: ["n", "y"], labels: [0, 1], outputs: [0.1, 0.9] });
    runIds.push(runId);
    const evaluated = (await platform.runs.findDetails(runId))!.steps.find(({ step }) => step === "Evaluate")!;
    const output = evaluated.output as EvaluationOutput;
    const report = JSON.parse(Buffer.from(await platform.objects.getContent(output.report.sha256)).toString());
    for (const predictions of malformedPredictions) {
      const content = await platform.objects.putContent(predictions);
      const written = await platform.objects.putContent(JSON.stringify({ ...report, predictions: content }));
      await platform.runs.recordStep(runId, { ...evaluated, output: { ...output, report: written } });
      const page = await (await app.request(`/api/v1/pages/runs/${runId}`)).text();
      expect(page).toContain(`Object ${objectKeys.content(content.sha256)} is corrupt: expected predictions`);
    }
    await expectLists();
  });
});
