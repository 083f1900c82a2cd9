import { type Clock, isoTime } from "../ports";
import { runNotFound } from "../runs/errors";
import type { ApprovalExecution, ApprovalExecutions, TaskTokens } from "../runs/ports";
import type { RunPhases, TaskWait } from "../runs/run-repository";
import { outputOf } from "../runs/step";
import { approvalNotRequested, decisionOn } from "./approvals";
import { isVisible } from "./change";
import { GateOutdatedError } from "./errors";
import { outdatedBy } from "./gates/evidence";
import { isPending } from "./gates/external-check";
import { type Actor, type Model, type ModelVersion, registrationKind } from "./model";
import type { Registry } from "./registry";
import { isUnderTest } from "./serving/traffic";
import { decideApproval, expireApproval, requestApproval } from "./transitions";

export interface ApprovalDependencies {
  readonly registry: Registry;
  readonly runs: Pick<RunPhases, "findTaskTokens">;
  readonly tokens: Pick<TaskTokens, "succeed" | "fail">;
  readonly clock: Clock;
}

/**
 * Records a person's decision on a version, then answers the run that waits for it. Idempotent.
 * @param request key of the request. A repetition after the approval was withdrawn is no new approval.
 * @throws GateOutdatedError if the verdict is outdated; a run that waits for the approval then evaluates again
 */
export async function decide(
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
    await answer(dependencies, model, version);
    return version;
  } catch (error) {
    if (!(error instanceof GateOutdatedError)) throw error;
    const [model, version] = [await registry.head(target.model), await registry.version(target.model, target.version)];
    if (version.awaitedBy === undefined || !hasOpenRequest(version)) throw error;
    await answer(dependencies, model, version);
    throw new GateOutdatedError(version, error.changed, model.production, version.awaitedBy);
  }
}

type Answering = Pick<ApprovalDependencies, "runs" | "tokens">;

/** Answers runs that wait for versions, after a change of policy, traffic or champion. Outdated ones evaluate again. */
export async function answerAll(
  dependencies: Answering & Pick<ApprovalDependencies, "registry">,
  name: string,
): Promise<void> {
  const { model, versions } = await dependencies.registry.details(name);
  for (const version of versions) {
    if (hasOpenRequest(version) && !["production", "archived"].includes(version.stage))
      await answer(dependencies, model, version);
  }
}

/**
 * Answers the execution that waits for a version's approval, if the decision is known. It may start to wait before or
 * after the decision; the later of both finds the other. With an outdated verdict it continues to `Promote`, which
 * refuses it (`GATE_OUTDATED`) and sends it back to `Gate`, because nobody can approve that verdict.
 * @returns whether there was an answer
 */
export async function answer({ runs, tokens }: Answering, model: Model, version: ModelVersion): Promise<boolean> {
  const rejection = rejectionOf(model, version);
  const approved = model.production === version.version || isFree(model, version);
  const refusal = approved ? undefined : refusalOf(version);
  if (rejection === undefined && refusal === undefined && !approved && !isOutdated(model, version)) return false;
  const { awaitedBy: runId, approvalRequest: request } = version;
  if (runId === undefined || request === undefined) return true;
  const waiting = await runs.findTaskTokens(runId, waitOf(version.model, version.version, request.id));
  await Promise.all(
    waiting.map((token) => {
      if (rejection !== undefined) return tokens.fail(token, "ApprovalRejected", rejection);
      return refusal === undefined ? tokens.succeed(token, { runId }) : tokens.fail(token, "GateRefused", refusal);
    }),
  );
  return true;
}

interface RequestDependencies {
  readonly registry: Registry;
  readonly executions: ApprovalExecutions;
  readonly clock: Clock;
}

/**
 * Requests the approval of a version that passed its gates or waits for a check, and starts the execution that waits
 * for it. Idempotent: the same request finds the same execution.
 * @param request `again`: replaces an open request, so that it expires later
 * @throws APPROVAL_NOT_REQUESTED if no run of the platform trained the version, or its gates did not pass
 */
export async function request(
  { registry, executions, clock }: RequestDependencies,
  target: { readonly team: string; readonly model: string; readonly version: number },
  request: { readonly id: string; readonly again: boolean },
  actor: Omit<Actor, "at">,
): Promise<ModelVersion> {
  const { team, model, version: number } = target;
  const { runId, artifactKey, awaitedBy, gate } = await registry.version(model, number);
  if (runId === undefined || artifactKey === undefined || !gate || !(gate.passed || isPending(gate))) {
    throw approvalNotRequested({ model, version: number, gate });
  }
  const by = { ...actor, at: isoTime(clock) };
  const opened = requestApproval(number, { ...request, runId: awaitedBy ?? runId }, by);
  const head = await registry.apply(model, [number], opened);
  const version = await registry.version(model, number);
  if (head.production !== number) await start(executions, team, version);
  return version;
}

/** Starts the execution of a version's open request. Does nothing if there is none or it runs. */
export async function start(
  executions: ApprovalExecutions,
  team: string,
  { model, version, awaitedBy, approvalRequest: open }: ModelVersion,
): Promise<void> {
  if (!open || open.expired || awaitedBy === undefined) return;
  await executions.startApproval({
    team,
    runId: awaitedBy,
    model,
    version,
    request: open.id,
    expiresAt: open.expiresAt,
  });
}

export async function requestOfRun(
  dependencies: RequestDependencies & { readonly runs: Pick<RunPhases, "findDetails"> },
  runId: string,
): Promise<void> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) throw runNotFound(runId);
  const target = { team: details.run.team, ...outputOf(details, registrationKind) };
  await request(dependencies, target, { id: runId, again: false }, { by: `run ${runId}` });
}

/**
 * Stores the task token of a request's execution for the API that records decisions, and answers it if the decision is
 * known, the request has expired, or another request has replaced it. The execution repeats this every day.
 */
export async function wait(
  {
    registry,
    runs,
    tokens,
    clock,
  }: ApprovalDependencies & {
    readonly runs: RunPhases;
    readonly tokens: TaskTokens | ApprovalDependencies["tokens"];
  },
  { runId, model, version: number, request }: Omit<ApprovalExecution, "team" | "expiresAt">,
  taskToken: string,
): Promise<void> {
  await runs.putTaskToken(runId, waitOf(model, number, request), taskToken);
  const actor = { by: `run ${runId}`, at: isoTime(clock) };
  await registry.apply(model, [number], expireApproval(number, request, actor));
  const [head, version] = [await registry.head(model), await registry.version(model, number)];
  const { approvalRequest: open } = version;
  if (head.production === number) return tokens.succeed(taskToken, { runId });
  if (open?.id !== request) return tokens.fail(taskToken, "ApprovalExpired", "another request has replaced it");
  if (await answer({ runs, tokens }, head, version)) return;
  if (open.expired) await tokens.fail(taskToken, "ApprovalExpired", `the request expired at ${open.expiresAt}`);
}

function waitOf(model: string, version: number, request: string): TaskWait {
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

/** Returns why it cannot be approved at present: evaluated again, or a check failed; `undefined` if it can. */
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
