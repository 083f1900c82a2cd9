import * as z from "zod";
import type { Shape } from "../deep-readonly";
import { nextToken } from "../shapes";

const node = z
  .object({
    id: z.string().meta({ description: "Kind and name." }),
    kind: z.enum(["file", "shard", "dataset", "features", "code", "run", "model-version"]),
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
export type LineageEdge = LineageGraph["edges"][number];
