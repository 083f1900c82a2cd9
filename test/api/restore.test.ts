import { Readable } from "node:stream";
import { sha256 } from "../../core/digest";
import { objectKeys } from "../../core/object-keys";
import type { Run } from "../../core/runs/shapes";
import { type CheckpointManifest, checkpointFormat } from "../../core/training/checkpoint/manifest";
import { callApp, useTestApp } from "../support/app";
import { jobInput, registerTestDataset, resultOf } from "../support/fixtures";

/** The checkpoints of all runs share the tensors of one. */
const tensorOf = (tensor: string): string => objectKeys.tensors("run-first", 0, sha256(tensor));

const manifestOf = (runId: string, epoch: number, finishedSteps: number, loss?: number): CheckpointManifest => ({
  format: checkpointFormat,
  runId,
  finishedSteps,
  epoch,
  identity: { seed: 0, microBatches: 8, batchSize: 128, layout: "l", optimizer: "adam", gradientFormat: "float32" },
  numerics: resultOf(runId).numerics,
  weightsSha256: `${finishedSteps}`.padStart(64, "0"),
  ...(loss === undefined ? {} : { validation: { loss } }),
  tensors: [
    { buffer: "weights", key: tensorOf("weights"), sha256: sha256("weights"), bytes: 7 },
    { buffer: "optimizer/m", key: tensorOf("slots"), sha256: sha256("slots"), bytes: 7 },
  ],
  epochScore: "",
  createdAt: "2026-01-01T00:00:00.000Z",
});

describe("restoring a checkpoint over the API", () => {
  const { platform, calls, app } = useTestApp();
  let source: Run;
  const put = (manifest: CheckpointManifest) =>
    platform.objects.put(
      objectKeys.checkpointManifest(manifest.runId, manifest.finishedSteps),
      JSON.stringify(manifest),
    );
  const putTensor = (key: string, tensor: string) =>
    platform.objects.putContentStream(
      () => Readable.from([Buffer.from(tensor)]),
      undefined,
      async () => ({ key, stored: false }),
    );
  beforeAll(async () => {
    await registerTestDataset(platform);
    source = (await call("POST", "/training-runs", { job: jobInput({ dataset: "digits@latest" }) })).body.run;
    for (const tensor of ["weights", "slots"]) await putTensor(tensorOf(tensor), tensor);
    await put(manifestOf(source.runId, 2, 20, 0.5));
    await put(manifestOf(source.runId, 2, 25));
    await put(manifestOf(source.runId, 3, 30, 0.4));
    await platform.objects.put(objectKeys.checkpointManifest(source.runId, 35), "{ torn");
  });

  const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    callApp(app, method, path, body, headers);
  const restore = (epoch: number | string, body?: unknown, key?: string) =>
    call(
      "POST",
      `/training-runs/${source.runId}/checkpoints/${epoch}/restore`,
      body,
      key === undefined ? {} : { "idempotency-key": key },
    );

  it("lists those that can be read, and those that cannot", async () => {
    const { body } = await call("GET", `/training-runs/${source.runId}/checkpoints`);
    expect(body.checkpoints).toEqual([
      expect.objectContaining({ epoch: 2, finishedSteps: 20, validation: { loss: 0.5 }, bytes: 14 }),
      expect.objectContaining({ epoch: 2, finishedSteps: 25 }),
      expect.objectContaining({ epoch: 3, finishedSteps: 30, weightsSha256: "30".padStart(64, "0") }),
    ]);
    const key = objectKeys.checkpointManifest(source.runId, 35);
    expect(body.damaged).toEqual([{ finishedSteps: 35, key, error: expect.stringContaining(key) }]);
    expect(await call("GET", "/training-runs/run-none/checkpoints")).toMatchObject({ status: 404 });
  });

  it("makes a new run of the same job that has the epoch's own checkpoint, and leaves the old one alone", async () => {
    const { status, body } = await restore(2);
    expect(status).toBe(201);
    const { run } = body as { run: Run };
    expect(run.runId).not.toBe(source.runId);
    expect(run).toMatchObject({
      status: "queued",
      dataset: source.dataset,
      restoredFrom: { runId: source.runId, epoch: 2, step: 20, weightsSha256: "20".padStart(64, "0") },
    });
    expect(run.job).toEqual({ ...source.job, dataset: "digits@1" });
    expect(run.allowOtherNumerics).toBeUndefined();
    expect(calls.started).toContain(run.runId);
    expect((await call("GET", `/training-runs/${run.runId}`)).body.run).toEqual(run);
    expect(await platform.objects.list(objectKeys.checkpointPrefix(run.runId))).toEqual([
      objectKeys.checkpointManifest(run.runId, 20),
    ]);
    const copied = JSON.parse(
      Buffer.from(await platform.objects.get(objectKeys.checkpointManifest(run.runId, 20))).toString(),
    );
    expect(copied).toEqual({ ...manifestOf(source.runId, 2, 20, 0.5), runId: run.runId });
    expect((await call("GET", `/training-runs/${source.runId}`)).body.run).toEqual(source);
  });

  it("takes more epochs, other workers, and records that other numerics are allowed", async () => {
    const overrides = { hyperparameters: { epochs: 40 }, resources: { workers: 3 } };
    const { body } = await restore(3, { overrides, allowOtherNumerics: true });
    expect(body.run).toMatchObject({
      allowOtherNumerics: true,
      job: { hyperparameters: { epochs: 40, batchSize: 128 }, resources: { workers: 3, microBatches: 8 } },
    });
  });

  it("the same request under the same key is the same run, also once the checkpoint has expired", async () => {
    const first = await restore(3, {}, "restore-1");
    await platform.objects.delete(objectKeys.checkpointManifest(source.runId, 30));
    expect((await restore(3, {}, "restore-1")).body.run.runId).toBe(first.body.run.runId);
    expect(await restore(2, {}, "restore-1")).toMatchObject({
      status: 409,
      body: { error: { code: "IDEMPOTENCY_CONFLICT" } },
    });
    await put(manifestOf(source.runId, 3, 30, 0.4));
  });

  it.each([
    ["an epoch of which none is kept", 1, {}, 404, "CHECKPOINT_NOT_FOUND", "checkpoints of epochs 2, 3"],
    ["what is no epoch", "last", {}, 400, "INVALID_INPUT", "epoch"],
    ["fewer epochs than are finished", 3, { overrides: { hyperparameters: { epochs: 3 } } }, 400, "INVALID_INPUT", ""],
    ["another batch size", 3, { overrides: { hyperparameters: { batchSize: 64 } } }, 400, "INVALID_INPUT", ""],
    ["more workers than micro-batches", 3, { overrides: { resources: { workers: 9 } } }, 400, "INVALID_INPUT", ""],
  ])("refuses %s and creates nothing", async (_name, epoch, body, status, code, message) => {
    const before = (await call("GET", "/training-runs?limit=200")).body.runs.length;
    const answer = await restore(epoch, body);
    expect(answer).toMatchObject({ status, body: { error: { code, message: expect.stringContaining(message) } } });
    expect((await call("GET", "/training-runs?limit=200")).body.runs.length).toBe(before);
  });

  it.each([
    ["whose manifest is damaged", 4, () => objectKeys.checkpointManifest(source.runId, 35)],
    ["of which a tensor is missing", 5, () => tensorOf("never stored")],
  ])("refuses a checkpoint %s, names it, and creates nothing", async (_name, epoch, object) => {
    const key = tensorOf("never stored");
    const tensors = [{ buffer: "weights", key, sha256: sha256("never stored"), bytes: 12 }];
    await put(manifestOf(source.runId, 4, 40));
    await put({ ...manifestOf(source.runId, 5, 50), tensors });
    const before = (await call("GET", "/training-runs?limit=200")).body.runs.length;
    const { status, body } = await restore(epoch);
    expect([status, body.error.code]).toEqual([500, "CORRUPT_OBJECT"]);
    expect(body.error.message).toContain(`the checkpoint of run ${source.runId} at step`);
    expect(body.error.message).toContain(object());
    expect((await call("GET", "/training-runs?limit=200")).body.runs.length).toBe(before);
  });

  it("knows no checkpoint of a run that there is not", async () => {
    const answer = await call("POST", "/training-runs/run-none/checkpoints/1/restore");
    expect(answer).toMatchObject({ status: 404, body: { error: { code: "RUN_NOT_FOUND" } } });
  });

  // The last test: the checked list of runs has the earlier record, which is no valid job now.
});
