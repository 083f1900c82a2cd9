import type { InboxReport } from "../../core/datasets/inbox/shapes";
import { formatBytes } from "../../core/quantities";
import type { Command } from "../command";
import { printJson, printTable } from "../output";

export function addInboxCommand(datasets: Command): void {
  datasets
    .command("inbox [name]")
    .description("show the status of the files in the team's inbox, or in one dataset's inbox")
    .option("--retry <id>", "read a refused file again, without a new upload")
    .handle(async ({ client, json, print }, name: string | undefined, options: { retry?: string }) => {
      if (options.retry !== undefined) {
        const report = await client.retryInboxFile(options.retry);
        print({ report }, `reading ${report.path} again`);
        return;
      }
      const reports = await client.inbox(name);
      if (json) printJson({ reports });
      else showReports(reports);
    });
}

function showReports(reports: readonly InboxReport[]): void {
  printTable(
    ["ID", "FILE", "SIZE", "RECEIVED", "STATUS", "RESULT"],
    reports.map((one) => [one.id, one.path, formatBytes(one.bytes), one.putAt, one.status, outcomeOf(one)]),
  );
  for (const { status, id, path, reason, nextStep } of reports) {
    if (status !== "refused") continue;
    process.stdout.write(`\n${path} (${id})\n  reason  ${reason}\n  next    ${nextStep}\n`);
  }
}

function outcomeOf({ dataset, version, created, ignoredColumns, code, lastError }: InboxReport): string {
  if (version !== undefined) {
    const left = ignoredColumns ? `, without ${ignoredColumns.join(", ")}` : "";
    return `${dataset}@${version}${created ? "" : " (already existed)"}${left}`;
  }
  return code ?? (lastError ? `last attempt: ${lastError}` : "");
}
