import type { Platform } from "../../../adapters/platform";
import type { ModelArtifact } from "../../../core/evaluation/model-artifact";
import { storeArtifact } from "../../../core/registry/artifact";
import { answeredCheck, pendingCheck, verdictPassed } from "../../../core/registry/gates/external-check";
import { setAlias } from "../../../core/registry/labels";
import { setPolicy } from "../../../core/registry/lifecycle";
import { setTraffic } from "../../../core/registry/serving/decide";
import { decideApproval, promote, recordGate, setStage } from "../../../core/registry/transitions";
import { policyRulesSchema } from "../../../core/runs/gate-rules";
import { verdictOn } from "../../support/registry";
import type { Thing } from "./knowledge";

const at = "2026-01-01T00:00:00.000Z";
const by = { by: "test", at };
const review = { name: "review", kind: "command", command: ["./review.sh"], timeoutSeconds: 60 } as const;
const hook = { name: "hook", kind: "http", url: "https://checks.example/", timeoutSeconds: 5 } as const;
const rules = policyRulesSchema.parse({ checks: [hook, review] });

const column = { name: "pixels", type: "tensor", role: "feature", shape: [28, 28, 1] } as const;
const outputSchema = { kind: "probabilities", classes: [0, 1] } as const;
const content = { sha256: "c".repeat(64), bytes: 1_048_576 };
const artifact: Omit<ModelArtifact, "runId" | "weightsSha256"> = {
  ...{ format: 1, model: "digits", weights: content, topology: content },
  transform: {
    outputs: [{ kind: "numeric", column: "pixels", offset: 0, width: 784, source: 0, mean: 33.3, deviation: 78.6 }],
    ...{ width: 784, shape: [28, 28, 1] },
  },
  label: { kind: "class", column: "label", classes: outputSchema.classes },
  ...{ inputSchema: [column], outputSchema },
  numerics: {
    ...{ backend: "native", device: "cpu", libraries: { "tfjs-core": "4.22.0" } },
    ...{ threads: { intraOp: 1, interOp: 1 }, cpu: { model: "x", features: [] }, switches: {} },
    ...{ node: "v22.0.0", platform: "linux", arch: "x64" },
  },
};

export async function furnishModel(platform: Platform, model: string): Promise<readonly Thing[]> {
  const { registry, team } = platform;
  const evaluationReport = await platform.objects.putContent(
    JSON.stringify({
      ...{ dataset: { name: "digits", version: 1, digest: "d".repeat(64) }, split: "test", task: "regression" },
      ...{ rows: 1, label: "y", metrics: {}, slices: [], predictions: { sha256: "e".repeat(64), bytes: 1 } },
    }),
  );
  for (const version of [1, 2, 3, 4, 5]) {
    const runId = `run-of-${model}-${version}`;
    const weightsSha256 = "a".repeat(64);
    const artifactKey = await storeArtifact(platform.objects, {
      ...artifact,
      ...{ runId, weightsSha256 },
    });
    await registry.register(
      team,
      {
        model,
        runId,
        weightsSha256,
        artifactKey,
        dataset: { name: "digits", version: 1, digest: "d".repeat(64) },
        metrics: { accuracy: 0.99 },
        evaluationReport,
      },
      by,
    );
    if (version === 1) {
      const approvals = { required: 1, approvers: [], notTheSubmitter: false };
      await registry.apply(model, [], setPolicy(rules, approvals, by));
    }
    await judge(platform, model, version);
    if (version <= 2) {
      await registry.apply(model, [version], decideApproval(version, "approved", by));
      await registry.apply(model, [version], promote(version, by));
    }
  }
  await registry.apply(model, [4], setStage(4, "canary", by));
  const canaries = [{ version: 4, weight: 0.2 }];
  const test = { metric: "clicks", kind: "binary", goal: "increase", margin: 0, alpha: 0.05, effect: 0.02 } as const;
  const requested = { canaries, shadows: [5], test: { ...test, minUnits: 100, act: "advise" as const } };
  const head = await registry.apply(model, [4, 5], setTraffic(requested, by));
  await registry.apply(model, [3], setAlias("blue", 3, by));
  const common = { model, canary: 4, check: "review", outcomeEpoch: head.traffic!.epoch };
  return [{ ...common, version: 4 }, ...[1, 2, 3, 5].map((version) => ({ ...common, version }))];
}

async function judge({ registry }: Platform, model: string, version: number): Promise<void> {
  const pending = pendingCheck(review, "nobody has run it");
  const line = version < 5 ? answeredCheck(pending, { passed: true, evidence: "", by: "test", at }) : pending;
  const verdict = { ...verdictOn(await registry.head(model), true), checks: [line], passed: verdictPassed([line]) };
  await registry.apply(model, [version], recordGate(version, verdict, by));
}
