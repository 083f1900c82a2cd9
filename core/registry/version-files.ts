import {
  type Artifacts,
  artifactScheme,
  normalPath,
  pathOfArtifactUri,
  type StoredPlace,
  storedPlace,
} from "../tracking/artifacts";
import type { LoggedModels } from "../tracking/logged-model";
import type { RunRecords } from "../tracking/run-records";
import type { ModelVersion } from "./model";
import type { ModelRepository } from "./repository";
import { readModelUri, schemeOf } from "./source";

export interface VersionFilesPorts {
  readonly repository: Pick<ModelRepository, "findVersion">;
  readonly records: Pick<RunRecords, "identify" | "find">;
  readonly loggedModels: Pick<LoggedModels, "find">;
}

type Made = Pick<ModelVersion, "source" | "artifactKey" | "runId" | "loggedModelId">;

const maxCopies = 20;

/**
 * Makes the files of a version immutable, for every API. Called before a version is judged, so that the evaluated files
 * are those that serve. A version that was trained here is content-addressed already. Files at other hosts cannot be
 * frozen.
 */
export async function freezeFiles(
  ports: VersionFilesPorts & { readonly artifacts: Pick<Artifacts, "freeze"> },
  version: Made,
): Promise<void> {
  for (const { owner, path } of await filesOf(ports, version)) {
    if (owner.kind !== "team") await ports.artifacts.freeze(owner, path);
  }
}

/** Returns every place in the team's artifact tree where a client may look for the version's files. */
export async function filesOf(ports: VersionFilesPorts, version: Made): Promise<readonly StoredPlace[]> {
  const { source, runId, artifactKey } = await originalOf(ports, version);
  const ofModel = version.loggedModelId === undefined ? [] : [modelPlace(version.loggedModelId)];
  if (source === undefined) {
    return artifactKey !== undefined || runId === undefined
      ? ofModel
      : [...ofModel, { owner: { kind: "run", runId }, path: "" }];
  }
  return [...ofModel, ...(await placesOfSource(ports, source))];
}

/** Returns the first version of a chain of copies. A copy has the files of its original. */
async function originalOf({ repository }: VersionFilesPorts, version: Made): Promise<Made> {
  let current = version;
  for (let i = 0; i < maxCopies; i += 1) {
    const uri = schemeOf(current.source ?? "") === "models" ? readModelUri(current.source ?? "") : undefined;
    if (uri === undefined || "modelId" in uri || uri.version === undefined) return current;
    const original = await repository.findVersion(uri.name, Number(uri.version));
    if (original === undefined) return current;
    current = original;
  }
  return current;
}

async function placesOfSource(ports: VersionFilesPorts, source: string): Promise<readonly StoredPlace[]> {
  const { records } = ports;
  switch (schemeOf(source)) {
    case "models": {
      const uri = readModelUri(source);
      return uri && "modelId" in uri ? [modelPlace(uri.modelId)] : [];
    }
    case "runs": {
      const [, runId, path] = /^runs:\/+([^/]+)\/(.*)$/s.exec(source) ?? [];
      if (runId === undefined || path === undefined) return [];
      const inRun = pathsIn(path).map((each): StoredPlace => ({ owner: { kind: "run", runId }, path: each }));
      return [...inRun, ...(await namedModels(ports, runId, inRun))];
    }
    case "mlflow-artifacts": {
      const uri = artifactScheme + source.slice(artifactScheme.length);
      const paths = pathsIn(pathOfArtifactUri(uri));
      return Promise.all(paths.map((path) => storedPlace((runId) => records.identify(runId), path)));
    }
    default:
      return [];
  }
}

/** If a client finds no file of a run under `runs:/<run>/<name>`, it reads the run's logged model of that name. */
async function namedModels(
  { records, loggedModels }: VersionFilesPorts,
  runId: string,
  places: readonly StoredPlace[],
): Promise<readonly StoredPlace[]> {
  const outputs = (await records.find(runId))?.modelOutputs ?? [];
  const models = await Promise.all(outputs.map(({ modelId }) => loggedModels.find(modelId)));
  return models.flatMap((model) =>
    model && places.some(({ path }) => path.split("/")[0] === model.name) ? [modelPlace(model.modelId)] : [],
  );
}

/** Returns the path with and without a query or a fragment, because clients differ. */
function pathsIn(path: string): readonly string[] {
  const read = [path, path.replace(/[?#].*$/s, "")].map(normalPath);
  return [...new Set(read.flatMap((each) => ("path" in each ? [each.path] : [])))];
}

function modelPlace(modelId: string): StoredPlace {
  return { owner: { kind: "logged-model", modelId }, path: "" };
}
