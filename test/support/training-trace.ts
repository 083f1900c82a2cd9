/** Events of one worker process from its own log. Times are milliseconds since the epoch. */
export interface Trace {
  readonly memberId: string;
  readonly workerIndex: number;
  /** Each generation in which it trained, with the finished steps of its replica at the start. */
  readonly starts: readonly {
    readonly generation: number;
    readonly worldSize: number;
    readonly step: number;
    readonly at: number;
  }[];
  /** Each finished step. */
  readonly steps: readonly { readonly generation: number; readonly step: number; readonly at: number }[];
  /** Killed by the bench. */
  readonly killedAt?: number;
  /** Stopped, or cut off from others: from then on the others may continue without it. */
  readonly disturbedAt?: number;
}

/** The cost of a disturbance. */
export interface Cost {
  /**
   * From the disturbance to the next finished step in a generation without the victims' former one. Undefined if training had
   * not begun, or was finished.
   */
  readonly resumeMs?: number;
  /** Finished by a surviving worker, and repeated by it or by others. */
  readonly lostSteps: number;
  readonly repeatedSteps: number;
}

/**
 * @param disturbedAt time of the disturbance
 * @param victims affected workers, by member id
 */
export function costOf(traces: readonly Trace[], disturbedAt: number, victims: readonly string[]): Cost {
  return { ...resumeOf(traces, disturbedAt, victims), ...lossesOf(traces) };
}

function resumeOf(traces: readonly Trace[], disturbedAt: number, victims: readonly string[]): Pick<Cost, "resumeMs"> {
  const steps = traces.flatMap((trace) => trace.steps);
  const before = steps.filter(({ at }) => at <= disturbedAt);
  if (before.length === 0) return {};
  const former = Math.max(
    0,
    ...traces
      .filter(({ memberId }) => victims.includes(memberId))
      .flatMap(({ starts }) => starts.filter(({ at }) => at <= disturbedAt).map(({ generation }) => generation)),
  );
  const furthest = Math.max(...before.map(({ step }) => step));
  const next = steps
    .filter(({ at, generation, step }) => at > disturbedAt && generation > former && step > furthest)
    .map(({ at }) => at);
  return next.length === 0 ? {} : { resumeMs: Math.min(...next) - disturbedAt };
}

/**
 * Finds steps that a generation repeated although a survivor had finished them. Survivors are the live, undisturbed processes.
 * One that was stopped or cut off counts once it is in the generation.
 */
function lossesOf(traces: readonly Trace[]): Pick<Cost, "lostSteps" | "repeatedSteps"> {
  let lostSteps = 0;
  let repeatedSteps = 0;
  for (const { generation, step, at } of generationsOf(traces)) {
    const stood = (counted: readonly Trace[]) =>
      Math.max(
        0,
        ...counted
          .flatMap(({ steps }) => steps.filter((one) => one.generation < generation && one.at <= at))
          .map((one) => one.step),
      );
    const survivors = traces.filter(
      ({ killedAt, disturbedAt, starts }) =>
        (killedAt === undefined || killedAt > at) &&
        (disturbedAt === undefined || disturbedAt > at || starts.some((start) => start.generation === generation)),
    );
    lostSteps += Math.max(0, stood(survivors) - step);
    repeatedSteps += Math.max(0, stood(traces) - step);
  }
  for (const { steps } of traces) {
    for (let i = 1; i < steps.length; i += 1) lostSteps += Math.max(0, steps[i - 1]!.step + 1 - steps[i]!.step);
  }
  return { lostSteps, repeatedSteps };
}

/** Returns each generation in which training continued: its first step and time. */
function generationsOf(traces: readonly Trace[]) {
  const begun = new Map<number, { generation: number; step: number; at: number }>();
  for (const { generation, step, at } of traces.flatMap(({ starts }) => starts)) {
    const known = begun.get(generation);
    begun.set(generation, {
      generation,
      step: Math.min(step, known?.step ?? step),
      at: Math.min(at, known?.at ?? at),
    });
  }
  return [...begun.values()];
}
