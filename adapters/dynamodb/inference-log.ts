import { inRounds } from "../../core/backoff";
import { inferenceDays } from "../../core/drift/inference-batch";
import { type InferenceLog, inferenceLogBusy, type ServedVersion } from "../../core/drift/inference-log";
import type { InferenceBatch } from "../../core/drift/shapes";
import { catalog } from "../../platform/permissions/grants";
import { pauseBeforeRound } from "./client";
import { absent, ex, type Table, teamCatalogPort } from "./table";

const rounds = 24;

export function createInferenceLog(table: Table, team: string): InferenceLog {
  const pk = ({ model, version }: ServedVersion): string => `TEAM#${team}#INFERENCES#${version}#${model}`;
  const head = (version: ServedVersion) => ({ pk: pk(version), sk: "HEAD" });
  const batchKey = (sequence: number): string => `BATCH#${String(sequence).padStart(12, "0")}`;

  async function totals(version: ServedVersion) {
    const item = await table.get(head(version));
    return { batches: Number(item?.["batches"] ?? 0), rows: Number(item?.["total"] ?? 0) };
  }

  const find = (version: ServedVersion, digest: string) =>
    table.record<InferenceBatch>({ pk: pk(version), sk: `REQUEST#${digest}` });

  return {
    find,
    totals,

    append: (version, digest, draft) =>
      inRounds({ rounds, pause: pauseBeforeRound, busy: () => inferenceLogBusy(version) }, async (round) => {
        const earlierBatch = round === 0 ? undefined : await find(version, digest);
        if (earlierBatch) return earlierBatch;
        const { batches, rows } = await totals(version);
        const batch: InferenceBatch = { ...draft, sequence: batches + 1, before: rows };
        // A day longer than rows are accepted: a request that is sent again finds its row, or is refused.
        const expiresAt = Math.floor(Date.parse(draft.receivedAt) / 1_000) + (inferenceDays + 2) * 86_400;
        const appended = await table.tryTransact([
          table.updating(
            head(version),
            ex`SET batches = ${batch.sequence}, #total = ${rows + draft.rows}`,
            batches === 0 ? absent : ex`batches = ${batches}`,
          ),
          table.putting({ pk: pk(version), sk: batchKey(batch.sequence), record: batch, expiresAt }, absent),
          table.putting({ pk: pk(version), sk: `REQUEST#${digest}`, record: batch, expiresAt }, absent),
        ]);
        return appended ? batch : undefined;
      }),

    list: (version, { after, ...page }) =>
      table.page(ex`pk = ${pk(version)} AND sk BETWEEN ${batchKey(after + 1)} AND ${batchKey(999_999_999_999)}`, page),
  };
}

export const inferenceLog = teamCatalogPort(createInferenceLog, {
  read: [catalog("GetItem", "Query")],
  write: [catalog("PutItem", "UpdateItem")],
});
