import { MlflowFilterError } from "../../../core/tracking/search/errors";
import { parseClauses, pythonSet } from "./clauses";
import {
  type EntityCondition,
  type EntityGrammar,
  entityComparator,
  entityCondition,
  entityIdentifier,
  meetsCondition,
} from "./conditions";
import { parseOrderText, refuseDuplicates } from "./order";

/** What MLflow's `registered-models/search` looks at. */
export interface SearchedModel {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly lastUpdatedTimestamp: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** What its `model-versions/search` looks at. */
export interface SearchedModelVersion {
  readonly name: string;
  readonly version: number;
  readonly runId?: string;
  readonly source?: string;
  readonly creationTimestamp: number;
  readonly lastUpdatedTimestamp: number;
  readonly tags: Readonly<Record<string, string>>;
}

const modelGrammar: EntityGrammar = {
  attributes: ["name"],
  numericAttributes: [],
  listAttributes: ["name"],
  strictNumbers: false,
  nullableTags: false,
  wrongComparator: (_key, comparator) => `Invalid comparator for attribute: ${comparator}`,
};

const versionGrammar: EntityGrammar = {
  attributes: ["name", "version_number", "run_id", "source_path"],
  numericAttributes: ["version_number"],
  listAttributes: ["name", "run_id"],
  strictNumbers: false,
  nullableTags: false,
  wrongComparator: (key, comparator, numeric) =>
    `Invalid comparator for attribute${numeric ? ` ${key}` : ""}: ${comparator}`,
  shownNumericAttributes: ["version_number", "creation_timestamp", "last_updated_timestamp"],
};

/** A model or a version with this tag set to `true` is a prompt, which searches leave out unless they ask for prompts. */
const promptTag = "mlflow.prompt.is_prompt";

/** @throws MlflowFilterError */
export function parseModelFilter(filter: string): (model: SearchedModel) => boolean {
  return entityFilter(filter, modelGrammar, (model, key) => (key === "name" ? model.name : undefined));
}

/** @throws MlflowFilterError */
export function parseModelVersionFilter(filter: string): (version: SearchedModelVersion) => boolean {
  return entityFilter(filter, versionGrammar, versionAttribute);
}

function entityFilter<T extends { readonly tags: Readonly<Record<string, string>> }>(
  filter: string,
  grammar: EntityGrammar,
  read: (entity: T, key: string) => string | number | undefined,
): (entity: T) => boolean {
  const all = parseClauses(filter, "bare").map((clause) => entityCondition(clause, grammar));
  const prompts = asksForPrompts(all);
  const conditions = prompts ? all : all.filter(({ type, key }) => type !== "tag" || key !== promptTag);
  return (entity) => {
    const tag = (key: string): string | undefined => (Object.hasOwn(entity.tags, key) ? entity.tags[key] : undefined);
    if (!prompts && tag(promptTag) === "true") return false;
    return conditions.every((condition) =>
      meetsCondition(condition.type === "tag" ? tag(condition.key) : read(entity, condition.key), condition),
    );
  };
}

function asksForPrompts(conditions: readonly EntityCondition[]): boolean {
  const first = conditions.find(({ type, key }) => type === "tag" && key === promptTag);
  if (typeof first?.value !== "string") return false;
  const value = first.value.toLowerCase();
  return (first.comparator === "=" && value === "true") || (first.comparator === "!=" && value === "false");
}

/** @throws MlflowFilterError */
export function parseModelOrder(texts: readonly string[]): (a: SearchedModel, b: SearchedModel) => number {
  const columns = texts.map((text) => {
    const { column, ascending } = parseOrderText(text);
    if (!["name", "timestamp", "last_updated_timestamp"].includes(column)) {
      throw new MlflowFilterError(
        `Invalid order by key '${column}' specified. Valid keys are '${pythonSet(["name", "timestamp"])}'`,
      );
    }
    return { key: column === "name" ? "name" : "last_updated_time", ascending };
  });
  refuseDuplicates(
    columns.map(({ key }) => key),
    texts,
  );
  if (!columns.some(({ key }) => key === "name")) columns.push({ key: "name", ascending: true });
  return entityComparator(
    columns.map(({ key, ascending }) => ({
      ascending,
      read: (model: SearchedModel) => (key === "name" ? model.name : model.lastUpdatedTimestamp),
    })),
  );
}

/** Without an order: last updated first. @throws MlflowFilterError */
export function parseModelVersionOrder(
  texts: readonly string[],
): (a: SearchedModelVersion, b: SearchedModelVersion) => number {
  const orderable = ["name", "version_number", "creation_timestamp", "last_updated_timestamp"];
  const asked = texts.length > 0 ? texts : ["last_updated_timestamp DESC", "name ASC", "version_number DESC"];
  const columns = asked.map((text) => {
    const { column, ascending } = parseOrderText(text);
    const { type, key } = entityIdentifier(column, orderable);
    if (type === "tag") {
      throw new MlflowFilterError(`Invalid order by key '${key}' specified. Valid keys are ${pythonSet(orderable)}`);
    }
    return { key, ascending };
  });
  refuseDuplicates(
    columns.map(({ key }) => key),
    texts,
  );
  if (!columns.some(({ key }) => key === "name")) columns.push({ key: "name", ascending: true });
  if (!columns.some(({ key }) => key === "version_number")) columns.push({ key: "version_number", ascending: false });
  return entityComparator(
    columns.map(({ key, ascending }) => ({
      ascending,
      read: (version: SearchedModelVersion) => versionAttribute(version, key),
    })),
  );
}

function versionAttribute(version: SearchedModelVersion, key: string): string | number | undefined {
  switch (key) {
    case "name":
      return version.name;
    case "version_number":
      return version.version;
    case "run_id":
      return version.runId;
    case "source_path":
      return version.source;
    case "creation_timestamp":
      return version.creationTimestamp;
    default:
      return version.lastUpdatedTimestamp;
  }
}
