import type { RunPhases } from "../../runs/run-repository";
import type { RunIdentity } from "../run-record";
import type { RunChanges } from "../run-records";

/** Ports for marks: the identity of a run, and its marks. */
export interface MarkPorts {
  readonly identities: { identify(runId: string): Promise<RunIdentity | undefined> };
  readonly changes: Pick<RunChanges, "mark">;
}

/** Writes within two marks: the first for a process that dies after the write, the second for a reader that looked in between. */
export async function marked<T>(
  { identities, changes }: MarkPorts,
  runId: string,
  write: () => Promise<T>,
): Promise<T> {
  const identity = await identities.identify(runId);
  if (!identity) return write();
  await changes.mark(identity);
  const written = await write();
  await changes.mark(identity);
  return written;
}

/** Marks each change of a run's phase. */
export function trackedPhases(all: RunPhases, ports: MarkPorts): RunPhases {
  return {
    ...all,
    goBack: (runId, from, to, at) => marked(ports, runId, () => all.goBack(runId, from, to, at)),
    enterPhase: (runId, phase, at) => marked(ports, runId, () => all.enterPhase(runId, phase, at)),
  };
}
