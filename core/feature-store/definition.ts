import { InvalidInputError, type Problem } from "../errors";
import { bindStep } from "../feature-plans/bind";
import { checkPlan } from "../feature-plans/plan-file";
import { checkTypes, createScopes } from "../feature-plans/references";
import type { FeaturePlan, PlanColumn } from "../feature-plans/shapes";
import { parseYamlInput } from "../yaml-input";
import { compileFeatures } from "./features";
import { type ViewDefinition, viewDefinition } from "./shapes";

/**
 * Parses a view's file for the feature store.
 *
 * @throws InvalidInputError with every problem
 */
export function parseViewDefinition(text: string, fileName: string): ViewDefinition {
  const { value, lineOf } = parseYamlInput(fileName, text, viewDefinition);
  try {
    checkDefinition(value, fileName);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const problems = error.details.problems.map((problem) => ({ ...problem, line: lineOf(pathOf(problem.path)) }));
    throw new InvalidInputError(`${fileName} cannot be stored`, problems, error);
  }
  return value;
}

/** Returns the parts of a path's text: `steps[0] (name)` is `["steps", 0]`. */
function pathOf(text: string): readonly PropertyKey[] {
  const parts = text.replace(/ \(.*\)$/s, "").match(/\[\d+\]|[^.[]+/g) ?? [];
  return parts.map((part) => (part.startsWith("[") ? Number(part.slice(1, -1)) : part));
}

export function planOf(definition: ViewDefinition, what = `view ${definition.name}`): FeaturePlan {
  const { columns: _, ...plan } = definition;
  return checkPlan(plan, what);
}

export function columnsOf({ columns }: Pick<ViewDefinition, "columns">): readonly PlanColumn[] {
  return Object.entries(columns).map(([name, type]) => ({ name, type }));
}

/**
 * Checks that a view can be stored: entities and times are columns of fitting types, steps are not fitted, and
 * names are distinct.
 *
 * @throws InvalidInputError with every problem
 */
export function checkDefinition(definition: ViewDefinition, what = `view ${definition.name}`): void {
  const plan = planOf(definition, what);
  const problems = [...problemsOfColumns(definition), ...problemsOfTimes(definition)];
  if (problems.length === 0) {
    checkTypes(plan, columnsOf(definition));
    problems.push(...problemsOfSteps(plan, definition));
  }
  if (problems.length > 0) throw new InvalidInputError(`${what} cannot be stored`, problems);
}

/** Columns of any file that DuckDB reads. */
const reserved = ["file_index", "file_row_number", "filename", "rowid"];

function problemsOfColumns({ columns, entities }: ViewDefinition): Problem[] {
  const problems: Problem[] = [];
  const byLowerCase = new Map<string, string>();
  for (const name of Object.keys(columns)) {
    const path = `columns.${name}`;
    const earlier = byLowerCase.get(name.toLowerCase());
    if (earlier !== undefined)
      problems.push({ path, rule: `must differ from ${earlier} (names are not case-sensitive)` });
    if (name.includes("#") || reserved.includes(name.toLowerCase())) {
      problems.push({ path, rule: `must not contain #, and not be ${reserved.join(" or ")}` });
    }
    byLowerCase.set(name.toLowerCase(), name);
  }
  if (entities.length === 0) problems.push({ path: "entities", rule: "must name at least one column" });
  for (const [index, name] of entities.entries()) {
    const path = `entities[${index}]`;
    const type = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (type === undefined) problems.push({ path, value: name, rule: "must be one of the columns" });
    if (type === "float")
      problems.push({ path, value: name, rule: "must not be a float, whose digits may be rounded" });
    if (entities.indexOf(name) < index) problems.push({ path, value: name, rule: "must be named once" });
  }
  return problems;
}

function problemsOfTimes({ columns, entities, eventTime, creationTime }: ViewDefinition): Problem[] {
  const problems: Problem[] = [];
  if (eventTime === undefined) problems.push({ path: "eventTime", rule: "must name a column" });
  for (const [path, name] of Object.entries({ eventTime, creationTime })) {
    if (name === undefined) continue;
    const isTime = Object.hasOwn(columns, name) && columns[name] === "timestamp";
    if (!isTime) problems.push({ path, value: name, rule: "must be one of the columns, of type timestamp" });
    if (entities.includes(name)) problems.push({ path, value: name, rule: "must not be an entity" });
  }
  if (eventTime !== undefined && eventTime === creationTime) {
    problems.push({ path: "creationTime", value: creationTime, rule: "must differ from eventTime, or be left out" });
  }
  return problems;
}

function problemsOfSteps(plan: FeaturePlan, definition: ViewDefinition): Problem[] {
  const columns = columnsOf(definition);
  const problems: Problem[] = [];
  const scopes = createScopes(plan, columns);
  for (const [index, step] of plan.steps.entries()) {
    const scope = scopes.of(step);
    if (!scope) continue;
    const bound = bindStep(step, scope);
    if (bound.statistics.length > 0) {
      const rule = `is fitted on training rows, which a stored view has not; give its values, or put the step into the plan of the job (${step.name})`;
      problems.push({ path: `steps[${index}]`, value: step.kind, rule });
    } else scopes.set(step, bound.compile({}, false).result);
  }
  if (problems.length > 0) return problems;
  const { features } = compileFeatures(definition);
  if (features.length === 0)
    problems.push({ path: "columns", rule: "must have one that is no entity and no time, or a step" });
  const names = features.map(({ name }) => name.toLowerCase());
  for (const name of new Set(names.filter((one, at) => names.indexOf(one) < at))) {
    problems.push({ path: "steps", value: name, rule: "must differ from the names of columns and other features" });
  }
  return problems;
}
