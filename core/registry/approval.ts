import { isoTime } from "../clock";
import type { Clock } from "../ports";
import type { TaskTokens } from "../training/ports";
import type { RunRepository } from "../training/run-repository";
import type { Actor } from "./change";
import type { ModelVersion } from "./model";
import type { Registry } from "./registry";
import { decideApproval } from "./transitions";

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
  dependencies: Pick<ApprovalDependencies, "runs" | "tokens">,
  version: ModelVersion,
): Promise<void> {
  if (version.awaitedBy !== undefined) await answerRun(dependencies, version.awaitedBy, version);
}

/** Tells it to one run: an identical one may wait for the same version, and only the latest is known to it. */
export async function answerRun(
  { runs, tokens }: Pick<ApprovalDependencies, "runs" | "tokens">,
  runId: string,
  { approval }: ModelVersion,
): Promise<void> {
  if (!approval) return;
  const { decision, by, reason } = approval;
  const cause = reason === "" ? `rejected by ${by}` : `rejected by ${by}: ${reason}`;
  const waiting = await runs.findTaskTokens(runId, "AwaitApproval");
  await Promise.all(
    waiting.map((token) =>
      decision === "approved" ? tokens.succeed(token, { runId }) : tokens.fail(token, "ApprovalRejected", cause),
    ),
  );
}
