import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { NumericsRecord } from "../../../core/runs/shapes";
import { identityDifferences } from "../../../core/training/checkpoint/manifest";
import { Checkpointer } from "../../../trainer-container/checkpoint/checkpointer";
import { restoreNewest } from "../../../trainer-container/checkpoint/restore";
import { SnapshotSpace } from "../../../trainer-container/checkpoint/snapshot";
import { identityOf } from "../../../trainer-container/checkpoint/state";
import { uploadHere } from "../../../trainer-container/checkpoint/upload-protocol";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { FakeGang } from "../loop/fake-gang";
import { classes, createWorker, digest, features, run, taskOf, type Worker } from "../loop/in-process";
import { linearModel, type OnGradient } from "../loop/linear-model";

const numerics: NumericsRecord = {
  backend: "wasm",
  device: "cpu",
  libraries: {},
  threads: { intraOp: 1, interOp: 1 },
  cpu: { model: "test", features: [] },
  switches: {},
  node: "v20",
  platform: "linux",
  arch: "x64",
};

/** Gradients of the second step overflow float16. */
const spike: OnGradient = (key, gradient) => {
  if (key.includes("step 1 ")) for (let i = 0; i < gradient.length; i++) gradient[i]! *= 1e36;
};

type Field = "gradientFormat" | "precision";

function workerOf(field: Field, format: "float32" | "bfloat16" | "float16"): Worker {
  const task = taskOf({}, { [field]: format });
  return createWorker(new FakeGang(6, ["a"]).member("a"), task, linearModel(features, classes, spike));
}

describe.each<Field>(["gradientFormat", "precision"])("a checkpoint with %s float16", (field) => {
  it("has the loss scale, so that who goes on from it skips and scales alike; another format's is refused", async () => {
    const directory = mkdtempSync(path.join(tmpdir(), "ringmaster-format-"));
    try {
      const trained = workerOf(field, "float16");
      await run(trained);
      const store = createMemoryObjectStore();
      const clock = { now: () => 1_000 };
      const { model, plan } = trained.training;
      const kept = { store, runId: "run-1", layout: model.layout, identity: identityOf(plan, model), numerics };
      const failures: unknown[] = [];
      const checkpointer = new Checkpointer({
        ...kept,
        clock,
        rule: { everySteps: 5, stepsPerEpoch: 4, everySeconds: 600, keep: 3 },
        events: {
          written: () => undefined,
          notKept: () => undefined,
          failed: (error) => failures.push(error),
        },
        now: () => 0,
        space: new SnapshotSpace(directory),
        upload: uploadHere(store),
        sleep: () => new Promise<void>(() => undefined),
      });
      await checkpointer.finish(trained.replica, 3);
      expect(failures).toEqual([]);

      const other = workerOf(field, "float16");
      const unusable = () => {
        throw new Error("the checkpoint cannot be used");
      };
      const restored = await restoreNewest(other.replica, {
        ...kept,
        allowOtherNumerics: false,
        onUnusable: unusable,
      });
      expect(restored?.finishedSteps).toBe(12);
      expect(other.replica.lossScale).toEqual({ scale: 512, goodSteps: 10, skipped: 1 });
      expect(digest(other.replica)).toBe(digest(trained.replica));

      const narrow = workerOf(field, "bfloat16").training;
      const identity = identityOf(narrow.plan, narrow.model);
      const options = { ...kept, identity, allowOtherNumerics: false, onUnusable: unusable };
      await expect(restoreNewest(narrow.replica, options)).rejects.toThrow(
        `${field} is float16 there and bfloat16 here`,
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
});

describe("the identity of a training", () => {
  const identity = (precision: "float32" | "bfloat16") => {
    const { plan, model } = workerOf("precision", precision).training;
    return identityOf(plan, model);
  };

  it("in float32 is that of checkpoints of earlier versions, and differs from one in 16 bits", () => {
    expect(identity("float32")).not.toHaveProperty("precision");
    expect(identityDifferences(identity("float32"), identity("float32"))).toEqual([]);
    expect(identityDifferences(identity("float32"), identity("bfloat16"))).toEqual([
      "precision is float32 there and bfloat16 here",
    ]);
    expect(identityDifferences(identity("bfloat16"), identity("float32"))).toEqual([
      "precision is bfloat16 there and float32 here",
    ]);
  });
});
