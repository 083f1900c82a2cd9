import { createCheckHooks } from "../../adapters/http/check-hooks";
import type { createApp } from "../../api/app";
import { type EvaluationResult, evaluationResult } from "../../core/evaluation/task";
import type { DocumentKind } from "../../core/object-documents";
import { objectKeys } from "../../core/object-keys";
import { isoTime } from "../../core/ports";
import type { HttpCheck } from "../../core/registry/gates/external-check";
import {
  type TrainingFailure,
  type TrainingPause,
  trainingFailure,
  trainingPause,
  trainingResult,
} from "../../core/runs/training-task";
import { type CheckpointManifest, checkpointFormat, checkpointManifest } from "../../core/training/checkpoint/manifest";
import { closeRunByConclusion } from "../../core/training/conclusion";
import { beginEvaluation } from "../../core/training/evaluation-job";
import { launchAttempt, nextAttempt } from "../../core/training/launch";
import { reconcileAll } from "../../core/training/reconcile";
import { callApp, startTestApp } from "../support/app";
import type { Calls, Embedded, TestPlatform } from "../support/embedded";
import { resultOf, runOf, storeResult } from "../support/fixtures";
import { malformed } from "../support/malformed";
import { startServer } from "../support/web-server";

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
const checkpoint: CheckpointManifest = {
  ...{ format: checkpointFormat, runId: "run-x", finishedSteps: 5, epoch: 1, weightsSha256: sha, createdAt: at },
  identity: { seed: 0, microshards: 8, batchSize: 128, layout: "l", optimizer: "adam", gradientFormat: "float32" },
  numerics: resultOf("run-x").numerics,
  tensors: [{ buffer: "weights", key: objectKeys.tensors("run-x", 5, sha), sha256: sha, bytes: 8 }],
  epochScore: "",
  validation: { loss: 0.5 },
};

const documents: Readonly<Record<string, Written>> = {
  results: { kind: trainingResult, valid: result, key: objectKeys.trainingResult, amount: 80 },
  pauses: { kind: trainingPause, valid: pause, key: (runId) => objectKeys.trainingPause(runId, 0), amount: 20 },
  failures: {
    ...{ kind: trainingFailure, valid: failure, amount: 30, ended: true },
    key: (runId) => objectKeys.trainingFailure(runId, `job-${runId}-1`),
  },
  evaluations: {
    ...{ kind: evaluationResult, valid: evaluation, amount: 30 },
    key: (runId) => objectKeys.evaluationResult(runId, "h1"),
  },
};

describe("what user code stores and answers", () => {
  let embedded: Embedded;
  let platform: TestPlatform;
  let calls: Calls;
  let app: ReturnType<typeof createApp>;
  const runIds: string[] = [];
  beforeAll(async () => {
    ({ embedded, platform, calls, app } = await startTestApp());
  });
  afterAll(() => embedded.stop());
  const call = (method: string, path: string, body?: unknown) => callApp(app, method, path, body);

  /** Creates a run whose job is at work. */
  async function launched(name: string, evaluates: boolean): Promise<string> {
    const runId = `run-${name}`;
    await platform.runs.create(runOf(runId));
    await platform.runs.recordStep(runId, {
      ...{ step: "PrepareFeatures", inputHash: "h", startedAt: at, finishedAt: at },
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
    const [{ experimentId }] = (await call("GET", "/experiments")).body.experiments;
    const answers = [
      await call("GET", "/training-runs?limit=200"),
      await call("POST", "/runs/search", { limit: 1_000 }),
      await call("GET", `/experiments/${experimentId}/runs?limit=200`),
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
      for (const [i, text] of texts.entries()) {
        const runId = await launched(`${name}-${i}`, name === "evaluations");
        await platform.objects.put(key(runId), Buffer.from(text));
        bad.set(runId, text);
      }
      if (good) await storeResult(platform.objects, good);
      calls.job = ended
        ? { status: "failed", hostLoss: false, reason: "exited" }
        : { status: "running", hostLoss: false };
      expect(await sweep()).toEqual([]);
      for (const [runId, text] of bad) {
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
      }
      if (good) expect(calls.succeeded.map(({ token }) => token)).toContain(`token-${good}`);
      await expectLists();
    },
    60_000,
  );

  it("checkpoints that are malformed are listed as damaged", async () => {
    const runId = await launched("checkpoints", false);
    const texts = malformed(checkpointManifest.schema, checkpoint, 20, 47);
    for (const [step, text] of texts.entries())
      await platform.objects.put(objectKeys.checkpointManifest(runId, step), Buffer.from(text));
    const { status, body } = await call("GET", `/training-runs/${runId}/checkpoints`);
    expect([status, body.checkpoints, body.damaged.length]).toEqual([200, [], 20]);
    await expectLists();
  });

  it("answers of a hook that are malformed leave its check without an answer, with the reason", async () => {
    const texts = ["", "{", "null", "[]", "7", '"yes"', '{"passed":"yes"}', '{"passed":1}', '{"passed":null}', "{}"];
    texts.push('{"passed":true,"evidence":7}', `{"passed":true,"evidence":"${"x".repeat(5_000)}"}`, "[".repeat(50_000));
    let text = "";
    const server = await startServer((_request, response) => response.end(text));
    const clock = platform.clock;
    const hooks = createCheckHooks({ clock, pause: async () => {}, targets: { allowLoopback: true, ownPorts: [] } });
    const url = `http://127.0.0.1:${server.port}/`;
    const check: HttpCheck = { name: "safety", kind: "http", url, timeoutSeconds: 5 };
    try {
      for (text of texts) {
        const request = { type: "ringmaster.check", check: "safety", team: "default", model: "m", version: 1 } as const;
        const outcome = await hooks.call(check, "id", Buffer.alloc(32), { ...request, metrics: {}, artifacts: [] });
        expect([text.slice(0, 100), outcome]).toEqual([
          text.slice(0, 100),
          { unanswered: expect.stringMatching(/hook/) },
        ]);
      }
    } finally {
      await server.close();
    }
  });
});
