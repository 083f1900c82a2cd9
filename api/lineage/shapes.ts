import * as z from "zod";
import { stage } from "../../core/registry/model";
import { nextToken, type Shape } from "../../core/shapes";

const node = z
  .object({
    id: z.string().meta({ description: "Kind and name." }),
    kind: z.enum(["file", "shard", "dataset", "features", "view", "code", "run", "model-version"]),
    name: z.string(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  })
  .meta({ id: "LineageNode" });

export interface LineageNode extends Shape<typeof node> {}

export const lineageGraph = z
  .object({
    root: z.string().meta({ description: "Id of the requested node." }),
    nodes: z.array(node),
    edges: z
      .array(z.object({ from: z.string(), to: z.string() }))
      .meta({ description: "`to` was made of `from`, or read it." }),
    nextToken,
  })
  .meta({ id: "LineageGraph", description: "Edges, from origin to result." });

export interface LineageGraph extends Shape<typeof lineageGraph> {}

type LineageEdge = LineageGraph["edges"][number];

export const viewUse = z
  .object({
    view: z.string().meta({ description: "`name@version` of the feature view." }),
    dataset: z.string().meta({ description: "`name@version` of a dataset version with columns of the view." }),
    models: z
      .array(z.object({ model: z.string(), version: z.int(), stage }))
      .meta({ description: "Model versions whose run read the dataset version." }),
  })
  .meta({ id: "FeatureViewUse" });

export interface ViewUse extends Shape<typeof viewUse> {}

/** Collects a graph. An existing node or edge stays unchanged. */
export class LineageBuilder {
  private readonly nodes = new Map<string, LineageNode>();
  private readonly edges = new Map<string, LineageEdge>();

  add(
    kind: LineageNode["kind"],
    name: string,
    details: Readonly<Record<string, string | number | boolean | undefined>> = {},
  ): string {
    const id = `${kind}:${name}`;
    const present = Object.entries(details).filter(
      (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
    );
    if (!this.nodes.has(id)) this.nodes.set(id, { id, kind, name, details: Object.fromEntries(present) });
    return id;
  }

  connect(from: string, to: string): void {
    this.edges.set(`${from} ${to}`, { from, to });
  }

  finish(root: string, nextToken?: string): LineageGraph {
    return {
      root,
      nodes: [...this.nodes.values()],
      edges: [...this.edges.values()],
      nextToken,
    };
  }
}
