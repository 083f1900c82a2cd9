import { MlflowFilterError } from "../../../core/tracking/search/errors";
import { parseClauses, pythonSet } from "./clauses";
import {
  type EntityGrammar,
  entityComparator,
  entityCondition,
  entityIdentifier,
  meetsCondition,
  textComparators,
} from "./conditions";
import { parseOrderText } from "./order";

/** What MLflow's `experiments/search` looks at. */
export interface SearchedExperiment {
  readonly experimentId: string;
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly creationTime: number;
  readonly lastUpdateTime: number;
  readonly tags: Readonly<Record<string, string>>;
}

const grammar: EntityGrammar = {
  attributes: ["name", "experiment_id", "creation_time", "last_update_time"],
  numericAttributes: ["creation_time", "last_update_time"],
  listAttributes: ["experiment_id"],
  strictNumbers: true,
  nullableTags: true,
  wrongComparator(key, comparator, numeric) {
    if (key === "experiment_id") return `Invalid comparator for experiment_id: ${comparator}`;
    const shown = pythonSet([...textComparators, "IN", "NOT IN"]);
    return `Invalid comparator '${comparator}' not one of '${shown}${numeric ? "" : "'"}`;
  },
};

/** @throws MlflowFilterError */
export function parseExperimentFilter(filter: string): (experiment: SearchedExperiment) => boolean {
  const conditions = parseClauses(filter, "bare").map((clause) => {
    const condition = entityCondition(clause, grammar);
    if (condition.type === "tag" || condition.key !== "experiment_id") return condition;
    // Ids are numbers, whatever zeros they begin with; texts only to be told apart.
    if (!["=", "!=", "IN", "NOT IN"].includes(condition.comparator)) {
      throw new MlflowFilterError(`Invalid comparator for experiment_id: ${condition.comparator}`);
    }
    const { value } = condition;
    return { ...condition, value: typeof value === "object" ? value.map(normalId) : normalId(String(value)) };
  });
  return (experiment) =>
    conditions.every((condition) => {
      if (condition.type === "attribute") return meetsCondition(attribute(experiment, condition.key), condition);
      const { tags } = experiment;
      return meetsCondition(Object.hasOwn(tags, condition.key) ? tags[condition.key] : undefined, condition);
    });
}

/** Without an order: newest first. @throws MlflowFilterError */
export function parseExperimentOrder(
  texts: readonly string[],
): (a: SearchedExperiment, b: SearchedExperiment) => number {
  const asked = texts.length > 0 ? texts : ["creation_time DESC", "experiment_id ASC"];
  const columns = asked.map((text) => {
    const { column, ascending } = parseOrderText(text);
    const { type, key } = entityIdentifier(column, grammar.attributes);
    if (type === "tag") throw new MlflowFilterError(`Invalid order_by entity: ${type}`);
    return { key, ascending };
  });
  if (!columns.some(({ key }) => key === "experiment_id")) columns.push({ key: "experiment_id", ascending: false });
  return entityComparator(
    columns.map(({ key, ascending }) => ({
      ascending,
      read: (one: SearchedExperiment) => (key === "experiment_id" ? Number(one.experimentId) : attribute(one, key)),
    })),
  );
}

function normalId(text: string): string {
  if (/^\s*\+?\d{1,15}\s*$/.test(text)) return String(Number(text));
  throw new MlflowFilterError(`Invalid experiment ID '${text}'. Experiment ID must be a valid integer.`);
}

function attribute(experiment: SearchedExperiment, key: string): string | number {
  switch (key) {
    case "name":
      return experiment.name;
    case "experiment_id":
      return experiment.experimentId;
    case "creation_time":
      return experiment.creationTime;
    default:
      return experiment.lastUpdateTime;
  }
}
