import { createRequire } from "node:module";
import path from "node:path";
import vm from "node:vm";
import type { ObjectStore } from "../../core/ports";
import type { Training } from "../engine/define-training";
import { TrainingHaltedError } from "../loop/errors";

/**
 * Loads a user's training module: a CommonJS bundle whose `@tensorflow/tfjs-*` imports were left outside, and which must get this
 * process's own copies of them (a second instance would not know the first one's tensors).
 *
 * @throws TrainingHaltedError `USER_CODE` where it throws while loading or exports no training.
 */
export async function loadTrainingModule(store: ObjectStore, sha256: string, name: string): Promise<Training> {
  const source = new TextDecoder().decode(await store.getContent(sha256));
  return evaluateModule(source, name);
}

/** @param name of the user's file, for stack traces. */
export function evaluateModule(source: string, name: string): Training {
  const filename = path.resolve(`/ringmaster-module/${name}`);
  const module: { exports: unknown } = { exports: {} };
  try {
    const load = vm.compileFunction(source, ["exports", "require", "module", "__filename", "__dirname"], { filename });
    load(module.exports, createRequire(__filename), module, filename, path.dirname(filename));
  } catch (error) {
    throw userCodeError(`the training module ${name} failed to load: ${messageOf(error)}`, error);
  }
  const exported = module.exports as { readonly default?: unknown; readonly training?: unknown } | null | undefined;
  const training = [exported?.default, exported?.training, exported].find(isTraining);
  if (training === undefined) {
    throw userCodeError(
      `the training module ${name} exports no training; write \`export default defineTraining({ model: … })\``,
      undefined,
    );
  }
  return training;
}

function isTraining(value: unknown): value is Training {
  return typeof (value as Partial<Training> | null | undefined)?.model === "function";
}

function userCodeError(message: string, cause: unknown): TrainingHaltedError {
  return new TrainingHaltedError("USER_CODE", message, undefined, { cause });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
