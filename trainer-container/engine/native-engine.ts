import type { Engine, EngineOptions } from "./engine";
import { BackendUnavailableError } from "./errors";

export async function createNativeEngine(_options: EngineOptions): Promise<Engine> {
  throw new BackendUnavailableError("The native binding is not installed; run 'node scripts/native.js'.");
}
