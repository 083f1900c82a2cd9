import { statusEvent } from "./engine/status-event";
import type { ExecutionSummary } from "./store/records";

/*
 * The keys of the store are in `store/store.ts`. An execution whose log has lost a record cannot continue, because its
 * progress is unknown. It is ended as failed, with its event, so that waiting callers are notified.
 */

const error = "States.Runtime";
const logKey = /^l\/(.*\/.*)\/(\d{8})$/;

/** Describes the record of a key. */
export function describeStatesKey(key: string): string {
  const [kind = "", machine = "", second = "", third = ""] = key.split("/");
  const execution = (name: string) => `execution ${name} of state machine ${machine}`;
  if (kind === "m") return `state machine ${machine}`;
  if (kind === "l") return `record ${Number(third)} of the log of ${execution(second)}`;
  if (kind === "s") return `the start time of ${execution(third)}`;
  if (kind === "o") return `the event that ${execution(second)} is ${third}`;
  return kind === "r" ? `the mark that ${execution(second)} is running` : execution(second);
}

/**
 * Makes the rows consistent, and returns a line for each changed execution.
 *
 * @param rows JSON by key
 * @param affected keys of lost records
 */
export function mendStates(rows: Map<string, string>, affected: Iterable<string>, now: number): readonly string[] {
  const damaged = new Set([...affected].flatMap((key) => logKey.exec(key)?.[1] ?? []));
  const logs = new Map<string, number[]>();
  for (const key of rows.keys()) {
    const [, execution, seq] = logKey.exec(key) ?? [];
    if (execution !== undefined) logs.set(execution, [...(logs.get(execution) ?? []), Number(seq)]);
  }
  const lines: string[] = [];
  for (const [execution, numbers] of logs) {
    if (rows.has(`x/${execution}`)) continue;
    for (const number of numbers) rows.delete(`l/${execution}/${String(number).padStart(8, "0")}`);
    lines.push(`execution ${execution}: its summary is lost, so that it is removed`);
  }
  for (const [key, text] of [...rows].filter(([name]) => name.startsWith("x/"))) {
    const execution = key.slice(2);
    const summary = JSON.parse(text) as ExecutionSummary;
    rows.set(`s/${summary.machine}/${String(summary.startedAt).padStart(15, "0")}/${summary.name}`, '""');
    if (summary.status !== "RUNNING") {
      rows.delete(`r/${execution}`);
      continue;
    }
    rows.set(`r/${execution}`, '""');
    const numbers = (logs.get(execution) ?? []).sort((a, b) => a - b);
    const whole = numbers.length > 0 && numbers.every((number, i) => number === i + 1);
    if (whole && !damaged.has(execution)) continue;
    const cause = "Records of its log were damaged, and it was ended by `ringmaster repair`";
    const ended: ExecutionSummary = { ...summary, status: "FAILED", stoppedAt: now, error, cause };
    rows.set(key, JSON.stringify(ended));
    rows.delete(`r/${execution}`);
    rows.set(`o/${execution}/FAILED`, JSON.stringify(statusEvent(ended)));
    lines.push(`execution ${execution}: records of its log are lost, so that it is ended as FAILED`);
  }
  return lines;
}
