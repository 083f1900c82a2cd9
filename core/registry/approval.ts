import { isoTime } from "../clock";
import type { Clock } from "../ports";
import { isUnderTest } from "../serving/traffic";
import type { TaskTokens } from "../training/ports";
import type { RunRepository } from "../training/run-repository";
import { decisionOn } from "./approvals";
import { type Actor, isVisible } from "./change";
import { isPending } from "./gates/external-check";
import type { Model, ModelVersion } from "./model";
import type { Registry } from "./registry";
import { decideApproval } from "./transitions";

export interface ApprovalDependencies {
  readonly registry: Registry;
  readonly runs: RunRepository;
  readonly tokens: TaskTokens;
  readonly clock: Clock;
}

/**
 * A person's word on a version: recorded first, then told to the run that waits for it, where it decides. Saying it twice is saying it once.
 *
 * @param request the same word sent again: once the version was taken back, it is no new one
 */
export async function approveOrReject(
  dependencies: ApprovalDependencies,
  target: { readonly model: string; readonly version: number },
  decision: "approved" | "rejected",
  actor: Omit<Actor, "at">,
  request?: string,
): Promise<ModelVersion> {
  const { registry, clock } = dependencies;
  const model = await registry.apply(
    target.model,
    [target.version],
    decideApproval(target.version, decision, { ...actor, at: isoTime(clock) }),
    request,
  );
  const version = await registry.version(target.model, target.version);
  await answerApproval(dependencies, model, version);
  return version;
}

type Answering = Pick<ApprovalDependencies, "runs" | "tokens">;

/** Tells a version's decision to the run that waits for it; where either comes first, the other finds it. */
export async function answerApproval(dependencies: Answering, model: Model, version: ModelVersion): Promise<void> {
  if (version.awaitedBy !== undefined) await answerRun(dependencies, version.awaitedBy, model, version);
}

/** Tells every decision that a new policy makes out of the words that there are. */
export async function answerWaiting(
  dependencies: Answering & Pick<ApprovalDependencies, "registry">,
  name: string,
): Promise<void> {
  const { model, versions } = await dependencies.registry.details(name);
  for (const version of versions) await answerApproval(dependencies, model, version);
}

/**
 * Tells it to one run: an identical one may wait for the same version, and only the latest is known to it.
 *
 * @returns whether there was something to tell
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
  if (rejection === undefined && refusal === undefined && !approved) return false;
  const waiting = await runs.findTaskTokens(runId, "AwaitApproval");
  await Promise.all(
    waiting.map((token) => {
      if (rejection !== undefined) return tokens.fail(token, "ApprovalRejected", rejection);
      return refusal === undefined ? tokens.succeed(token, { runId }) : tokens.fail(token, "GateRefused", refusal);
    }),
  );
  return true;
}

/** Whether approvals carry it on: those of a canary under test wait for what the test says. */
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
