/** Functions that stop what runs with the bench. */
const open = new Set<() => void>();

/**
 * Stops something if the bench is ended early. Call the returned function after an orderly stop.
 *
 * @param stop synchronous: nothing runs after it
 */
export function stopWhenEnded(stop: () => void): () => void {
  if (open.size === 0) for (const signal of signals) process.on(signal, end);
  open.add(stop);
  return () => {
    open.delete(stop);
    if (open.size === 0) for (const signal of signals) process.off(signal, end);
  };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function end(signal: NodeJS.Signals): void {
  for (const stop of open) {
    open.delete(stop);
    try {
      stop();
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  process.exit(128 + { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 }[signal as (typeof signals)[number]]);
}
