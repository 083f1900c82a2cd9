import { classifyError } from "./failure";
import { type Interruption, pause } from "./interruption";

const pauseMs = 5_000;
/** Long enough for an operator to free a disk or for a service to recover. Then a new attempt continues from the checkpoint. */
const attempts = 120;

/** Retries an action while a service is unavailable or full: a short outage must not end a long training. */
export async function retry<T>(
  action: () => Promise<T>,
  onFailure: (error: unknown) => void,
  interruption: Interruption,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (classifyError(error).kind !== "try-again" || attempt === attempts || interruption.raised) throw error;
      onFailure(error);
      await pause(interruption, pauseMs);
    }
  }
}
