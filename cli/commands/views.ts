import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import type { Item } from "../../client/operations";
import { inParts } from "../../core/each-limited";
import { InvalidInputError } from "../../core/errors";
import { parseViewDefinition } from "../../core/feature-store/definition";
import { featureValue, maxStreamedRows } from "../../core/feature-store/shapes";
import { formatCount } from "../../core/quantities";
import { type Command, invalidOption, wholeNumber } from "../command";
import { MaterializationTimeoutError } from "../errors";
import { entityOf, viewAt } from "../features/entity";
import { joinViews } from "../features/join";
import { readLines } from "../json-lines";
import { printJson, printTable, shownText } from "../output";
import { createUploads } from "../uploads";

const pollMs = 100;

export function addViewCommands(program: Command): void {
  const views = program.command("views").description("feature views: features by entity and time, offline and online");

  views
    .command("push <file>")
    .description("register a view's file as its next version; the same content is the same version")
    .option("--allow-incompatible", "accept removed or retyped features and other entities; starts without rows")
    .handle(async ({ client, json }, file: string, options: { allowIncompatible?: boolean }) => {
      const body = {
        definition: parseViewDefinition(textOf(file), file),
        allowIncompatible: options.allowIncompatible === true,
      };
      const answer = await client.call("registerFeatureView", { body });
      if (json) return printJson(answer);
      const { name, version, features } = answer.version;
      for (const { message } of answer.warnings ?? []) process.stderr.write(`warning: ${shownText(message)}\n`);
      process.stdout.write(
        `${name}@${version}: ${answer.created ? "new version" : "already exists"}, ${formatCount(features.length, "feature")}\n`,
      );
    });

  views
    .command("list")
    .description("list feature views")
    .handle(async ({ client, json }) => {
      const listed = await client.list("listFeatureViews", { query: { limit: 200 } });
      if (json) return printJson({ views: listed });
      printTable(
        ["VIEW", "VERSION", "OWNER", "ENTITIES", "FEATURES", "DESCRIPTION"],
        listed.map((one) => [
          ...[one.name, one.latestVersion, one.owner ?? "–", one.entities.join(", ")],
          ...[one.features.length, one.description ?? ""],
        ]),
      );
    });

  views
    .command("show <view>")
    .description("show a view, NAME or NAME@3: its features, its rows and the state of the online store")
    .handle(async ({ client, json }, reference: string) => {
      const answer = await viewAt(client, reference);
      const { version, state } = answer;
      const all = await client.list("listFeatureViewUses", { params: { view: version.name }, query: { limit: 200 } });
      const uses = reference.includes("@") ? all.filter(({ view }) => view === reference) : all;
      if (json) return printJson({ ...answer, uses });
      const { definition } = version;
      const { owner, description, entities, ttl, creationTime } = definition;
      const created = `creation time ${creationTime ?? "none"}`;
      process.stdout.write(
        `${version.name}@${version.version}, by ${version.createdBy} at ${version.createdAt}${owner ? `, owner ${owner}` : ""}\n`,
      );
      if (description) process.stdout.write(`${description}\n`);
      process.stdout.write(
        `entities ${entities.join(", ")}; event time ${definition.eventTime}; ${created}; TTL ${ttl ?? "none"}\n`,
      );
      const { batches, rows, online } = state;
      process.stdout.write(
        `${formatCount(rows, "row")} in ${formatCount(batches, "batch", "batches")}; online up to batch ${online.batch}\n`,
      );
      printTable(
        ["FEATURE", "TYPE"],
        version.features.map((one) => [one.name, one.type]),
      );
      if (uses.length === 0) return;
      process.stdout.write("\n");
      printTable(
        ["USED AS", "DATASET", "MODELS"],
        uses.map(({ view, dataset, models }) => [view, dataset, shownModels(models)]),
      );
    });

  views
    .command("ingest <view>")
    .description("store a file's rows offline; the same rows are stored once")
    .requiredOption("--file <file>", "CSV, Parquet or JSON file with the view's columns")
    .handle(async ({ client, json }, name: string, { file }: { file: string }) => {
      const { version } = await viewAt(client, name);
      const { ingestViewRows } = await import("../../adapters/duckdb/view-ingest");
      const answer = await ingestViewRows({
        ...{ file, version, uploads: createUploads(client), clock: { now: Date.now } },
        onIgnoredColumns: (names) => {
          process.stderr.write(`${file}: columns that ${version.name} lacks are not stored: ${names.join(", ")}\n`);
        },
        register: (body) => client.call("registerFeatureBatch", { params: { view: version.name }, body }),
      });
      if (json) return printJson(answer);
      const { rows, sequence, files } = answer.batch;
      const word = answer.created ? "stored" : "already stored";
      process.stdout.write(
        `${version.name}: ${formatCount(rows, "row")} ${word} as batch ${sequence}, ${formatCount(files.length, "file")}\n`,
      );
    });

  views
    .command("send <view>")
    .description("send rows as events, which are stored offline and online")
    .requiredOption("--file <file>", "JSON lines or a list of rows")
    .handle(async ({ client, json }, view: string, { file }: { file: string }) => {
      const rows = readLines(file, z.record(z.string(), featureValue));
      for (const some of inParts(rows, maxStreamedRows)) {
        await client.call("sendFeatureRows", { params: { view }, body: { rows: some } });
      }
      if (json) return printJson({ accepted: rows.length });
      process.stdout.write(`${view}: ${formatCount(rows.length, "row")} accepted\n`);
    });

  views
    .command("materialize <view>")
    .description("bring new batches into the online store, and wait for it")
    .option("--timeout <seconds>", "how long to wait; the work continues afterwards", wholeNumber("--timeout"), 600)
    .handle(async ({ client, json }, view: string, { timeout }: { timeout: number }) => {
      const deadline = Date.now() + timeout * 1_000;
      const { batches, online: before } = await client.call("materializeFeatureView", { params: { view } });
      const show = progressOf(json, batches);
      let state = (await viewAt(client, view)).state;
      while (state.online.batch < batches) {
        if (Date.now() >= deadline) throw new MaterializationTimeoutError(view, state.online.batch, batches, timeout);
        show(state.online.batch);
        await sleep(pollMs);
        state = (await viewAt(client, view)).state;
      }
      show(state.online.batch);
      if (json) return printJson(state);
      const added = state.online.batch - before.batch;
      process.stdout.write(
        `${view}: ${added === 0 ? "already up to date" : `${formatCount(added, "batch", "batches")} added`}\n`,
      );
    });

  views
    .command("get <views>")
    .description("read the latest features of an entity: NAME or NAME@3, several separated by commas")
    .repeatable("--entity <column=value>", "value of an entity column", { required: true })
    .option("--full-names", "name features VIEW__FEATURE")
    .handle(async ({ client, json }, list: string, options: { entity: readonly string[]; fullNames?: boolean }) => {
      const references = list.split(",");
      const versions = await Promise.all(references.map((one) => viewAt(client, one)));
      const entity = entityOf(
        options.entity,
        versions.map(({ version }) => version.definition),
      );
      const body = { views: references, entities: [entity], fullNames: options.fullNames === true };
      const { rows } = await client.call("readOnlineFeatures", { body });
      if (json) return printJson(rows[0]);
      printTable(
        ["FEATURE", "VALUE"],
        Object.entries(rows[0]!.features).map(([name, value]) => [name, value === null ? "–" : String(value)]),
      );
      for (const [name, at] of Object.entries(rows[0]!.eventTimes)) {
        process.stdout.write(`${name}: ${at === null ? "no row, or none within the TTL" : `as of ${at}`}\n`);
      }
    });

  views
    .command("join <labels>")
    .description("add to each row of a file the features that were known at its time")
    .repeatable("--views <views>", "NAME or NAME@3, several separated by commas", { commas: true, required: true })
    .requiredOption("--time <column>", "column of the time at which the features are wanted")
    .requiredOption("-o, --output <file>", "Parquet or CSV file to write")
    .option("--full-names", "name features VIEW__FEATURE")
    .handle(async ({ client, json }, labels: string, options: JoinFlags) => {
      const { views, time, output, fullNames = false } = options;
      if (views.length === 0) throw invalidOption("--views", "", "must be NAME or NAME@VERSION");
      const joined = await joinViews(client, { labels, time, output, fullNames, views });
      if (json) return printJson(joined);
      if (!/\.parquet$/i.test(output)) {
        process.stderr.write(
          "only Parquet names the views of its columns: name them in the schema file (from), or predictions by entity will not find them\n",
        );
      }
      process.stdout.write(`${output}: ${formatCount(joined.rows, "row")} with ${joined.features.length} features\n`);
    });
}

/** Shows the last batch in the online store when it has changed: one line that is updated on a terminal. */
function progressOf(json: boolean, batches: number): (batch: number) => void {
  let last: number | undefined;
  return (batch) => {
    if (json || batch === last) return;
    const isFirst = last === undefined;
    last = batch;
    // A view that is up to date has no progress.
    if (isFirst && batch >= batches) return;
    const isLast = batch >= batches;
    const [start, end] = process.stderr.isTTY ? ["\r\x1b[K", isLast ? "\n" : ""] : ["", "\n"];
    process.stderr.write(`${start}batch ${Math.min(batch, batches)} of ${batches}${end}`);
  };
}

function shownModels(models: Item<"listFeatureViewUses">["models"]): string {
  if (models.length === 0) return "–";
  return models
    .map(({ model, version, stage }) => `${model}/${version}${stage === "none" ? "" : ` ${stage}`}`)
    .join(", ");
}

interface JoinFlags {
  readonly views: readonly string[];
  readonly time: string;
  readonly output: string;
  readonly fullNames?: boolean;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const problem = { path: "file", value: file, rule: "must be a file that can be read" };
    throw new InvalidInputError("the view cannot be registered", [problem], cause);
  }
}
