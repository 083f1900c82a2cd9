import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";
import type { ObjectStore } from "../../core/ports";
import type { Task } from "../../core/runs/model-definition";
import { keyText, limits } from "../../core/tracking/shapes";
import type { Training } from "../engine/define-training";
import { describeReturned, describeThrown, withTimeLimit } from "../engine/user-code";
import { TrainingHaltedError } from "../loop/errors";
import { moduleFolder, registerSource } from "./module-source";

export type Warn = (code: string, message: string) => void;

/**
 * Loads a user's CommonJS bundle, which must get `@tensorflow/tfjs-*` from this process.
 * @throws TrainingHaltedError `USER_CODE` if it throws while loading or exports no training
 */
export async function loadTrainingModule(
  store: ObjectStore,
  sha256: string,
  name: string,
  warn?: Warn,
): Promise<Training> {
  const source = new TextDecoder().decode(await store.getContent(sha256));
  return evaluateModule(source, name, warn);
}

/**
 * @param source a bundle, with an inline source map if stack frames must name the user's lines
 * @throws TrainingHaltedError `USER_CODE`
 */
export function evaluateModule(source: string, name: string, warn?: Warn): Training {
  const filename = path.resolve(moduleFolder, name);
  registerSource(filename, name, source);
  // Errors of native TensorFlow are thrown more than ten frames above the user's code.
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, 50);
  const module: { exports: unknown } = { exports: {} };
  try {
    const names = ["exports", "require", "module", "__filename", "__dirname", ...Object.keys(limitedTimers)];
    const load = vm.compileFunction(source, names, { filename });
    const timers = Object.values(limitedTimers);
    const require = createRequire(__filename);
    withTimeLimit(() => load(module.exports, require, module, filename, path.dirname(filename), ...timers));
  } catch (error) {
    throw userCodeError(`the training module ${name} failed to load: it threw ${describeThrown(error)}`, error);
  }
  const exported = module.exports as { readonly default?: unknown; readonly training?: unknown } | null | undefined;
  const training = [exported?.default, exported?.training, exported].find(isTraining);
  if (training === undefined) {
    throw userCodeError(
      `the training module ${name} exports no training; write \`export default defineTraining({ model: … })\``,
      undefined,
    );
  }
  if (training !== exported?.default && training === exported?.training) {
    const message = `the training module ${name} exports its training by the name 'training', but a default export is documented: write \`export default defineTraining({ model: … })\``;
    warn?.("NAMED_EXPORT", message);
  }
  if (training !== exported) checkFields(training, name); // a module may export more than its training
  checkFunctions(training, name);
  return training;
}

const fields: Readonly<Record<keyof Training, true>> = {
  model: true,
  loss: true,
  metrics: true,
  graph: true,
  rematerialise: true,
};

/** @throws TrainingHaltedError `USER_CODE` if a field has no meaning, e.g. `losses` */
function checkFields(training: Training, name: string): void {
  const unknown = Object.keys(training).find((field) => !(field in fields));
  if (unknown === undefined) return;
  const fieldNames = Object.keys(fields).join(", ");
  throw userCodeError(
    `the training module ${name} gives defineTraining the field '${unknown}'; its fields are ${fieldNames}`,
    undefined,
  );
}

/** Metrics that runs track themselves under `train/` and `validation/`. */
const trackedNames = ["loss", "gradient-norm", "learning-rate", "loss-scale", "skipped-steps"] as const;

/** @throws TrainingHaltedError `USER_CODE` for a metric named like the run's own */
export function requireFreeNames({ metrics = {} }: Training, task: Task, name: string): void {
  const tracked = [...trackedNames, ...(task === "regression" ? [] : ["accuracy"])];
  const taken = tracked.find((metric) => Object.hasOwn(metrics, metric));
  if (taken === undefined) return;
  throw userCodeError(
    `the training module ${name} has the metric '${taken}', which the run tracks itself as train/${taken}; rename the metric`,
    undefined,
  );
}

/** Characters of a metric's name. A run records the metric as `validation/NAME`. */
const maxNameLength = limits.key - "validation/".length;

/** @throws TrainingHaltedError `USER_CODE` if `loss` or a metric is no function, or has no possible name */
function checkFunctions({ loss, metrics }: Training, name: string): void {
  const refuse = (what: string, value: unknown, rule: string) =>
    userCodeError(
      `the training module ${name} exports ${describeReturned(value)} as ${what}; it must be ${rule}`,
      undefined,
    );
  if (loss !== undefined && typeof loss !== "function")
    throw refuse("loss", loss, "a function (labels, outputs) => tensor");
  if (metrics === undefined) return;
  if (typeof metrics !== "object" || metrics === null)
    throw refuse("metrics", metrics, "an object of functions by name");
  for (const [metric, value] of Object.entries(metrics)) {
    if (metric === "" || !keyText.safeParse(`validation/${metric}`).success)
      throw userCodeError(
        `the training module ${name} has a metric named ${JSON.stringify(metric)}; a name has 1–${maxNameLength} characters and no control characters`,
        undefined,
      );
    if (typeof value === "function") continue;
    throw refuse(`metrics.${metric}`, value, "a function (labels, outputs) => tensor");
  }
}

function isTraining(value: unknown): value is Training {
  return typeof (value as Partial<Training> | null | undefined)?.model === "function";
}

function userCodeError(message: string, cause: unknown): TrainingHaltedError {
  return new TrainingHaltedError("USER_CODE", message, undefined, { cause });
}

type Callback = (...args: readonly unknown[]) => unknown;
type Timer = (callback: Callback, ...rest: readonly unknown[]) => unknown;

/** Wraps a function that takes a callback: a call of the callback has the time limit of user code. */
function limited(timer: Timer): Timer {
  const wrapped: Timer = (callback, ...rest) =>
    timer(typeof callback === "function" ? (...args) => withTimeLimit(() => callback(...args)) : callback, ...rest);
  // `util.promisify` uses a property.
  return Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(timer));
}

/** The timers of Node that a training module sees as its globals. */
const limitedTimers = {
  setTimeout: limited(setTimeout as Timer),
  setInterval: limited(setInterval as Timer),
  setImmediate: limited(setImmediate as Timer),
  queueMicrotask: limited(queueMicrotask as Timer),
} as const;
