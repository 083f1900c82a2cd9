import type { Model, ModelVersion } from "../../../core/registry/model";
import type { Condition, Expression } from "../../../core/tracking/search/expression";
import {
  type EntityField,
  type EntityGrammar,
  entityFilter,
  entityGrammar,
  entityOrder,
  parseEntityOrder,
  parseMlflowFilter,
  refuseDuplicates,
} from "./grammar";

type SearchedModel = Pick<Model, "name" | "updatedAt" | "tags">;

type SearchedVersion = Pick<
  ModelVersion,
  "model" | "version" | "runId" | "source" | "createdAt" | "updatedAt" | "tags"
>;

const modelGrammar = entityGrammar({ name: { type: "text", list: true } });
const modelOrders = entityGrammar({
  name: { type: "text" },
  timestamp: { type: "number" },
  last_updated_timestamp: { type: "number" },
});
const modelAttributes = {
  name: ({ name }: SearchedModel) => name,
  last_updated_timestamp: ({ updatedAt }: SearchedModel) => Date.parse(updatedAt),
};

const versionGrammar = entityGrammar({
  name: { type: "text", list: true },
  version_number: { type: "integer-or-text" },
  run_id: { type: "text", list: true },
  source_path: { type: "text" },
});
const versionOrders = entityGrammar({
  name: { type: "text" },
  version_number: { type: "number" },
  creation_timestamp: { type: "number" },
  last_updated_timestamp: { type: "number" },
});
const versionAttributes = {
  name: ({ model }: SearchedVersion) => model,
  version_number: ({ version }: SearchedVersion) => version,
  run_id: ({ runId }: SearchedVersion) => runId ?? "",
  source_path: ({ source }: SearchedVersion) => source ?? "",
  creation_timestamp: ({ createdAt }: SearchedVersion) => Date.parse(createdAt),
  last_updated_timestamp: ({ updatedAt }: SearchedVersion) => Date.parse(updatedAt),
};

export function parseModelFilter(filter: string): (model: SearchedModel) => boolean {
  return promptFilter(modelGrammar, filter, modelAttributes);
}

export function parseModelVersionFilter(filter: string): (version: SearchedVersion) => boolean {
  return promptFilter(versionGrammar, filter, versionAttributes);
}

/** Returns the name of the model to which a filter of versions restricts itself. @throws SearchSyntaxError */
export function modelNamedIn(filter: string): string | undefined {
  for (const condition of conditionsOf(parseMlflowFilter(versionGrammar, filter))) {
    const { field } = condition;
    const isName = field.kind === "attribute" && field.key === "name";
    if (isName && condition.type === "compare" && condition.comparator === "=") return String(condition.value);
  }
  return undefined;
}

/** The tag that marks prompts, which searches omit unless the filter requests them. */
const promptTag = "mlflow.prompt.is_prompt";

function promptFilter<T extends { readonly tags: Readonly<Record<string, string>> }>(
  grammar: EntityGrammar,
  filter: string,
  attributes: Parameters<typeof entityFilter<T>>[1],
): (entity: T) => boolean {
  const conditions = conditionsOf(parseMlflowFilter(grammar, filter));
  const onPrompts = conditions.filter(({ field }) => field.kind === "tag" && field.key === promptTag);
  const [first] = onPrompts;
  if (first && asksForPrompts(first)) return entityFilter({ type: "and", operands: conditions }, attributes);
  const others = conditions.filter((condition) => !onPrompts.includes(condition));
  const meets = entityFilter({ type: "and", operands: others }, attributes);
  return (entity) => entity.tags[promptTag] !== "true" && meets(entity);
}

function conditionsOf(filter: Expression<EntityField> | undefined): readonly Condition<EntityField>[] {
  if (filter === undefined) return [];
  switch (filter.type) {
    case "not":
      return [];
    case "and":
    case "or":
      return filter.operands.flatMap(conditionsOf);
    default:
      return [filter];
  }
}

function asksForPrompts(condition: Condition<EntityField>): boolean {
  if (condition.type !== "compare") return false;
  const value = String(condition.value).toLowerCase();
  return condition.comparator === "=" ? value === "true" : value === "false";
}

/** Parses an order; ties are ordered by name. @throws SearchSyntaxError */
export function parseModelOrder(texts: readonly string[]): (a: SearchedModel, b: SearchedModel) => number {
  const terms = parseEntityOrder(modelOrders, texts).map(({ field, ascending }) => ({
    field: field === "timestamp" ? "last_updated_timestamp" : field,
    ascending,
  }));
  refuseDuplicates(terms.map(({ field }) => field));
  return entityOrder(terms, [{ field: "name", ascending: true }], modelAttributes);
}

/** Parses an order; without one, the last updated come first. @throws SearchSyntaxError */
export function parseModelVersionOrder(texts: readonly string[]): (a: SearchedVersion, b: SearchedVersion) => number {
  const terms = parseEntityOrder(versionOrders, texts.length > 0 ? texts : ["last_updated_timestamp DESC"]);
  refuseDuplicates(terms.map(({ field }) => field));
  const last = [
    { field: "name", ascending: true },
    { field: "version_number", ascending: false },
  ];
  return entityOrder(terms, last, versionAttributes);
}
