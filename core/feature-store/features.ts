import type { CompiledPlan } from "../feature-plans/compile";
import { compilePlan, createRowFunction } from "../feature-plans/compile";
import { parseFeaturePlan } from "../feature-plans/plan-file";
import { columnsRead } from "../feature-plans/references";
import type { Feature, FeatureValue, ViewDefinition } from "./shapes";
import { type ViewWindows, windowsIn } from "./windows";

export interface CompiledFeatures {
  readonly features: readonly Feature[];
  readonly columns: readonly string[];
  readonly plan: CompiledPlan | undefined;
  readonly windows: ViewWindows | undefined;
  /** Returns the features of a stored row and the windows at a time (`aggregateRows`), with times as ISO 8601. */
  of(values: Readonly<Record<string, unknown>>): Record<string, FeatureValue>;
}

const compiled = new WeakMap<ViewDefinition, CompiledFeatures>();

export function compileFeatures(definition: ViewDefinition): CompiledFeatures {
  const cachedFeatures = compiled.get(definition);
  if (cachedFeatures) return cachedFeatures;
  const features = compile(definition);
  compiled.set(definition, features);
  return features;
}

function compile(definition: ViewDefinition): CompiledFeatures {
  const { columns, ...file } = definition;
  const view = parseFeaturePlan(JSON.stringify(file), `view ${file.name}`);
  const identity = new Set([...view.entities, view.eventTime, view.creationTime]);
  const columnFeatures = Object.entries(columns)
    .filter(([name]) => !identity.has(name))
    .map(([name, type]): Feature => ({ name, type }));
  const all = Object.entries(columns).map(([name, type]) => ({ name, type }));
  const plan =
    view.steps.length === 0
      ? undefined
      : compilePlan({ format: 1, view, columns: columnsRead(view, all), rows: 0, fitted: {} });
  const results = (plan?.outputs ?? []).map(
    ({ name, kind }): Feature => ({ name, type: kind === "code" ? "int" : "float" }),
  );
  const compute = plan && createRowFunction(plan);
  return {
    features: [...columnFeatures, ...results],
    columns: columnFeatures.map(({ name }) => name),
    plan,
    windows: windowsIn(view),
    of(values) {
      const features: Record<string, FeatureValue> = {};
      for (const { name, type } of columnFeatures) {
        const value = (values[name] ?? null) as FeatureValue;
        features[name] = type === "timestamp" && typeof value === "number" ? new Date(value).toISOString() : value;
      }
      const computed = compute?.(values) ?? [];
      for (const [index, { name }] of results.entries()) features[name] = computed[index] ?? null;
      return features;
    },
  };
}
