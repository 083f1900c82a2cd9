import { isNamed } from "../../core/access/principals";
import { type Decision, decisionOn, refusalOfDecision, withdrawal } from "../../core/registry/approvals";
import { championOf, outdatedBy } from "../../core/registry/gates/evidence";
import { isPending } from "../../core/registry/gates/external-check";
import type { Model, ModelVersion, NextStep } from "../../core/registry/model";
import { approvalRulesOf } from "../../core/registry/policy";
import type { Registry } from "../../core/registry/registry";
import { isUnderTest } from "../../core/registry/serving/traffic";
import type { RunRepository } from "../../core/runs/run-repository";
import { isOpen } from "../../core/runs/run-states";
import type { Run } from "../../core/runs/shapes";
import { shellWord } from "../../core/shell-word";

/** Returns the steps to production, in order. `run` waits for the version, or made it. */
export function nextSteps(
  model: Model,
  version: ModelVersion,
  run: Pick<Run, "runId" | "status"> | undefined,
): readonly NextStep[] {
  const of = `${shellWord(model.name)} ${version.version}`;
  const { gate } = version;
  if (model.production === version.version) return [{ kind: "none", what: "it is in production" }];
  const decision = decisionOn(model, version);
  if (decision.state === "rejected") {
    const { by, reason } = decision.approval;
    const why = reason === "" ? "" : `: ${reason}`;
    return [{ kind: "none", what: `rejected by ${by}${why}; train a new version` }];
  }
  const { approvalRequest: request } = version;
  const follow = run && isOpen(run.status) ? { command: `ringmaster runs watch ${run.runId}` } : undefined;
  const waits = request && !request.expired ? { command: `ringmaster models show ${shellWord(model.name)}` } : follow;
  const judge = { command: `ringmaster models judge ${of}` };
  if (!gate) {
    return follow
      ? [{ kind: "run", what: "its run evaluates the gates", ...follow }]
      : [{ kind: "evaluation", what: "the gates have not evaluated it", ...judge }];
  }
  if (!gate.passed && !isPending(gate)) {
    return [
      { kind: "none", what: "the gates refused it; train a new version", command: `ringmaster models gates ${of}` },
    ];
  }
  const outdated = outdatedBy(model, gate);
  if (gate.passed && outdated !== undefined) {
    const now = championOf({ champion: model.production });
    const why =
      outdated === "policy"
        ? "the policy's gates have changed since it was evaluated"
        : `it was compared with ${championOf(gate)}, and ${now} is in production`;
    return [
      waits
        ? { kind: "run", what: `${why}: it is evaluated again, and approvals are needed after that`, ...waits }
        : { kind: "evaluation", what: `${why}: evaluate it again`, ...judge },
    ];
  }
  if (request?.expired && decision.state === "waiting") {
    const what = `a new request for an approval: the last one expired at ${request.expiresAt}`;
    return [{ kind: "approval", what, command: `ringmaster models request-approval ${of}` }];
  }
  const open = [
    ...checksOf(model, version, of),
    ...(decision.state === "waiting" ? [approvalOf(model, version, decision, of)] : []),
    ...(isUnderTest(model.traffic, version.version) ? [testOf(model)] : []),
  ];
  if (open.length > 0) return open;
  if (waits) return [{ kind: "run", what: `it is being promoted${policyOf(decision)}`, ...waits }];
  return [{ kind: "promotion", what: "promote it", command: `ringmaster models promote ${of}` }];
}

function policyOf(decision: Decision): string {
  return decision.state === "approved" && decision.approval.policy ? `, approved by ${decision.approval.by}` : "";
}

function checksOf(model: Model, { gate }: ModelVersion, of: string): readonly NextStep[] {
  return (gate?.checks ?? [])
    .filter(({ pending }) => pending)
    .map(({ metric: name, external }): NextStep => {
      if (external?.kind === "http") {
        return { kind: "check", name, what: `the webhook of check ${name}`, command: `ringmaster models judge ${of}` };
      }
      const declared = model.policy?.rules.checks.find((check) => check.name === name);
      const words = declared?.kind === "command" ? declared.command.map(shellWord).join(" ") : "COMMAND";
      const command = `ringmaster models check ${of} --name ${name} -- ${words}`;
      return { kind: "check", name, what: `check ${name}, which a person runs`, command };
    });
}

function approvalOf(
  model: Model,
  version: ModelVersion,
  { given, required, because }: Extract<Decision, { readonly state: "waiting" }>,
  of: string,
): NextStep {
  const rules = approvalRulesOf(model);
  const decided = version.approvals.flatMap(({ person }) =>
    refusalOfDecision(rules, version, person) ? [] : (person ?? []),
  );
  const excluded = (each: string): boolean => rules.notTheSubmitter && each === version.submittedBy;
  const left = rules.approvers.filter((each) => !excluded(each) && !decided.some((person) => isNamed(person, each)));
  const remarks = [
    ...(required > 1 ? [`${given} of ${required} given`] : []),
    ...(left.length > 0 ? [`from ${left.join(", ")}`] : []),
    ...(rules.notTheSubmitter ? [`not from the submitter, ${version.submittedBy}`] : []),
    ...(because ? [because] : version.approvalsWithdrawn ? [withdrawal(version.approvalsWithdrawn)] : []),
  ];
  const missing = required - given;
  const what = missing > 1 ? `${missing} approvals` : given > 0 ? "1 more approval" : "an approval";
  return {
    kind: "approval",
    what: remarks.length === 0 ? what : `${what} (${remarks.join("; ")})`,
    command: `ringmaster models approve ${of}`,
  };
}

function testOf(model: Model): NextStep {
  return {
    kind: "test",
    what: "the decision of its canary test",
    command: `ringmaster models traffic decide ${shellWord(model.name)}`,
  };
}

interface Ports {
  readonly registry: Registry;
  readonly runs: Pick<RunRepository, "find">;
}

type WithNext<Version> = Version & { readonly next: readonly NextStep[] };

/** Adds the next step to a version. Reads the run that waits for it, else the one that made it. */
export async function withNext<Version extends ModelVersion>(
  { runs }: Pick<Ports, "runs">,
  model: Model,
  version: Version,
): Promise<WithNext<Version>> {
  const { awaitedBy, runId, artifactKey } = version;
  // A version from elsewhere may name a logged run, which promotes nothing.
  const follows = awaitedBy ?? (artifactKey === undefined ? undefined : runId);
  const needed = follows !== undefined && model.production !== version.version;
  return { ...version, next: nextSteps(model, version, needed ? await runs.find(follows) : undefined) };
}

export async function versionAfter(
  ports: Ports,
  { name, version }: { readonly name: string; readonly version: number },
): Promise<WithNext<ModelVersion>> {
  const [model, found] = [await ports.registry.head(name), await ports.registry.version(name, version)];
  return withNext(ports, model, found);
}
