/** A thing in the history of data and models, and how things came of each other. */
export interface LineageNode {
  /** Kind and name: `run:run-0a1b`. */
  readonly id: string;
  readonly kind: "file" | "shard" | "dataset" | "features" | "code" | "run" | "model-version";
  readonly name: string;
  readonly details: Readonly<Record<string, string | number | boolean>>;
}

/** `to` was made of `from`, or read it. */
export interface LineageEdge {
  readonly from: string;
  readonly to: string;
}

export interface LineageGraph {
  /** The node that was asked for. */
  readonly root: string;
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly LineageEdge[];
  /** Where there are more runs. */
  readonly nextToken?: string;
}

/** Collects a graph; a node or edge that is there already stays as it is. */
export class LineageBuilder {
  readonly #nodes = new Map<string, LineageNode>();
  readonly #edges = new Map<string, LineageEdge>();

  /** @returns its id */
  add(
    kind: LineageNode["kind"],
    name: string,
    details: Readonly<Record<string, string | number | boolean | undefined>> = {},
  ): string {
    const id = `${kind}:${name}`;
    const known = Object.entries(details).filter(
      (entry): entry is [string, string | number | boolean] => entry[1] !== undefined,
    );
    if (!this.#nodes.has(id)) this.#nodes.set(id, { id, kind, name, details: Object.fromEntries(known) });
    return id;
  }

  connect(from: string, to: string): void {
    this.#edges.set(`${from} ${to}`, { from, to });
  }

  finish(root: string, nextToken?: string): LineageGraph {
    return {
      root,
      nodes: [...this.#nodes.values()],
      edges: [...this.#edges.values()],
      ...(nextToken === undefined ? {} : { nextToken }),
    };
  }
}
