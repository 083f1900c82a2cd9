import { InvalidInputError } from "../../core/errors";
import { aliasNotFound } from "../../core/registry/errors";
import type { Actor, ModelVersion } from "../../core/registry/model";
import type { Registry } from "../../core/registry/registry";
import {
  type ModelUri,
  readModelUri,
  type SourceFault,
  type SourcePorts,
  schemeOf,
  sourceFault,
} from "../../core/registry/source";
import { runNotFound } from "../../core/runs/errors";
import type { RunRecords } from "../../core/tracking/run-records";
import { hidePassword, passwordRule } from "../../core/url-password";

export interface SourceDependencies extends SourcePorts {
  readonly registry: Pick<Registry, "head" | "version">;
}

/** The location of a version's files, the run or logged model that owns them, and the people who submitted it. */
export type Origin = Pick<ModelVersion, "source" | "runId" | "loggedModelId" | "submitters">;

/**
 * Checks the source of a version. A stage or alias becomes a number. @throws InvalidInputError with the violated rule;
 * MODEL_NOT_FOUND, MODEL_VERSION_NOT_FOUND, ALIAS_NOT_FOUND, RUN_NOT_FOUND
 */
export async function registeredSource(
  dependencies: SourceDependencies,
  request: Origin & { readonly source: string },
  caller: Pick<Actor, "person">,
): Promise<Origin> {
  const { source } = request;
  const owner = { runId: request.runId ?? "", modelId: request.loggedModelId ?? "" };
  const uri = schemeOf(source) === "models" ? readModelUri(source) : undefined;
  const fault = await sourceFault(dependencies, source, owner);
  if (fault !== undefined) throw refused(source, rules[fault]);
  if (uri && !("modelId" in uri)) return copied(dependencies, request, uri, caller);
  if (owner.modelId !== "" && (await dependencies.loggedModels.find(owner.modelId))?.lifecycle !== "active") {
    throw refused(source, rules["not-the-models"]);
  }
  return { ...request, ...(await submittersOfVersion(dependencies.records, request.runId, caller)) };
}

async function copied(
  { registry }: SourceDependencies,
  request: Origin & { readonly source: string },
  { name, version, alias }: Exclude<ModelUri, { readonly modelId: string }>,
  caller: Pick<Actor, "person">,
): Promise<Origin> {
  if (version === undefined && alias === undefined) {
    throw refused(
      request.source,
      "must name the other version by its number or an alias: models:/NAME/3, models:/NAME@ALIAS",
    );
  }
  const number = version === undefined ? await aliased(registry, name, alias!) : Number(version);
  const original = await registry.version(name, number);
  const { runId, loggedModelId } = original;
  for (const [path, given, known] of [
    ["runId", request.runId, runId],
    ["loggedModelId", request.loggedModelId, loggedModelId],
  ] as const) {
    if (given !== undefined && given !== known) {
      const rule = `must be that of version ${number} of ${name}${known === undefined ? ", which has none" : `: ${known}`}`;
      throw new InvalidInputError("the version cannot be registered", [{ path, value: given, rule }]);
    }
  }
  const of = { runId, loggedModelId };
  return { source: `models:/${name}/${number}`, ...of, ...addSubmitters(original, caller) };
}

async function aliased(registry: SourceDependencies["registry"], name: string, alias: string): Promise<number> {
  const { aliases } = await registry.head(name);
  if (!Object.hasOwn(aliases, alias)) throw aliasNotFound(name, alias);
  return aliases[alias]!;
}

const rules: Readonly<Record<SourceFault, string>> = {
  "has-password": passwordRule,
  "names-a-host":
    "must not name a host that keeps the files (http, https, ftp, sftp, hdfs, viewfs, r2, b2, abfss, mlflow-artifacts://HOST): log them here, or name an object store such as s3://BUCKET/PATH",
  local:
    "must not be a path on a machine: log the files here (mlflow-artifacts:, runs:), or name an object store such as s3://BUCKET/PATH",
  climbs: "must have a path that begins with / and has no segment . or ..",
  "no-model-uri": "must be models:/NAME/VERSION, models:/NAME@ALIAS or models:/LOGGED-MODEL",
  "not-the-runs": "must lie among the files of the run that runId names",
  "not-the-models": "must be the logged model that loggedModelId names, or lie among its files",
};

function refused(value: string, rule: string): InvalidInputError {
  return new InvalidInputError("the version cannot be registered", [
    { path: "source", value: hidePassword(value), rule },
  ]);
}

type Submitters = Pick<ModelVersion, "submitters">;

/** The caller and the people behind the run from which the version was made. @throws RUN_NOT_FOUND */
export async function submittersOfVersion(
  records: Pick<RunRecords, "find">,
  runId: string | undefined,
  caller: Pick<Actor, "person">,
): Promise<Submitters> {
  const run = runId === undefined ? undefined : await records.find(runId);
  if (runId !== undefined && !run) throw runNotFound(runId);
  return addSubmitters(run, caller);
}

/** Adds a caller to the submitters of the run or version from which its own version was made. */
export function addSubmitters(origin: Submitters | undefined, { person }: Pick<Actor, "person">): Submitters {
  return person ? { submitters: [...new Set([person.id, ...(origin?.submitters ?? [])])] } : { submitters: undefined };
}
