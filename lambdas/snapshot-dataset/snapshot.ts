import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EventBridgeEvent } from "aws-lambda";
import { type CheckedRows, checkContract } from "../../adapters/duckdb/contract/check";
import { DiskFullError, isDiskFull } from "../../adapters/duckdb/errors";
import { pushFile } from "../../adapters/duckdb/push-file";
import { createStoreUploads } from "../../adapters/s3/store-uploads";
import { teamNamePattern } from "../../core/access/principals";
import { type DataContractEvents, dataContractBlocked } from "../../core/datasets/contract/blocked";
import { findOtherVersions } from "../../core/datasets/contract/others";
import { contractWarnings, shownViolations } from "../../core/datasets/contract/report";
import { type DataContractRepository, dataContractViolated, lookupIn } from "../../core/datasets/contract/stored";
import type { InboxFiles, InboxPut, InboxReport, InboxRepository } from "../../core/datasets/inbox/shapes";
import { type TakeFileDependencies, type TakenFile, takeInboxFile } from "../../core/datasets/inbox/take-file";
import type { DatasetRepository } from "../../core/datasets/repository";
import { RingmasterError } from "../../core/errors";
import type { LineageIndex } from "../../core/lineage/port";
import { registerFrom } from "../../core/lineage/register-from";
import type { Clock, ObjectStore } from "../../core/ports";

/** The parts of S3's "Object Created" that are read. Keys are not URL-encoded. */
export type FilePutEvent = EventBridgeEvent<
  "Object Created",
  {
    readonly bucket: { readonly name: string };
    readonly object: {
      readonly key: string;
      readonly size?: number;
      readonly etag?: string;
      readonly sequencer?: string;
    };
  }
>;

const inboxKey = /^teams\/([^/]+)\/inbox\/([\s\S]+)$/;

/**
 * Returns the file of an event; `undefined` for other objects: those of other buckets, and folders that a console has
 * created.
 */
export function readFilePut(
  event: FilePutEvent,
  bucket: string,
): { readonly team: string; readonly put: InboxPut } | undefined {
  const { bucket: of, object } = event.detail;
  const [, team, path] = inboxKey.exec(object.key) ?? [];
  if (of.name !== bucket || !team || !path || !teamNamePattern.test(team)) return undefined;
  if (path.endsWith("/") || object.etag === undefined || object.sequencer === undefined) return undefined;
  const { etag, sequencer, size: bytes = 0 } = object;
  return { team, put: { path, etag, bytes, sequencer, at: new Date(event.time).toISOString() } };
}

interface TeamPorts {
  readonly team: string;
  readonly datasets: DatasetRepository;
  readonly dataContracts: DataContractRepository;
  readonly inbox: InboxRepository;
  readonly inboxFiles: InboxFiles;
  readonly lineage: LineageIndex;
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly runEvents: DataContractEvents;
}

export interface SnapshotPorts {
  readonly config: { readonly bucket: string };
  forTeam(team: string): TeamPorts;
}

/** Processes one event: the file becomes a version, or its report has the reason why not. */
export async function takeFilePut(deployment: SnapshotPorts, event: FilePutEvent): Promise<InboxReport | undefined> {
  const read = readFilePut(event, deployment.config.bucket);
  if (!read) return undefined;
  const platform = deployment.forTeam(read.team);
  return takeInboxFile({ ...platform, snapshot: snapshotOf(platform) }, read.put);
}

/** Makes the snapshot with the code of `ringmaster datasets push`, on the function's own disk. */
function snapshotOf(ports: TeamPorts): TakeFileDependencies["snapshot"] {
  const { datasets, objects, inboxFiles, clock, lineage } = ports;
  return async (put, name, schema): Promise<TakenFile | undefined> => {
    const { path, etag } = put;
    const directory = mkdtempSync(join(tmpdir(), "ringmaster-inbox-"));
    // Keeps only the format's extension of the name, because the rest may be anything that S3 accepts.
    const file = join(directory, `rows${/(\.[a-z0-9]{1,16})?(\.gz|\.zst)?$/i.exec(path)?.[0] ?? ""}`);
    try {
      if (!(await fetched(path, etag, file))) return undefined;
      const { registered, ignoredColumns } = await pushFile({
        name,
        file,
        schema,
        uploads: createStoreUploads(objects),
        check: await contractCheck(ports, put, name),
        register: async (draft, [source], warnings) => {
          const registered = await registerFrom({ repository: datasets, objects, clock, lineage }, draft, {
            sources: source ? [{ ...source, file: `inbox/${path}` }] : [],
            // S3's event has no person.
            actor: `inbox file ${path}`,
          });
          if (registered.version.warnings === undefined)
            await datasets.recordWarnings(name, registered.version.manifest.version, warnings);
          return registered;
        },
      });
      return { ...registered, ignoredColumns };
    } catch (error) {
      throw named(error, file, `inbox/${path}`);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  };

  async function fetched(path: string, etag: string, file: string): Promise<boolean> {
    try {
      return await inboxFiles.fetch(path, etag, file);
    } catch (error) {
      throw isDiskFull(error) ? new DiskFullError(tmpdir(), error) : error;
    }
  }
}

/**
 * Returns the check of a file by the data contract of its dataset; `undefined` if there is none. Ages refer to the time
 * of the upload.
 */
async function contractCheck(
  { team, datasets, dataContracts, objects, runEvents }: TeamPorts,
  put: InboxPut,
  name: string,
) {
  const stored = await dataContracts.findCurrent(name);
  if (!stored || stored.contract.rules.length === 0) return undefined;
  const { contract, revision } = stored;
  const others = await findOtherVersions(contract, { name }, lookupIn(datasets));
  return async (rows: CheckedRows, digest: string) => {
    const context = { dataset: { name, digest }, revision, at: put.at, others, objects };
    const report = await checkContract(contract, rows, context);
    if (report.status === "blocked") {
      const file = `inbox/${put.path}`;
      const event = dataContractBlocked({ ...report, revision }, { team, dataset: name, source: "inbox", file });
      await runEvents.publishDataContractBlocked(event);
      throw dataContractViolated(file, { ...report, violations: shownViolations(report) });
    }
    return contractWarnings(report);
  };
}

/** Replaces the copy's path in messages by the name that the file's owner knows. */
function named(error: unknown, file: string, name: string): unknown {
  if (!(error instanceof RingmasterError) || !error.message.includes(file)) return error;
  const { code, httpStatus, retryable, details } = error;
  return new RingmasterError(error.message.replaceAll(file, name), {
    ...{ code, httpStatus, retryable, details },
    cause: error,
  });
}
