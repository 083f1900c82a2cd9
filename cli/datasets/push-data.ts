import * as path from "node:path";
import type { CheckedRows } from "../../adapters/duckdb/contract/check";
import type { TargetSize } from "../../adapters/duckdb/formats/image-header";
import type { PushResult } from "../../adapters/duckdb/push-file";
import type { ApiClient } from "../../client/api-client";
import type { ContractReport } from "../../core/datasets/contract/report";
import { schemaMismatch } from "../../core/datasets/errors";
import { schemaChanges, schemaHashOf } from "../../core/datasets/identity";
import { mayCorrectColumns } from "../../core/datasets/register";
import { parseDatasetSchema } from "../../core/datasets/schema";
import type { ColumnSchema, DatasetDraft, DatasetVersion, SourceFile } from "../../core/datasets/shapes";
import { InvalidInputError, RingmasterError } from "../../core/errors";
import type { UploadPort } from "../../core/ports";
import { formatBytes } from "../../core/quantities";
import type { Warning } from "../../core/shapes";
import { download } from "../download";
import { createUploads } from "../uploads";
import { contractCheck, lookupOf } from "./data-contract";
import { appendToDataset, assertName, type PushProgress, type PushTarget } from "./push";
import { withLocalSources } from "./remote-sources";
import { provideSchemaFile } from "./schema-file";

export interface PushChoices {
  readonly schema?: string | undefined;
  readonly label?: string | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly size?: TargetSize | undefined;
  readonly allowSchemaChange?: boolean | undefined;
  readonly append?: boolean | undefined;
  /** Checks the rows as a push does, and changes nothing: no schema file, no content, no version. */
  readonly dryRun?: boolean | undefined;
  /** Command or script that made the files, for their lineage. */
  readonly transform?: string | undefined;
  /** Checks the columns before anything is uploaded. Throws if they do not serve the caller. */
  readonly checkColumns?: ((schema: readonly ColumnSchema[]) => void) | undefined;
}

/** The maximum number of remarks on the columns of a new schema. The schema file has all. */
const maxRemarks = 20;

export interface PushListener {
  onSource(text: string): void;
  onProgress(progress: PushProgress): void;
  onContract(report: ContractReport, source: string): void;
}

/** The version of a push; in a dry run, the version that it would make. */
interface Registered {
  readonly created: boolean;
  readonly version: Pick<DatasetVersion, "manifest" | "deprecation">;
}

/** Makes a version of files or URLs. @throws InvalidInputError, and the errors of `pushFile` */
export async function pushData(
  client: ApiClient,
  target: PushTarget,
  choices: PushChoices,
  listener: PushListener,
): Promise<PushResult<Registered>> {
  const { name, sources } = target;
  assertName(name);
  const shown = nameOfSources(sources);
  const { size } = choices;
  const push = async (file: readonly string[], nameOf: (path: string) => string): Promise<PushResult<Registered>> => {
    const append = choices.append ? await parentOf(client, name, choices) : undefined;
    const checked = append
      ? `${name} with ${shown} (its rows are those from ${append.version.manifest.rowCount + 1} on)`
      : shown;
    const corrections: Warning[] = [];
    const shared = {
      ...{ name, file, size, nameOf, onProgress: listener.onProgress },
      uploads: choices.dryRun ? withoutUploads : createUploads(client),
      check: async (rows: CheckedRows, digest: string) => {
        choices.checkColumns?.(rows.schema);
        const show = (report: ContractReport) => listener.onContract(report, checked);
        const outcome = await contractCheck(
          client,
          { name, file: checked, dryRun: choices.dryRun },
          show,
        )(rows, digest);
        return [...corrections, ...outcome];
      },
      register: (draft: DatasetDraft, files: readonly SourceFile[], found: readonly Warning[]) => {
        const { transform } = choices;
        if (choices.dryRun) return plannedVersion(client, draft);
        const recorded = files.map((one) => ({ ...one, transform }));
        return client.registerDataset(draft, choices.allowSchemaChange === true, recorded, found);
      },
    };
    if (append) return appendToDataset({ ...shared, append });
    const { schemaFile, text, created, remarks } = await provideSchemaFile({
      ...{ ...optionsOf(choices), ...target, named: sources, sources: file, dryRun: choices.dryRun },
      earlierVersion: choices.allowSchemaChange ? undefined : () => lookupOf(client).findNewest(name),
    });
    if (created) {
      const next = choices.dryRun ? "would be written" : "written";
      process.stderr.write(`schema ${next} to ${schemaFile}: check it, and push again after a change\n`);
    }
    for (const remark of remarks.slice(0, maxRemarks)) process.stderr.write(`  ${remark}\n`);
    const pushing = async () => {
      const schema = parseDatasetSchema(text, schemaFile);
      if (!choices.allowSchemaChange) corrections.push(...(await correctionsOf(client, name, schema.columns)));
      const { pushFile } = await import("../../adapters/duckdb/push-file");
      return pushFile({ ...shared, schema });
    };
    return pushing().catch((error: unknown) => {
      throw created ? error : withSchemaFile(error, schemaFile);
    });
  };
  const onDownload = (source: string) => listener.onSource(`downloading ${source.replace(/\?.*$/, "")}`);
  return withLocalSources(sources, onDownload, (files, rename) =>
    push(files, (file) => nameWithin(files, file, rename)),
  );
}

/** Takes the place of the uploads of a dry run. */
const withoutUploads: UploadPort = { missing: async () => [], put: async () => undefined };

async function plannedVersion(client: ApiClient, draft: DatasetDraft): Promise<Registered> {
  const newest = await lookupOf(client).findNewest(draft.name);
  const versions = newest ? await client.datasetVersions(draft.name) : [];
  const existing = versions.find(({ manifest }) => manifest.digest === draft.digest);
  if (existing) return { created: false, version: existing };
  const manifest = { ...draft, version: (newest?.version ?? 0) + 1, createdAt: new Date().toISOString() };
  return { created: true, version: { manifest } };
}

/** Refuses changed columns before the data is read, unless no run has read the earlier ones. @throws SCHEMA_MISMATCH */
async function correctionsOf(
  client: ApiClient,
  name: string,
  columns: readonly ColumnSchema[],
): Promise<readonly Warning[]> {
  const newest = await lookupOf(client).findNewest(name);
  const hash = schemaHashOf(columns);
  if (newest === undefined || newest.schemaHash === hash) return [];
  // The content of an older version may be pushed again.
  const versions = await client.datasetVersions(name);
  if (versions.some(({ manifest }) => manifest.schemaHash === hash)) return [];
  const changes = schemaChanges(newest.schema, columns);
  const isOpen = await mayCorrectColumns(versions, async ({ manifest }) => {
    const { nodes } = await client.datasetLineage(name, manifest.version, { limit: 1 });
    return nodes.some(({ kind }) => kind === "run");
  });
  if (!isOpen) throw schemaMismatch(name, newest.version, changes);
  const message = `the columns differ from those of ${name}@${newest.version}, which no run has read: ${changes.join("; ")}`;
  return [{ code: "SCHEMA_CORRECTED", message }];
}

/** Names the existing schema file in the refusal of changed columns, which it defines. */
function withSchemaFile(error: unknown, schemaFile: string): unknown {
  if (!(error instanceof RingmasterError) || error.code !== "SCHEMA_MISMATCH") return error;
  const { message, code, httpStatus, details } = error;
  const next = `the columns are those of ${schemaFile}: edit it, or remove it and push again to follow the newest version`;
  return new RingmasterError(`${message}; ${next}`, { code, httpStatus, details, cause: error });
}

/** Names a file in the record of sources: by its address, or by its path below the folder that is a source. */
function nameWithin(
  sources: readonly string[],
  file: string,
  rename: (text: string) => string = (text) => text,
): string {
  const named = rename(file);
  if (named !== file) return named;
  for (const source of sources) {
    // A glob's folder ends before its first wildcard.
    const folder = /[*?[]/.test(source) ? path.dirname(`${source.replace(/[*?[].*$/, "")}x`) : source;
    const below = path.relative(folder, file);
    if (below !== "" && !below.startsWith("..") && !path.isAbsolute(below)) return below;
  }
  return path.basename(file);
}

function optionsOf({ schema, label, missing, size }: PushChoices) {
  return {
    ...(schema === undefined ? {} : { schema }),
    ...(label === undefined ? {} : { label }),
    ...(missing === undefined ? {} : { missing }),
    ...(size === undefined ? {} : { size }),
  };
}

/** @throws InvalidInputError if options name another schema than the newest version's */
async function parentOf(client: ApiClient, name: string, choices: PushChoices) {
  const options = (["schema", "label", "missing", "allowSchemaChange"] as const).filter(
    (key) => choices[key] !== undefined,
  );
  if (options.length > 0) {
    const rule = "must be left out with --append: the rows are read by the schema of the newest version";
    const names = {
      schema: "--schema",
      label: "--label",
      missing: "--missing",
      allowSchemaChange: "--allow-schema-change",
    };
    throw new InvalidInputError(
      "the rows cannot be appended",
      options.map((key) => ({ path: names[key], rule })),
    );
  }
  const contents = { getContent: (sha256: string) => download(client, sha256) };
  return { version: await client.dataset(name), contents };
}

/** Names the sources in a report: `sales.csv`, `data/*.csv and 2 more`. */
function nameOfSources([first = "", ...more]: readonly string[]): string {
  const name = /[*?[]/.test(first) ? first : (first.split(/[/\\]/).filter(Boolean).at(-1) ?? first);
  return more.length === 0 ? name : `${name} and ${more.length} more`;
}

/** Shows one line that is updated on a terminal, and a line for each phase elsewhere. */
export function showProgress(dryRun = false): (progress: PushProgress) => void {
  let last = "";
  return (progress) => {
    if (dryRun && (progress.phase === "uploading" || progress.phase === "registering")) return;
    const text =
      progress.phase === "uploading"
        ? `uploading ${formatBytes(progress.knownBytes + progress.sentBytes)} of ${formatBytes(progress.bytes)}`
        : progress.phase;
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${progress.phase === "registering" ? "" : text}`);
    else if (progress.phase !== last) process.stderr.write(`${text}\n`);
    last = progress.phase;
  };
}
