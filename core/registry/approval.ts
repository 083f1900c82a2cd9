import { isoTime } from "../clock";
import type { Clock } from "../ports";
import type { TaskTokens } from "../runs/ports";
import { isOpen } from "../runs/run";
import type { RunRepository } from "../runs/run-repository";
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
  readonly runs: RunRepository;
  readonly tokens: TaskTokens;
  readonly clock: Clock;
}

/**
 * Records a person's decision on a version, then answers the run that waits for it. Idempotent.
 *
 * @param request key of the request: repeated after the approval was withdrawn, it is no new approval
 * @throws GateOutdatedError where the verdict is outdated; a run that waits for the approval then evaluates again
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
    if (!run || !isOpen(run.status)) throw error;
    await answerApproval(dependencies, model, version);
    throw new GateOutdatedError(version, error.changed, model.production, run.runId);
  }
}

type Answering = Pick<ApprovalDependencies, "runs" | "tokens">;

/** Answers the run that waits for a version, where its decision is known; where either comes first, the other finds it. */
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

/** Lets runs evaluate again whose versions wait for approval by a verdict that a promotion or rollback has outdated. */
export async function answerOutdated(
  dependencies: Answering & Pick<ApprovalDependencies, "registry">,
  name: string,
): Promise<void> {
  const { model, versions } = await dependencies.registry.details(name);
  for (const version of versions) {
    const { awaitedBy, stage } = version;
    if (awaitedBy === undefined || !["staging", "canary"].includes(stage) || !isOutdated(model, version)) continue;
    const run = await dependencies.runs.find(awaitedBy);
    if (run && isOpen(run.status)) await answerRun(dependencies, awaitedBy, model, version);
  }
}

/**
 * Answers one run: an identical one may wait for the same version, and the version knows only the latest. A run whose verdict is outdated
 * goes on to `Promote`, which refuses it (`GATE_OUTDATED`) and sends it back to `Evaluate`: nobody could approve that verdict.
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
  const waiting = await runs.findTaskTokens(runId, "AwaitApproval");
  await Promise.all(
    waiting.map((token) => {
      if (rejection !== undefined) return tokens.fail(token, "ApprovalRejected", rejection);
      return refusal === undefined ? tokens.succeed(token, { runId }) : tokens.fail(token, "GateRefused", refusal);
    }),
  );
  return true;
}

function isOutdated(model: Model, { gate }: ModelVersion): boolean {
  return gate?.passed === true && outdatedBy(model, gate) !== undefined;
}

/** Whether approvals suffice: a canary under test also waits for its test. */
function isFree(model: Model, version: ModelVersion): boolean {
  return decisionOn(model, version).state === "approved" && !isUnderTest(model.traffic, version.version);
}

/** Why nobody can approve it as it is: it was judged again, or a check that it waited for has failed. */
function refusalOf({ gate }: ModelVersion): string | undefined {
  if (!gate || gate.passed || isPending(gate)) return undefined;
  return gate.checks
    .filter(({ passed }) => !passed)
    .map(({ evidence }) => evidence)
    .join("; ");
}

/** Why nobody will ever approve it; `undefined` where somebody may. */
function rejectionOf(model: Model, version: ModelVersion): string | undefined {
  if (!isVisible(model, version)) return `version ${version.version} of ${model.name} was deleted`;
  const decision = decisionOn(model, version);
  if (decision.state !== "rejected") return undefined;
  const { by, reason } = decision.word;
  return reason === "" ? `rejected by ${by}` : `rejected by ${by}: ${reason}`;
}
