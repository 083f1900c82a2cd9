/** The host's notice that this process must end. */
export interface Interruption {
  readonly raised: boolean;
  readonly reason: string | undefined;
  /** Resolves when it is raised. */
  readonly happened: Promise<void>;
  raise(reason: string): void;
}

export function createInterruption(onRaise: (reason: string) => void = () => undefined): Interruption {
  let reason: string | undefined;
  let resolve: () => void = () => undefined;
  const happened = new Promise<void>((settle) => {
    resolve = settle;
  });
  return {
    get raised() {
      return reason !== undefined;
    },
    get reason() {
      return reason;
    },
    happened,
    raise(why) {
      if (reason !== undefined) return;
      reason = why;
      onRaise(why);
      resolve();
    },
  };
}

/** Raises the interruption on SIGTERM, which Batch sends before it stops a container, and on SIGINT, a user's Ctrl-C. */
export function interruptOnSignals(interruption: Interruption, process: NodeJS.EventEmitter): () => void {
  const handlers = (["SIGTERM", "SIGINT"] as const).map((signal) => {
    const handler = () => interruption.raise(signal);
    process.on(signal, handler);
    return () => process.off(signal, handler);
  });
  return () => {
    for (const remove of handlers) remove();
  };
}
