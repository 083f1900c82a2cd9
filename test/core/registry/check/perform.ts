import type { GateVerdict } from "../../../../core/registry/gates/verdict";
import type { Registry } from "../../../../core/registry/registry";
import { decideApproval, promote, recordGate } from "../../../../core/registry/transitions";
import type { Operation } from "./reference";

const at = "2026-01-01T00:00:00.000Z";

const verdict = (passed: boolean): GateVerdict => ({
  passed,
  at,
  checks: [{ gate: "threshold", metric: "accuracy", value: 0.9, limit: 0.9, passed, evidence: "accuracy is 0.9" }],
});

/** Does an operation as the API and the state machine do; doing it again is doing it once. */
export async function perform(registry: Registry, model: string, operation: Operation): Promise<void> {
  const { id, by, kind, version } = operation;
  const actor = { by, reason: id, at };
  switch (kind) {
    case "register":
      await registry.register(
        "default",
        {
          model,
          runId: id,
          weightsSha256: "a".repeat(64),
          artifactKey: `runs/${id}/artifacts/manifest.json`,
          dataset: { name: "digits", version: 1, digest: "d".repeat(64) },
          metrics: { accuracy: 0.9 },
          evaluationReport: { sha256: "e".repeat(64), bytes: 1 },
        },
        actor,
      );
      return;
    case "roll-back":
      await registry.rollBack(model, actor, { request: id });
      return;
    case "pass":
    case "fail":
      await registry.apply(model, [version], recordGate(version, verdict(kind === "pass"), actor), id);
      return;
    case "approve":
    case "reject": {
      const decision = kind === "approve" ? "approved" : "rejected";
      await registry.apply(model, [version], decideApproval(version, decision, actor), id);
      return;
    }
    case "promote":
      await registry.apply(model, [version], promote(version, actor), id);
  }
}
