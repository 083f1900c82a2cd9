import { type Clock, isoTime } from "../ports";
import { runNotFound } from "../runs/errors";
import type { ApprovalExecution, ApprovalExecutions, TaskTokens } from "../runs/ports";
import type { RunPhases } from "../runs/run-repository";
import { outputOf } from "../runs/step";
import { type ApprovalDependencies, answerApproval, approvalWait } from "./approval";
import { approvalNotRequested } from "./errors";
import { isPending } from "./gates/external-check";
import type { Actor, ModelVersion } from "./model";
import type { RegistrationOutput } from "./registration";
import type { Registry } from "./registry";
import { expireApproval, openApproval } from "./transitions";

interface RequestDependencies {
  readonly registry: Registry;
  readonly executions: ApprovalExecutions;
  readonly clock: Clock;
}

/**
 * Requests the approval of a version that passed its gates or waits for a check, and starts the execution that waits
 * for it. Idempotent: the same request finds the same execution.
 *
 * @param request `again`: replaces an open request, so that it expires later
 * @throws APPROVAL_NOT_REQUESTED if no run of the platform trained the version, or its gates did not pass
 */
export async function requestVersionApproval(
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
  const opened = openApproval(number, { ...request, runId: awaitedBy ?? runId }, by);
  const head = await registry.apply(model, [number], opened);
  const version = await registry.version(model, number);
  if (head.production !== number) await startApproval(executions, team, version);
  return version;
}

/** Starts the execution of a version's open request. Does nothing if there is none or it runs. */
export async function startApproval(
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

/** Requests the approval of the version that a run registered, before the run ends. */
export async function requestApprovalOfRun(
  dependencies: RequestDependencies & { readonly runs: Pick<RunPhases, "findDetails"> },
  runId: string,
): Promise<void> {
  const details = await dependencies.runs.findDetails(runId);
  if (!details) throw runNotFound(runId);
  const target = { team: details.run.team, ...outputOf<RegistrationOutput>(details, "Register") };
  await requestVersionApproval(dependencies, target, { id: runId, again: false }, { by: `run ${runId}` });
}

/**
 * Stores the task token of a request's execution for the API that records decisions, and answers it if the decision is
 * known, the request has expired, or another request has replaced it. The execution repeats this every day.
 */
export async function awaitVersionApproval(
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
  await runs.putTaskToken(runId, approvalWait(model, number, request), taskToken);
  const actor = { by: `run ${runId}`, at: isoTime(clock) };
  await registry.apply(model, [number], expireApproval(number, request, actor));
  const [head, version] = [await registry.head(model), await registry.version(model, number)];
  const { approvalRequest: open } = version;
  if (head.production === number) return tokens.succeed(taskToken, { runId });
  if (open?.id !== request) return tokens.fail(taskToken, "ApprovalExpired", "another request has replaced it");
  if (await answerApproval({ runs, tokens }, head, version)) return;
  if (open.expired) await tokens.fail(taskToken, "ApprovalExpired", `the request expired at ${open.expiresAt}`);
}
