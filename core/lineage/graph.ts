import type { LineageEdge, LineageGraph, LineageNode } from "./shapes";

export type { LineageEdge, LineageGraph, LineageNode } from "./shapes";

/** Collects a graph. An existing node or edge stays unchanged. */
export class LineageBuilder {
  private readonly nodes = new Map<string, LineageNode>();
  private readonly edges = new Map<string, LineageEdge>();

  /**
   * Adds a node.
   *
   * @returns its id
   */
  add(
    kind: LineageNode["kind"],
    name: string,
    details: Readonly<Record<string, string | number | boolean | undefined>> = {},
  ): string {
    const id = `${kind}:${name}`;
    const known = Object.entries(details).filter(
      (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
    );
    if (!this.nodes.has(id)) this.nodes.set(id, { id, kind, name, details: Object.fromEntries(known) });
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
      ...(nextToken === undefined ? {} : { nextToken }),
    };
  }
}
