/** Ports and settings of a training process, and its way into the gang. */
import type { Logger } from "../../core/logging";
import type { Clock, ObjectStore } from "../../core/ports";
import type { TrainingTask } from "../../core/runs/training-task";
import type { TrainerConfig } from "../../platform/config";
import type { StateUploader } from "../checkpoint/upload-protocol";
import type { Engine, EngineOptions } from "../engine/engine";
import { type Gang, GangCompletedError, type Generation } from "../gang/gang";
import type { Telemetry } from "../telemetry/telemetry";
import type { Interruption } from "./interruption";

export interface TrainerDependencies {
  readonly config: TrainerConfig;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly interruption: Interruption;
  /** Sends checkpoints' copies. Default: on this thread. */
  readonly upload?: StateUploader;
  readonly createEngine: (options: EngineOptions) => Promise<Engine>;
  /** Trains by a container's command. */
  readonly trainContainer: (own: TrainerDependencies, task: TrainingTask, createGang: () => Gang) => Promise<number>;
  readonly createGang: (task: TrainingTask) => Gang;
  /** Tests whether the run has ended, as after a cancellation. Nothing of it is stored then. Default: it has not. */
  readonly hasEnded?: () => Promise<boolean>;
  /** Rejects on an uncaught exception, or on a loop of user code without an end. */
  readonly uncaught?: Promise<never>;
  /** Called before a user's module is loaded. */
  readonly watchLoops?: () => void;
}

/** The host is about to go away while this worker waits for a generation. */
export class InterruptedWhileWaitingError extends Error {
  constructor(readonly reason: string) {
    super(`interrupted (${reason}) while waiting for a generation`);
    this.name = "InterruptedWhileWaitingError";
  }
}

/** Wraps `gang.enter`: it also ends at an interruption, and resolves to undefined if the run is complete. */
export function createEntrance(gang: Gang, interruption: Interruption) {
  return async (finishedSteps: number): Promise<Generation | undefined> => {
    if (interruption.raised) throw new InterruptedWhileWaitingError(interruption.reason ?? "unknown");
    const entering = gang.enter(finishedSteps);
    const remove = interruption.onceRaised(() => void gang.leave("interrupted").catch(() => undefined));
    try {
      return await entering;
    } catch (error) {
      if (error instanceof GangCompletedError) return undefined;
      if (interruption.raised) throw new InterruptedWhileWaitingError(interruption.reason ?? "unknown");
      throw error;
    } finally {
      remove();
    }
  };
}
