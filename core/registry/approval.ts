import { isoTime } from "../clock";
import type { Clock } from "../ports";
import type { TaskTokens } from "../training/ports";
import type { RunRepository } from "../training/run-repository";
import type { ModelVersion } from "./model";
import type { Registry } from "./registry";
import { type Actor, decideApproval } from "./transitions";

export interface ApprovalDependencies {
  readonly registry: Registry;
  readonly runs: RunRepository;
  readonly tokens: TaskTokens;
  readonly clock: Clock;
}

/** A person's word on a version: recorded first, then told to the run that waits for it. Saying it twice is saying it once. */
export async function approveOrReject(
  dependencies: ApprovalDependencies,
  target: { readonly model: string; readonly version: number },
  decision: "approved" | "rejected",
  actor: Omit<Actor, "at">,
): Promise<ModelVersion> {
  const { registry, clock } = dependencies;
  await registry.version(target.model, target.version);
  await registry.apply(
    target.model,
    [target.version],
    decideApproval(target.version, decision, { ...actor, at: isoTime(clock) }),
  );
  const version = await registry.version(target.model, target.version);
  await answerApproval(dependencies, version);
  return version;
}

/** Tells a version's decision to the run that waits for it; where either comes first, the other finds it. */
export async function answerApproval(
  { runs, tokens }: Pick<ApprovalDependencies, "runs" | "tokens">,
  version: ModelVersion,
): Promise<void> {
  if (!version.approval || version.awaitedBy === undefined) return;
  const token = await runs.findTaskToken(version.awaitedBy, "AwaitApproval");
  if (token === undefined) return;
  const { decision, by, reason } = version.approval;
  if (decision === "approved") await tokens.succeed(token, { runId: version.awaitedBy });
  else
    await tokens.fail(token, "ApprovalRejected", reason === "" ? `rejected by ${by}` : `rejected by ${by}: ${reason}`);
}
