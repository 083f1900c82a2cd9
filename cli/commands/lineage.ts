import { referenceOf } from "../../adapters/files/reference";
import type { Answer } from "../../client/operations";
import { InvalidInputError } from "../../core/errors";
import type { Command } from "../command";
import { modelVersionOf, parseReference } from "../model-reference";
import { printJson } from "../output";

type LineageGraph = Answer<"getDatasetLineage">["lineage"];
type LineageNode = LineageGraph["nodes"][number];

/** Number of shown shards of a node; the others are counted. */
const shownShards = 8;

/** Draws a graph as two trees of text: the origin of the root, and its results. A shown node is not expanded again. */
export function drawLineage(graph: LineageGraph): readonly string[] {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const root = nodes.get(graph.root)!;
  const lines = [describe(root)];
  for (const [title, next] of [
    ["inputs", neighbours(graph, "to", "from")],
    ["used by", neighbours(graph, "from", "to")],
  ] as const) {
    if ((next.get(root.id) ?? []).length === 0) continue;
    lines.push("", title);
    draw(root.id, "", new Set([root.id]), nodes, next, lines);
  }
  if (lines.length === 1) lines.push("", "no inputs and no uses are recorded");
  if (graph.nextToken !== undefined) lines.push("", `more runs: --next-token ${graph.nextToken}`);
  return lines;
}

function draw(
  id: string,
  indent: string,
  shown: Set<string>,
  nodes: ReadonlyMap<string, LineageNode>,
  next: ReadonlyMap<string, readonly string[]>,
  lines: string[],
): void {
  const all = (next.get(id) ?? []).map((each) => nodes.get(each)!);
  const shards = all.filter(({ kind }) => kind === "shard");
  const children = all.filter((node) => node.kind !== "shard" || shards.indexOf(node) < shownShards);
  const hidden = all.length - children.length;
  for (const [index, node] of children.entries()) {
    const last = index === children.length - 1 && hidden === 0;
    const again = shown.has(node.id);
    lines.push(`${indent}${last ? "└─ " : "├─ "}${describe(node)}${again ? " (above)" : ""}`);
    if (again) continue;
    shown.add(node.id);
    draw(node.id, `${indent}${last ? "   " : "│  "}`, shown, nodes, next, lines);
  }
  if (hidden > 0) lines.push(`${indent}└─ … and ${hidden} more shards`);
}

function neighbours(
  { edges }: LineageGraph,
  of: "from" | "to",
  other: "from" | "to",
): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  for (const edge of edges) children.set(edge[of], [...(children.get(edge[of]) ?? []), edge[other]]);
  return children;
}

const transformText = (transform: LineageNode["details"][string] | undefined): string | undefined =>
  transform === undefined ? undefined : `made by ${transform}`;

function describe({ kind, name, details }: LineageNode): string {
  const rows = details["firstRow"] === undefined ? undefined : `rows ${details["firstRow"]}–${details["lastRow"]}`;
  const said: readonly (string | number | boolean | undefined)[] =
    kind === "file" || kind === "shard"
      ? [details["file"], transformText(details["transform"]), rows]
      : kind === "dataset"
        ? [
            details["rows"] === undefined ? undefined : `${details["rows"]} rows`,
            details["createdBy"] === undefined ? undefined : `registered by ${details["createdBy"]}`,
            details["deprecatedBy"] === undefined ? undefined : `deprecated by ${details["deprecatedBy"]}`,
            sourceText(details["source"]),
          ]
        : kind === "run"
          ? [details["name"] === name ? undefined : details["name"], details["status"]]
          : kind === "view"
            ? [details["features"]]
            : kind === "code"
              ? [details["commit"], details["dirty"] === true ? "with uncommitted changes" : undefined]
              : [details["stage"]];
  const short = /^[0-9a-f]{64}$/.test(name) ? name.slice(0, 12) : name;
  const rest = said.filter((each) => each !== undefined && each !== short && each !== name).join(", ");
  return `${kind} ${short}${rest ? `  ${rest}` : ""}`;
}

/** Returns the origin of logged data; of JSON, which MLflow's clients send, only the location. */
function sourceText(source: LineageNode["details"][string] | undefined): typeof source {
  if (typeof source !== "string" || !source.startsWith("{")) return source;
  try {
    const { uri, url, path }: Readonly<Record<string, unknown>> = JSON.parse(source);
    return [uri, url, path].find((place): place is string => typeof place === "string");
  } catch {
    return source;
  }
}

export function addLineageCommand(program: Command): void {
  const lineage = program.command("lineage").description("trace lineage between raw files, datasets, runs and models");

  lineage
    .command("model <model>")
    .description("trace NAME (the one in production), NAME@3 or NAME@ALIAS back to run, code, data and raw rows")
    .handle(async ({ client, json }, reference: string) => {
      const { name, version } = await modelVersionOf(client, reference);
      const { lineage: graph } = await client.call("getModelVersionLineage", { params: { name, version } });
      show(graph, json);
    });

  lineage
    .command("dataset <dataset>")
    .description(
      "show the raw files of NAME@VERSION (or NAME, the newest version), and the runs and models that used it",
    )
    .option("--limit <n>", "maximum number of runs, at most 200", "50")
    .option("--next-token <token>", "continue an earlier list of runs")
    .handle(async ({ client, json }, reference: string, options: { limit: string; nextToken?: string }) => {
      const { name, version, alias } = parseReference(reference);
      if (alias !== undefined && alias !== "latest") {
        const rule = "must be NAME, NAME@VERSION or NAME@latest";
        throw new InvalidInputError("the lineage cannot be shown", [{ path: "dataset", value: reference, rule }]);
      }
      const number = version ?? (await client.dataset(name)).manifest.version;
      show(await client.datasetLineage(name, number, options), json);
    });

  lineage
    .command("file <file>")
    .description("show every dataset, run and model that used a raw file, given by path or SHA-256")
    .handle(async ({ client, json }, file: string) => {
      const sha256 = /^[0-9a-f]{64}$/.test(file) ? file : await digestOf(file);
      show((await client.call("getContentLineage", { params: { sha256 } })).lineage, json);
    });
}

function show(graph: LineageGraph, json: boolean): void {
  if (json) printJson(graph);
  else process.stdout.write(`${drawLineage(graph).join("\n")}\n`);
}

async function digestOf(file: string): Promise<string> {
  try {
    return (await referenceOf(file)).sha256;
  } catch (cause) {
    const rule = "must be a readable file or a SHA-256";
    throw new InvalidInputError("the lineage cannot be shown", [{ path: "file", value: file, rule }], cause);
  }
}
