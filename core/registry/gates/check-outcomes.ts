import type { ObjectStore } from "../../ports";
import { readArtifact } from "../artifact";
import type { Model, ModelVersion } from "../model";
import type { Registry } from "../registry";
import { answerIn, type CheckHooks, checkDigest, deliveryId, type HookRequest, hookKey } from "./external-check";
import type { CheckOutcome } from "./judge";
import type { GateRequirements } from "./requirements";

export interface CheckPorts {
  readonly team: string;
  readonly registry: Registry;
  readonly objects: ObjectStore;
  readonly contentUrls: { forDownload(sha256: string): Promise<string> };
  readonly hooks: CheckHooks;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Returns every external check's answer, or why there is none. Calls all hooks at the same time. */
export async function checkOutcomes(
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
    ...(runId === undefined ? {} : { runId }),
    metrics,
    ...(champion ? { champion: { version: champion.version, metrics: champion.metrics } } : {}),
    artifacts,
  };
}
