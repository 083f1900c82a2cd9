import { describeMachine, machineLine } from "./machine";

/**
 * Describes the machine when a measurement begins. The returned function prints the result: with `--json` as JSON,
 * otherwise as lines of text under the machine's line. Both show the load average at the beginning and at the end.
 */
export function startReport(json: boolean): (result: object, ...lines: readonly string[]) => void {
  const machine = describeMachine();
  return (result, ...lines) => {
    const { loadAverage: loadAverageAfter } = describeMachine();
    const heading = `${machineLine(machine)} (${loadAverageAfter} at the end)`;
    const text = json
      ? JSON.stringify({ machine, loadAverageAfter, ...result }, null, 2)
      : [heading, ...lines].join("\n");
    process.stdout.write(`${text}\n`);
  };
}
