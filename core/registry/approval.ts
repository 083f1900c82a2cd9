import { type Clock, isoTime } from "../ports";
import type { TaskTokens } from "../runs/ports";
import type { RunPhases, TaskWait } from "../runs/run-repository";
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
  readonly runs: Pick<RunPhases, "findTaskTokens">;
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
  const { registry, clock } = dependencies;
  const decided = decideApproval(target.version, decision, { ...actor, at: isoTime(clock) });
  try {
    const model = await registry.apply(target.model, [target.version], decided, request);
    const version = await registry.version(target.model, target.version);
    await answerApproval(dependencies, model, version);
    return version;
  } catch (error) {
    if (!(error instanceof GateOutdatedError)) throw error;
    const [model, version] = [await registry.head(target.model), await registry.version(target.model, target.version)];
    if (version.awaitedBy === undefined || !hasOpenRequest(version)) throw error;
    await answerApproval(dependencies, model, version);
    throw new GateOutdatedError(version, error.changed, model.production, version.awaitedBy);
  }
}

type Answering = Pick<ApprovalDependencies, "runs" | "tokens">;

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
    const waits = ["staging", "canary"].includes(version.stage) && hasOpenRequest(version);
    if (waits && isOutdated(model, version)) await answerApproval(dependencies, model, version);
  }
}

/**
 * Answers the execution that waits for a version's approval, if the decision is known. It may start to wait before or
 * after the decision; the later of both finds the other. With an outdated verdict it continues to `Promote`, which
 * refuses it (`GATE_OUTDATED`) and sends it back to `Gate`, because nobody can approve that verdict.
 *
 * @returns whether there was an answer
 */
export async function answerApproval(
  { runs, tokens }: Answering,
  model: Model,
  version: ModelVersion,
): Promise<boolean> {
  const rejection = rejectionOf(model, version);
  const approved = model.production === version.version || isFree(model, version);
  const refusal = approved ? undefined : refusalOf(version);
  if (rejection === undefined && refusal === undefined && !approved && !isOutdated(model, version)) return false;
  const { awaitedBy: runId, approvalRequest: request } = version;
  if (runId === undefined || request === undefined) return true;
  const waiting = await runs.findTaskTokens(runId, approvalWait(version.model, version.version, request.id));
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
