import { sha256 } from "../../digest";
import { type Clock, isoTime, type ObjectStore } from "../../ports";
import type { RunRepository } from "../../runs/run-repository";
import type { Artifacts } from "../../tracking/artifacts";
import { readArtifact } from "../artifact";
import type { Actor, Model, ModelVersion } from "../model";
import { rulesOf } from "../policy";
import type { Registry } from "../registry";
import { freezeFiles, type VersionFilesPorts } from "../version-files";
import { type RunOutputs, runOutputsOf } from "./candidate";
import { type CandidatePorts, candidateFacts } from "./candidate-facts";
import { answerIn, type CheckHooks, checkDigest, deliveryId, type HookRequest, hookKey } from "./external-check";
import { type CheckOutcome, judge } from "./judge";
import type { JobEvaluation } from "./no-regression";
import { combine, type GateRequirements } from "./requirements";
import { recordVerdict } from "./transitions";
import type { GateCheck, GateVerdict } from "./verdict";

interface CheckPorts {
  readonly team: string;
  readonly registry: Registry;
  readonly objects: ObjectStore;
  readonly contentUrls: { forDownload(sha256: string): Promise<string> };
  readonly hooks: CheckHooks;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Returns every external check's answer, or why there is none. Calls all hooks at the same time. */
async function checkOutcomes(
  ports: CheckPorts,
  model: Model,
  candidate: ModelVersion,
  { checks }: GateRequirements,
): Promise<ReadonlyMap<string, CheckOutcome>> {
  const { hooks, objects, randomBytes } = ports;
  const outcomes = await Promise.all(
    checks.map(async (check): Promise<readonly [string, CheckOutcome]> => {
      const answer = answerIn(candidate.gate, check.name, checkDigest(check));
      if (answer) return [check.name, { answer }];
      if (check.kind === "command") {
        const run = `ringmaster models check ${model.name} ${candidate.version} --name ${check.name} -- ${check.command.join(" ")}`;
        return [check.name, { unanswered: `a person runs it: ${run}` }];
      }
      const request = await requestOf(ports, model, candidate, check.name);
      const generation = check.keyGeneration ?? 1;
      const key = await hookKey(objects, randomBytes, { model: model.name, check: check.name, generation });
      return [check.name, await hooks.call(check, deliveryId(check, request), key, request)];
    }),
  );
  return new Map(outcomes);
}

async function requestOf(
  { team, registry, objects, contentUrls }: CheckPorts,
  model: Model,
  candidate: ModelVersion,
  check: string,
): Promise<HookRequest> {
  const { version, runId, metrics, evaluationReport } = candidate;
  const { production } = model;
  const champion =
    production === undefined || production === version
      ? undefined
      : await registry.repository.findVersion(model.name, production);
  const artifact = await readArtifact(objects, candidate);
  const named = {
    "weights.safetensors": artifact?.weights,
    "topology.json": artifact?.topology,
    "evaluation.json": evaluationReport,
  };
  const artifacts = await Promise.all(
    Object.entries(named).flatMap(([name, content]) =>
      content
        ? [
            contentUrls
              .forDownload(content.sha256)
              .then((url) => ({ name, url, sha256: content.sha256, bytes: content.bytes })),
          ]
        : [],
    ),
  );
  return {
    type: "ringmaster.check",
    check,
    team,
    model: model.name,
    version,
    runId,
    metrics,
    ...(champion ? { champion: { version: champion.version, metrics: champion.metrics } } : {}),
    artifacts,
  };
}

export interface JudgeDependencies
  extends Omit<CandidatePorts, "repository" | "artifacts">,
    Omit<VersionFilesPorts, "repository">,
    CheckPorts {
  readonly artifacts: Pick<Artifacts, "listAll" | "freeze">;
  readonly runs: Pick<RunRepository, "findDetails">;
  readonly clock: Clock;
}

/** Number of slices of each gate in a version's row. The verdict's document has all of them. */
const shownSlices = 8;

/**
 * Judges a version by its job's gates and its model's present policy, and records the verdict. Sends requests to HTTP
 * checks without an answer. Keeps answers to checks whose definition is unchanged.
 * @param request key that records the verdict once
 * @throws MODEL_NOT_FOUND, MODEL_VERSION_NOT_FOUND, REGISTRY_BUSY
 */
export async function judgeVersion(
  dependencies: JudgeDependencies,
  model: string,
  version: number,
  actor: Omit<Actor, "at">,
  request?: string,
): Promise<ModelVersion> {
  const { registry } = dependencies;
  // A repeated request sends no further requests to hooks.
  if (request !== undefined && (await registry.repository.findRequest(model, request)) !== undefined) {
    return registry.version(model, version);
  }
  const { verdict } = await verdictOn(dependencies, model, version);
  await registry.apply(model, [version], recordVerdict(version, verdict, { ...actor, at: verdict.at }), request);
  return registry.version(model, version);
}

/**
 * Returns the verdict without recording it. Freezes the version's files first, so that they cannot change afterwards.
 * @param runOutputs outputs of the run that requests the verdict. An identical run has its own job and champion, although
 * another run registered the version.
 * @throws CHAMPION_CHANGED if the requesting run was compared with another champion
 */
export async function verdictOn(
  dependencies: JudgeDependencies,
  name: string,
  version: number,
  runOutputs?: RunOutputs,
): Promise<{ readonly verdict: GateVerdict; readonly model: Model }> {
  const { registry, runs, clock, objects } = dependencies;
  const ports = { ...dependencies, repository: registry.repository };
  const model = await registry.head(name);
  const candidate = await registry.version(name, version);
  await freezeFiles(ports, candidate);
  const outputs = runOutputs ?? (await runOutputsOf(runs, candidate));
  const requirements = combine(outputs?.job.evaluation ?? elsewhere, rulesOf(model));
  const facts = await candidateFacts(
    ports,
    { model, version: candidate, outputs, mustBeCurrent: runOutputs !== undefined },
    requirements,
  );
  const outcomes = await checkOutcomes(dependencies, model, candidate, requirements);
  const whole = judge(requirements, facts, ({ name: check }) => outcomes.get(check)!, isoTime(clock));
  const document = await objects.putContent(
    JSON.stringify({ checks: whole.checks, ...(facts.latency ? { latency: facts.latency } : {}) }),
    "application/json",
  );
  const { rulesRevision } = model.policy ?? {};
  const champion = facts.champion?.version;
  const verdict = { ...whole, checks: whole.checks.map(shortened), document };
  return {
    model,
    verdict: {
      ...verdict,
      rulesRevision,
      champion,
    },
  };
}

const elsewhere: JobEvaluation = {};

function shortened(check: GateCheck): GateCheck {
  if (!check.slices || check.slices.slices.length <= shownSlices) return check;
  return { ...check, slices: { ...check.slices, slices: check.slices.slices.slice(0, shownSlices) } };
}

/** Digest of the findings without people's answers and times. Equal findings are the same verdict. */
export function findingsDigest({ checks, champion, rulesRevision }: GateVerdict): string {
  const findings = checks.map((check) => {
    const { gate, metric, limit, passed } = check;
    if (gate === "latency") return { gate, metric, limit, passed }; // each measurement differs
    return check.external?.kind === "command" ? { metric, digest: check.external.digest } : check;
  });
  return sha256(JSON.stringify({ checks: findings, champion, rulesRevision }));
}
