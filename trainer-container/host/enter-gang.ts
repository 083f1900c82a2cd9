import { type Gang, GangCompletedError, type Generation } from "../gang/gang";
import type { Interruption } from "./interruption";

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
