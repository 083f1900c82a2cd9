import { InvalidInputError, type Problem } from "../errors";
import { problemsOf } from "../problems";
import { jobSchema } from "../runs/job";
import {
  kindOf,
  type PipelineDefinition,
  pipelineDefinition,
  pipelineLimits,
  type StepDefinition,
  type ValueType,
} from "./definition";
import { ExpressionError, expressionsIn, referencesOf } from "./expressions";
import type { PipelineRun } from "./records";

/** A definition that was checked. `after` of each step names all its parents. */
export interface Plan extends PipelineDefinition {}

/** The fields of a training's output, for the check of references. */
const trainingOutput: Readonly<Record<string, ValueType>> = {
  runId: "string",
  status: "string",
  decision: "string",
  passed: "boolean",
  model: "string",
  version: "integer",
  metrics: "object",
  weights: "object",
};

/** Rules of a deployment: each returns the rule that a value breaks, if any. */
export interface DeploymentRules {
  /** For the ARN of a function. */
  readonly function?: (arn: string) => string | undefined;
  /** For the id of an operation of the API. */
  readonly operation?: (id: string) => string | undefined;
}

/**
 * Makes the canonical plan of a definition. Pure.
 * @throws InvalidInputError with every problem at once
 */
export function planOf(input: unknown, rules: DeploymentRules = {}): Plan {
  const bytes = Buffer.byteLength(JSON.stringify(input) ?? "");
  if (bytes > pipelineLimits.bytes)
    throw refused([{ path: "", rule: `must have at most ${pipelineLimits.bytes} bytes as JSON; it has ${bytes}` }]);
  const parsed = pipelineDefinition.safeParse(input, { reportInput: true });
  if (!parsed.success) throw refused(problemsOf(parsed.error));
  const definition: PipelineDefinition = parsed.data;
  const all = stepsOf(definition);
  const problems: Problem[] = [];
  if (all.size > pipelineLimits.steps)
    problems.push({
      path: "steps",
      rule: `must have at most ${pipelineLimits.steps} steps; it has ${all.size}. Use forEach, or a step of kind pipeline`,
    });
  for (const name of Object.keys(definition.finally)) {
    if (Object.hasOwn(definition.steps, name))
      problems.push({ path: `finally.${name}`, rule: "must not have the name of another step" });
  }
  for (const [name, { type, enum: allowed, default: value }] of Object.entries(definition.parameters)) {
    for (const each of [...(allowed ?? []), ...(value === undefined ? [] : [value])]) {
      if (!isOfType(each, type))
        problems.push({ path: `parameters.${name}`, value: each, rule: `must be of type ${type}` });
    }
    if (value !== undefined && allowed && !isOneOf(value, allowed))
      problems.push({ path: `parameters.${name}.default`, value, rule: "must be one of its enum" });
  }
  if (problems.length > 0) throw refused(problems);

  const withParents = (section: "steps" | "finally") =>
    Object.fromEntries(
      Object.entries(definition[section]).map(([name, step]) => {
        const parents = checkStep(`${section}.${name}`, name, step, definition, all, section, problems);
        const refuse = (field: string, value: string, rule: string | undefined) => {
          if (rule !== undefined) problems.push({ path: `${section}.${name}.${field}`, value, rule });
        };
        if (typeof step.function === "string") refuse("function", step.function, rules.function?.(step.function));
        if (step.api) refuse("api.operation", step.api.operation, rules.operation?.(step.api.operation));
        return [name, { ...step, after: parents }];
      }),
    );
  const plan: Plan = { ...definition, steps: withParents("steps"), finally: withParents("finally") };
  problems.push(...cycles(plan));
  if (problems.length > 0) throw refused(problems);
  return plan;
}

const refused = (problems: readonly Problem[]) => new InvalidInputError("the pipeline is not valid", problems);

export const stepsOf = ({
  steps,
  finally: last,
}: Pick<PipelineDefinition, "steps" | "finally">): ReadonlyMap<string, StepDefinition> =>
  new Map([...Object.entries(steps), ...Object.entries(last)]);

/** @returns the names of all parents, sorted */
function checkStep(
  path: string,
  name: string,
  step: StepDefinition,
  { parameters, steps }: PipelineDefinition,
  all: ReadonlyMap<string, StepDefinition>,
  section: "steps" | "finally",
  problems: Problem[],
): readonly string[] {
  const { when, forEach, input, environment } = step;
  const parents = new Set<string>();
  const add = (at: string, parent: string): void => {
    if (parent === name) problems.push({ path: at, value: parent, rule: "must not be the step itself" });
    else if (!all.has(parent)) problems.push({ path: at, value: parent, rule: "must be a step of the pipeline" });
    else if (section === "steps" && !Object.hasOwn(steps, parent))
      problems.push({ path: at, value: parent, rule: "must not be a step of finally" });
    // A step of finally begins after all others.
    else if (section === "steps" || !Object.hasOwn(steps, parent)) parents.add(parent);
  };
  for (const [i, parent] of step.after?.entries() ?? []) add(`${path}.after[${i}]`, parent);
  if (kindOf(step) !== "function" && input !== undefined)
    problems.push({ path: `${path}.input`, rule: "is only for a function" });
  for (const [field, text] of Object.entries({ when, forEach })) {
    if (typeof text === "string" && !/^\$\{.*\}$/s.test(text))
      problems.push({ path: `${path}.${field}`, value: text, rule: `must be one expression: \${…}` });
  }
  const { train, api, pipeline, fail } = step;
  const templates = { when, forEach, input, environment, train, api, pipeline, fail };
  let expressions: ReturnType<typeof expressionsIn> = [];
  try {
    expressions = expressionsIn(templates, path);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    problems.push({ path, rule: `has an expression that ${error.message}` });
  }
  for (const { path: at, text } of expressions) {
    try {
      for (const { root, name: referenced, field } of referencesOf(text)) {
        const refuse = (rule: string) => problems.push({ path: at, value: `\${${text}}`, rule });
        if (root === "parameters" && referenced !== undefined && !Object.hasOwn(parameters, referenced))
          refuse(`must name a parameter of the pipeline; ${referenced} is none`);
        if (
          (root === "item" || root === "index") &&
          (forEach === undefined || at.startsWith(`${path}.forEach`) || at.startsWith(`${path}.when`))
        )
          refuse(`can read ${root} only in a step with forEach, and not in when`);
        if (root !== "steps") continue;
        if (referenced === undefined) refuse("must name a step: steps.NAME");
        else {
          add(at, referenced);
          const parent = all.get(referenced);
          const fields =
            parent && parent.forEach === undefined ? (parent.output ?? (parent.train && trainingOutput)) : undefined;
          if (fields && field !== undefined && !Object.hasOwn(fields, field))
            refuse(`must name a field of the output of ${referenced}: ${Object.keys(fields).join(", ")}`);
        }
      }
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      problems.push({ path: at, value: `\${${text}}`, rule: error.message });
    }
  }
  if (train && !expressions.some(({ path: at }) => at.startsWith(`${path}.train`))) {
    const job = jobSchema.safeParse(train, { reportInput: true });
    if (!job.success)
      problems.push(...problemsOf(job.error).map((problem) => ({ ...problem, path: `${path}.train.${problem.path}` })));
  }
  return [...parents].sort();
}

/** Returns a problem for the first cycle, if there is one (Kahn's algorithm). */
function cycles(plan: Plan): readonly Problem[] {
  const all = stepsOf(plan);
  const children = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, { after = [] }] of all) {
    open.set(name, after.length);
    for (const parent of after) children.set(parent, [...(children.get(parent) ?? []), name]);
  }
  const ready = [...open].filter(([, parents]) => parents === 0).map(([name]) => name);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    open.delete(name);
    for (const child of children.get(name) ?? []) {
      const left = open.get(child)! - 1;
      open.set(child, left);
      if (left === 0) ready.push(child);
    }
  }
  let [name] = open.keys();
  if (name === undefined) return [];
  const path: string[] = [];
  while (!path.includes(name!)) {
    path.push(name!);
    name = all.get(name!)!.after!.find((parent) => open.has(parent));
  }
  const cycle = [...path.slice(path.indexOf(name!)), name!].reverse();
  return [{ path: `steps.${name}`, rule: `must not depend on itself: ${cycle.slice(0, 20).join(" → ")}` }];
}

export function isOfType(value: unknown, type: ValueType): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

const isOneOf = (value: unknown, allowed: readonly unknown[]): boolean =>
  allowed.some((each) => JSON.stringify(each) === JSON.stringify(value));

/** Returns a run's parameters with defaults. @throws InvalidInputError */
export function parametersOf(
  { parameters, name }: Plan,
  values: Readonly<Record<string, unknown>>,
): PipelineRun["parameters"] {
  const problems: Problem[] = Object.keys(values)
    .filter((each) => !Object.hasOwn(parameters, each))
    .map((each) => ({
      path: each,
      rule: `must be a parameter of ${name}: ${Object.keys(parameters).join(", ") || "it has none"}`,
    }));
  const result: Record<string, unknown> = {};
  for (const [each, { type, default: usual, enum: allowed }] of Object.entries(parameters)) {
    const value = Object.hasOwn(values, each) ? values[each] : usual;
    if (value === undefined) problems.push({ path: each, rule: "must be given: it has no default" });
    else if (!isOfType(value, type)) problems.push({ path: each, value, rule: `must be of type ${type}` });
    else if (allowed && !isOneOf(value, allowed))
      problems.push({ path: each, value, rule: `must be one of ${JSON.stringify(allowed)}` });
    else result[each] = value;
  }
  if (problems.length > 0) throw new InvalidInputError("the parameters are not valid", problems);
  return result as PipelineRun["parameters"];
}
