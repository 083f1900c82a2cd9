import type { Page } from "../../core/datasets/repository";
import { mapLimited } from "../../core/each-limited";
import { hasCode } from "../../core/errors";
import type { LineageIndex } from "../../core/lineage/port";
import type { ModelVersion } from "../../core/registry/model";
import type { ViewUse } from "./shapes";

interface ViewUseDependencies {
  readonly lineage: Pick<LineageIndex, "datasetsOfView" | "modelsOf">;
  readonly registry: {
    details(name: string): Promise<{ readonly versions: readonly ModelVersion[] }>;
  };
}

const readsAtOnce = 8;

/** Lists the dataset versions with columns of a view, and the model versions of each, without deleted ones. */
export async function usesOfView(
  { lineage, registry }: ViewUseDependencies,
  view: string,
  page: { readonly limit: number; readonly nextToken?: string | undefined },
): Promise<Page<ViewUse>> {
  const uses = await lineage.datasetsOfView(view, page);
  const versionsOf = new Map<string, Promise<readonly ModelVersion[]>>();
  const items = await mapLimited(uses.items, readsAtOnce, async ({ view: version, dataset }): Promise<ViewUse> => {
    const models: ViewUse["models"][number][] = [];
    for (const use of await lineage.modelsOf(dataset)) {
      const versions = versionsOf.get(use.model) ?? existing(registry, use.model);
      versionsOf.set(use.model, versions);
      const made = (await versions).find((one) => one.version === use.version);
      if (made) models.push({ model: use.model, version: use.version, stage: made.stage });
    }
    return { view: `${view}@${version}`, dataset: `${dataset.name}@${dataset.version}`, models };
  });
  return { ...uses, items };
}

export async function productionUsesOf(dependencies: ViewUseDependencies, view: string): Promise<readonly string[]> {
  const labels = new Set<string>();
  let nextToken: string | undefined;
  do {
    const page = await usesOfView(dependencies, view, { limit: 200, nextToken });
    for (const { view: reference, models } of page.items) {
      for (const { model, version, stage } of models) {
        if (stage === "production") labels.add(`${model}/${version} (${reference})`);
      }
    }
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return [...labels];
}

async function existing(registry: ViewUseDependencies["registry"], model: string): Promise<readonly ModelVersion[]> {
  try {
    return (await registry.details(model)).versions;
  } catch (error) {
    if (hasCode(error, "MODEL_NOT_FOUND")) return [];
    throw error;
  }
}
