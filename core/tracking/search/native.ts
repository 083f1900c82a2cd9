import { runStatuses } from "../../runs/run-states";
import { searchLimits } from "../shapes";
import { refuseAt } from "./errors";
import {
  attributes,
  type Condition,
  type Expression,
  type Field,
  type MetricAspect,
  type OrderTerm,
  type Value,
} from "./expression";
import { fieldText, metricAspects, nearest, resolveField } from "./fields";
import { likeProblem } from "./like";
import { type Grammar, type Operator, parseExpression, parseOrderTerms } from "./parser";
import type { QueryLanguage } from "./query";
import { type Token, timeHint } from "./tokens";

const grammar: Grammar<Field, Field> = {
  orderPath: "orderBy",
  limits: searchLimits,
  logic: true,
  field: resolveField,
  functions: metricAspects,
  applied(name, field, at) {
    if (field.kind === "metric") return { ...field, aspect: name as MetricAspect };
    return refuseAt(at.path, at, `can be used only with metrics, as in ${name}(metrics.loss)`);
  },
  condition: nativeCondition,
  ordered(field, at) {
    if (field.kind !== "dataset") return field;
    return refuseAt(at.path, at, "cannot be used for the order: a run may have several datasets");
  },
};

/**
 * Parses a filter of the native language (docs/search.md).
 * @param now milliseconds since the epoch
 * @throws SearchSyntaxError
 */
export function parseFilter(source: string, now: number): Expression | undefined {
  return parseExpression(grammar, source, now);
}

/** Parses `metrics.val_loss ASC, params.depth`: the terms of all texts, in order. @throws SearchSyntaxError */
export function parseOrder(sources: readonly string[]): readonly OrderTerm[] {
  const terms = sources.flatMap((source) => parseOrderTerms(grammar, source));
  if (terms.length > searchLimits.orderTerms) {
    const rule = `has ${terms.length} terms, more than the maximum of ${searchLimits.orderTerms}`;
    refuseAt("orderBy", { position: 1, raw: sources[0]?.slice(0, 40) ?? "" }, rule);
  }
  return terms;
}

export const nativeLanguage: QueryLanguage = { name: "ringmaster", ordersNumbersInText: true, parseFilter, parseOrder };

/**
 * Builds a condition of the native language, and checks which literals and comparisons fit the field.
 * @throws SearchSyntaxError
 */
function nativeCondition(field: Field, { name, negated }: Operator, tokens: readonly Token[]): Condition {
  if (name === "IS NULL") return { type: "null", field, negated };
  for (const token of tokens) checkValue(token);
  const [first, second] = tokens as readonly [Token, Token];
  switch (name) {
    case "IN":
      return { type: "in", field, negated, values: tokens.map((token) => literal(field, token)) };
    case "BETWEEN":
      return range(field, negated, first, second);
    case "LIKE":
    case "ILIKE":
      return likeCondition(field, negated, name === "ILIKE", first);
    default: {
      const value = literal(field, first);
      if (name !== "=" && name !== "!=") checkOrdered(field, value, first);
      return { type: "compare", field, comparator: name, value };
    }
  }
}

function checkValue(token: Token): void {
  if (token.type === "number" || token.type === "time" || token.type === "text") return;
  if (token.type === "word" && /^(?:true|false|nan|inf|infinity)$/i.test(token.raw)) return;
  if (/^now\b/i.test(token.raw)) refuse(token, "is not a time", timeHint);
  const isName = token.type === "word" || token.type === "quoted-name";
  const meant = isName && token.raw[0] !== "`" ? `put text in quotes: '${token.raw}'` : undefined;
  refuse(token, "a value was expected", meant);
}

function range(field: Field, negated: boolean, from: Token, to: Token): Condition {
  const low = literal(field, from);
  const high = literal(field, to);
  checkOrdered(field, low, from);
  checkOrdered(field, high, to);
  if (typeof low !== typeof high)
    refuse(to, `must be ${typeof low === "number" ? "a number" : "text"}, like the lower bound`);
  return { type: "between", field, negated, low, high };
}

function likeCondition(field: Field, negated: boolean, ignoreCase: boolean, token: Token): Condition {
  const type = typeOf(field);
  if (type !== "text" && type !== "status" && type !== "any") {
    refuse(token, `cannot be compared with LIKE: ${fieldText(field)} is a ${type}`, "use <, >, = or BETWEEN");
  }
  if (token.type !== "text") refuse(token, "must be text with % or _", `write '%${token.raw}%'`);
  const problem = likeProblem(token.value);
  if (problem !== undefined) refuse(token, problem, "search for a shorter part of the text");
  return { type: "like", field, negated, pattern: token.value, ignoreCase };
}

/** Returns the type of a field. Params and tags are texts that may be numbers: `any`. */
function typeOf(field: Field): "number" | "text" | "time" | "boolean" | "status" | "any" {
  if (field.kind === "metric") return "number";
  if (field.kind === "attribute") return attributes[field.name];
  if (field.kind === "dataset") return field.name === "version" ? "number" : "text";
  return "any";
}

function literal(field: Field, token: Token): Value {
  const name = fieldText(field);
  const type = typeOf(field);
  if (token.type === "time" && type !== "time") {
    const meant = type === "text" || type === "any" ? `put text in quotes: '${token.raw}'` : undefined;
    return refuse(token, `is a time, but ${name} is not a time`, meant);
  }
  switch (type) {
    case "number": {
      const number = numberOf(token);
      if (number !== undefined) return number;
      const meant = token.type === "text" && token.value.trim() !== "" && !Number.isNaN(Number(token.value));
      return refuse(
        token,
        `must be a number, because ${name} is a number`,
        meant ? `write ${token.value} without quotes` : undefined,
      );
    }
    case "time":
      return (
        timeOf(token) ??
        refuse(
          token,
          `must be a time, because ${name} is a time`,
          token.type === "text" && /^now\b/i.test(token.value)
            ? `write ${token.value} without quotes`
            : "write '2026-03-01T12:00:00Z', '2026-03-01', now-7d or milliseconds since 1970",
        )
      );
    case "boolean":
      return booleanOf(token) ?? refuse(token, `must be true or false, because ${name} is a boolean`);
    case "status":
      return token.type === "text"
        ? statusOf(token)
        : refuse(token, "must be a status", "put it in quotes: 'completed'");
    case "text":
      if (token.type === "text") return token.value;
      return refuse(token, `must be text, because ${name} is text`, `put it in quotes: '${token.raw}'`);
    case "any":
      if (token.type === "text") return token.value;
      return numberOf(token) ?? booleanOf(token)!;
  }
}

function numberOf(token: Token): number | undefined {
  if (token.type === "number") return token.number;
  if (token.type !== "word") return undefined;
  const word = token.raw.toLowerCase();
  if (word === "nan") return Number.NaN;
  return word === "inf" || word === "infinity" ? Number.POSITIVE_INFINITY : undefined;
}

function booleanOf(token: Token): boolean | undefined {
  const word = token.type === "word" || token.type === "text" ? token.value.toLowerCase() : "";
  return word === "true" ? true : word === "false" ? false : undefined;
}

const isoTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Parses a time. Without a zone it is UTC, so that a filter means the same everywhere. */
function timeOf(token: Token): number | undefined {
  if (token.type === "number" || token.type === "time") return token.number;
  const match = token.type === "text" ? isoTime.exec(token.value) : null;
  if (!match) return undefined;
  const hasTime = token.value.length > 10;
  const time = Date.parse(token.value.replace(" ", "T") + (hasTime && match[1] === undefined ? "Z" : ""));
  return Number.isNaN(time) ? undefined : time;
}

const statuses: readonly string[] = runStatuses;

const statusAliases: Readonly<Record<string, string>> = { scheduled: "queued", finished: "completed" };

function statusOf(token: Token): string {
  const word = token.value.toLowerCase();
  const status = Object.hasOwn(statusAliases, word) ? statusAliases[word]! : word;
  if (statuses.includes(status)) return status;
  const meant = nearest(word, [...statuses, ...Object.keys(statusAliases)]);
  return refuse(token, `is not a status; statuses are ${statuses.join(", ")}`, meant && `did you mean '${meant}'?`);
}

function checkOrdered(field: Field, value: Value, token: Token): void {
  const type = typeOf(field);
  if (typeof value === "boolean" || type === "status") refuse(token, "has no order", "compare it with = or !=");
  if (typeof value === "number" && Number.isNaN(value)) {
    refuse(token, "has no order", `${fieldText(field)} = NaN finds runs whose value is NaN`);
  }
  if (type === "any" && typeof value === "string" && value.trim() !== "" && !Number.isNaN(Number(value))) {
    refuse(token, "is text, and text is ordered by its characters", `write ${value} without quotes to compare numbers`);
  }
}

function refuse(token: Token, rule: string, suggestion?: string): never {
  return refuseAt("filter", token, rule, suggestion);
}
