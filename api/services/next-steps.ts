import type { Model, ModelVersion, NextStep } from "../../core/registry/model";
import { nextSteps } from "../../core/registry/next-steps";
import type { Registry } from "../../core/registry/registry";
import type { RunRepository } from "../../core/runs/run-repository";

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

/** Returns the version after a change, with its next step. */
export async function versionAfter(
  ports: Ports,
  { name, version }: { readonly name: string; readonly version: number },
): Promise<WithNext<ModelVersion>> {
  const [model, found] = [await ports.registry.head(name), await ports.registry.version(name, version)];
  return withNext(ports, model, found);
}
