import { type Clock, isoTime } from "../ports";
import type { TaskTokens } from "../runs/ports";
import type { RunPhases, TaskWait } from "../runs/run-repository";
import { isOpen } from "../runs/run-states";
import { decisionOn } from "./approvals";
import { isVisible } from "./change";
import { GateOutdatedError } from "./errors";
import { outdatedBy } from "./gates/evidence";
import { isPending } from "./gates/external-check";
import type { Actor, Model, ModelVersion } from "./model";
import type { Registry } from "./registry";
import { isUnderTest } from "./serving/traffic";
import { decideApproval } from "./transitions";

export interface ApprovalDependencies {
  readonly registry: Registry;
  readonly runs: Pick<RunPhases, "find" | "findTaskTokens">;
  readonly tokens: Pick<TaskTokens, "succeed" | "fail">;
  readonly clock: Clock;
}

/**
 * Records a person's decision on a version, then answers the run that waits for it. Idempotent.
 *
 * @param request key of the request. A repetition after the approval was withdrawn is no new approval.
 * @throws GateOutdatedError if the verdict is outdated; a run that waits for the approval then evaluates again
 */
export async function approveOrReject(
  dependencies: ApprovalDependencies,
  target: { readonly model: string; readonly version: number },
  decision: "approved" | "rejected",
  actor: Omit<Actor, "at">,
  request?: string,
): Promise<ModelVersion> {
  const { registry, runs, clock } = dependencies;
  const decided = decideApproval(target.version, decision, { ...actor, at: isoTime(clock) });
  try {
    const model = await registry.apply(target.model, [target.version], decided, request);
    const version = await registry.version(target.model, target.version);
    await answerApproval(dependencies, model, version);
    return version;
  } catch (error) {
    if (!(error instanceof GateOutdatedError)) throw error;
    const [model, version] = [await registry.head(target.model), await registry.version(target.model, target.version)];
    const run = version.awaitedBy === undefined ? undefined : await runs.find(version.awaitedBy);
    const waits = hasOpenRequest(version);
    if (!run || !(waits || isOpen(run.status))) throw error;
    await answerApproval(dependencies, model, version);
    throw new GateOutdatedError(version, error.changed, model.production, run.runId, waits);
  }
}

type Answering = Pick<ApprovalDependencies, "runs" | "tokens">;

/**
 * Answers the run that waits for a version, if the decision is known. The run may start to wait before or after the
 * decision; the later of both finds the other.
 */
export async function answerApproval(dependencies: Answering, model: Model, version: ModelVersion): Promise<void> {
  if (version.awaitedBy !== undefined) await answerRun(dependencies, version.awaitedBy, model, version);
}

/** Answers all runs that wait for versions of a model, after a change of its policy or traffic. */
export async function answerWaiting(
  dependencies: Answering & Pick<ApprovalDependencies, "registry">,
  name: string,
): Promise<void> {
  const { model, versions } = await dependencies.registry.details(name);
  for (const version of versions) await answerApproval(dependencies, model, version);
}

/** Makes runs evaluate again if a promotion or rollback has outdated the verdict of their waiting version. */
export async function answerOutdated(
  dependencies: Answering & Pick<ApprovalDependencies, "registry">,
  name: string,
): Promise<void> {
  const { model, versions } = await dependencies.registry.details(name);
  for (const version of versions) {
    const { awaitedBy, stage } = version;
    if (awaitedBy === undefined || !["staging", "canary"].includes(stage) || !isOutdated(model, version)) continue;
    const run = await dependencies.runs.find(awaitedBy);
    if (run && (hasOpenRequest(version) || isOpen(run.status)))
      await answerRun(dependencies, awaitedBy, model, version);
  }
}

/**
 * Answers one run. Several identical runs may wait for the same version, which records only the latest. A run with an
 * outdated verdict continues to `Promote`, which refuses it (`GATE_OUTDATED`) and sends it back to `Evaluate`, because
 * nobody can approve that verdict.
 *
 * @returns whether there was an answer
 */
export async function answerRun(
  { runs, tokens }: Answering,
  runId: string,
  model: Model,
  version: ModelVersion,
): Promise<boolean> {
  const rejection = rejectionOf(model, version);
  const approved = model.production === version.version || isFree(model, version);
  const refusal = approved ? undefined : refusalOf(version);
  if (rejection === undefined && refusal === undefined && !approved && !isOutdated(model, version)) return false;
  const { approvalRequest } = version;
  // The run itself waits in executions of an earlier release.
  const own = await runs.findTaskTokens(runId, "AwaitApproval");
  const wait = approvalRequest && approvalWait(version.model, version.version, approvalRequest.id);
  const waiting = [...own, ...(wait ? await runs.findTaskTokens(runId, wait) : [])];
  await Promise.all(
    waiting.map((token) => {
      if (rejection !== undefined) return tokens.fail(token, "ApprovalRejected", rejection);
      return refusal === undefined ? tokens.succeed(token, { runId }) : tokens.fail(token, "GateRefused", refusal);
    }),
  );
  return true;
}

/** Names the wait of one request for an approval. */
export function approvalWait(model: string, version: number, request: string): TaskWait {
  return `Approval#${model}#${version}#${request}`;
}

function hasOpenRequest({ approvalRequest }: ModelVersion): boolean {
  return approvalRequest !== undefined && !approvalRequest.expired;
}

function isOutdated(model: Model, { gate }: ModelVersion): boolean {
  return gate?.passed === true && outdatedBy(model, gate) !== undefined;
}

/** Returns whether gates and approvals suffice. A canary under test also waits for its test. */
function isFree(model: Model, version: ModelVersion): boolean {
  const approved = version.gate?.passed === true && decisionOn(model, version).state === "approved";
  return approved && !isUnderTest(model.traffic, version.version);
}

/**
 * Returns why the version cannot be approved at present: it was evaluated again, or a check failed; `undefined` if it
 * can.
 */
function refusalOf({ gate }: ModelVersion): string | undefined {
  if (!gate || gate.passed || isPending(gate)) return undefined;
  return gate.checks
    .filter(({ passed }) => !passed)
    .map(({ evidence }) => evidence)
    .join("; ");
}

/** Returns why the version can never be approved; `undefined` if it can. */
function rejectionOf(model: Model, version: ModelVersion): string | undefined {
  if (!isVisible(model, version)) return `version ${version.version} of ${model.name} was deleted`;
  const decision = decisionOn(model, version);
  if (decision.state !== "rejected") return undefined;
  const { by, reason } = decision.approval;
  return reason === "" ? `rejected by ${by}` : `rejected by ${by}: ${reason}`;
}
