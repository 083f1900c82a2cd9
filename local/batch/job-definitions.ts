import type * as z from "zod";
import { nodeContainers } from "./container";
import { clientError } from "./errors";
import { batchArn, nameOf } from "./names";
import type { schemas } from "./schemas";
import type { Store } from "./store";
import type { JobDefinition, NodeProperties } from "./types";

type Input = z.infer<typeof schemas.registerJobDefinition>;

export class JobDefinitions {
  private readonly byName = new Map<string, JobDefinition[]>();

  constructor(private readonly store: Store) {}

  load(rows: ReadonlyMap<string, unknown>): void {
    for (const [key, value] of rows) if (key.startsWith("jd!")) this.insert(value as JobDefinition);
  }

  register(input: Input): JobDefinition {
    const { jobDefinitionName: name, type, containerProperties, nodeProperties } = input;
    if (type === "container" && !containerProperties) {
      throw clientError("containerProperties must not be null for a job definition of type container.");
    }
    if (type === "multinode") {
      if (!nodeProperties) throw clientError("nodeProperties must not be null for a job definition of type multinode.");
      nodeContainers(nodeProperties as NodeProperties); // throws if no submission could run it
    }
    const revision = (this.byName.get(name)?.at(-1)?.revision ?? 0) + 1;
    const definition = {
      ...(input as Input & { nodeProperties?: NodeProperties }),
      revision,
      jobDefinitionArn: batchArn(`job-definition/${name}:${revision}`),
      status: "ACTIVE",
    } as const;
    this.insert(definition);
    this.save(definition);
    return definition;
  }

  /**
   * Finds the revision that `name`, `name:revision` or an ARN refers to. A bare name refers to the latest active
   * revision.
   */
  find(reference: string): JobDefinition {
    const [name = "", revision] = nameOf(reference).split(":");
    const revisions = (this.byName.get(name) ?? []).filter(({ status }) => status === "ACTIVE");
    const definition =
      revision === undefined ? revisions.at(-1) : revisions.find((d) => String(d.revision) === revision);
    if (!definition) throw clientError(`JobDefinition ${reference} is not found or not active. Register it first.`);
    return definition;
  }

  describe(query: { references?: readonly string[]; name?: string; status?: string }): readonly object[] {
    const all = [...this.byName.values()].flat().reverse();
    const wanted = query.references?.map(nameOf);
    return all
      .filter((d) => !query.name || d.jobDefinitionName === query.name)
      .filter(
        (d) => !wanted || wanted.some((w) => w === d.jobDefinitionName || w === `${d.jobDefinitionName}:${d.revision}`),
      )
      .filter((d) => !query.status || d.status === query.status)
      .map((d) => ({ containerOrchestrationType: "ECS", ...d }));
  }

  private insert(definition: JobDefinition): void {
    const revisions = this.byName.get(definition.jobDefinitionName) ?? [];
    revisions.push(definition);
    this.byName.set(
      definition.jobDefinitionName,
      revisions.sort((a, b) => a.revision - b.revision),
    );
  }

  private save(definition: JobDefinition): void {
    this.store.put(`jd!${definition.jobDefinitionName}:${definition.revision}`, definition);
  }
}
