import { refuseAt } from "./errors";
import { type Attribute, attributes, type DatasetField, type Field, type MetricAspect } from "./expression";
import type { NamedPart, Place } from "./parser";

/** The kinds of fields by the text before the first dot. */
const kinds: Readonly<Record<string, "metric" | "param" | "tag" | "attribute" | "dataset">> = {
  metrics: "metric",
  metric: "metric",
  params: "param",
  param: "param",
  parameters: "param",
  parameter: "param",
  tags: "tag",
  tag: "tag",
  attributes: "attribute",
  attribute: "attribute",
  attr: "attribute",
  run: "attribute",
  dataset: "dataset",
  datasets: "dataset",
};

const attributeAliases: Readonly<Record<string, Attribute>> = {
  run_name: "name",
  "run name": "name",
  "Run name": "name",
  "Run Name": "name",
  id: "run_id",
  user_id: "created_by",
  user: "created_by",
  created: "start_time",
  Created: "start_time",
  started: "start_time",
  started_at: "start_time",
  ended: "end_time",
  ended_at: "end_time",
  took: "duration",
  parent_run_id: "parent",
  weights: "weights_sha256",
};

const datasetFields: readonly DatasetField[] = ["name", "digest", "version", "context"];
export const metricAspects: readonly MetricAspect[] = ["last", "min", "max", "step"];

const shownAttributes = Object.keys(attributes).filter((name) => name !== "mlflow_status");

/** A kind and a name, or an attribute's name. A quoted name must match exactly; another may abbreviate one. */
export function resolveField(parts: readonly NamedPart[], at: Place): Field {
  const refuse = (rule: string, suggestion?: string): never => refuseAt(at.path, at, rule, suggestion);
  const [first, ...rest] = parts;
  if (rest.length === 0) return attribute(first!.value);
  const name = rest.map((part) => part.value).join(".");
  const kind = Object.hasOwn(kinds, first!.value) ? kinds[first!.value]! : undefined;
  const exact = rest.some((part) => part.quoted);
  if (name === "") return refuse("has no name after the dot");
  switch (kind) {
    case "metric":
      return { kind, name, aspect: "last", exact };
    case "param":
      return { kind, name, exact };
    case "tag":
      return { kind, name };
    case "attribute":
      return attribute(name);
    case "dataset": {
      const field = datasetFields.find((one) => one === name);
      return field ? { kind, name: field } : refuse(`must be one of dataset.${datasetFields.join(", dataset.")}`);
    }
    default: {
      const meant = nearest(first!.value, ["metrics", "params", "tags", "attributes", "dataset"]);
      return refuse(
        "must begin with metrics., params., tags., attributes. or dataset.",
        meant ? `did you mean ${meant}.${name}?` : `did you mean params.${at.raw}?`,
      );
    }
  }

  function attribute(name: string): Field {
    const alias = Object.hasOwn(attributeAliases, name) ? attributeAliases[name] : undefined;
    const shownName = alias ?? shownAttributes.find((one) => one === name);
    if (shownName !== undefined) return { kind: "attribute", name: shownName as Attribute };
    const near = nearest(name, [...shownAttributes, ...Object.keys(attributeAliases)]);
    const meant = name === "dataset" ? "dataset.name or dataset.version" : near;
    return refuse(
      `is not an attribute of a run; attributes are ${shownAttributes.join(", ")}`,
      meant ? `did you mean ${meant}?` : `for a parameter write params.${name}, for a metric metrics.${name}`,
    );
  }
}

export function fieldText(field: Field): string {
  switch (field.kind) {
    case "metric": {
      const metric = `metrics.${nameText(field)}`;
      return field.aspect === "last" ? metric : `${field.aspect}(${metric})`;
    }
    case "param":
      return `params.${nameText(field)}`;
    case "tag":
      return `tags.\`${field.name.replaceAll("`", "``")}\``;
    case "dataset":
      return `dataset.${field.name}`;
    case "attribute":
      return `attributes.${field.name}`;
  }
}

function nameText(field: { readonly name: string; readonly exact: boolean }): string {
  return field.exact ? `\`${field.name.replaceAll("`", "``")}\`` : field.name;
}

/** Returns the candidate nearest to a misspelt word, with at most a third of its letters wrong. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < least) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(substituted, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[b.length]!;
}
