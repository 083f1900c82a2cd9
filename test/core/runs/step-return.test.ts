import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RingmasterError } from "../../../core/errors";
import { type Phase, phases } from "../../../core/runs/run-states";
import { returnToEarlierStep, waysBack } from "../../../core/runs/step";

interface State {
  readonly Next?: string;
  readonly Choices?: readonly { readonly Next: string }[];
  readonly Default?: string;
  readonly Catch?: readonly { readonly ErrorEquals: readonly string[]; readonly Next: string }[];
}

const file = join(__dirname, "../../../state-machines/training-run.asl.json");
const { States } = JSON.parse(readFileSync(file, "utf8")) as { readonly States: Readonly<Record<string, State>> };
const isPhase = (name: string): name is Phase => (phases as readonly string[]).includes(name);
const order = (name: string) => (phases as readonly string[]).indexOf(name);

/** Catches of a run's states that lead from a phase to an earlier one. Approvals have no phases. */
const catchesBack = Object.entries(States).flatMap(([from, { Catch = [] }]) =>
  Catch.filter(({ Next }) => isPhase(from) && isPhase(Next) && order(Next) <= order(from)).flatMap(
    ({ ErrorEquals, Next }) => ErrorEquals.map((code) => ({ from, code, to: Next })),
  ),
);

describe("ways back to an earlier step", () => {
  it("are the state machine's and the record's alike", () => {
    const sorted = (ways: readonly { readonly from: string; readonly code: string; readonly to: string }[]) =>
      ways.map(({ from, code, to }) => `${from} ${code} ${to}`).sort();
    expect(sorted(catchesBack)).toEqual(sorted(waysBack));
    expect(catchesBack.length).toBeGreaterThan(0);
  });

  it.each(waysBack)("$from by $code comes before whatever catches all", ({ from, code }) => {
    const { Catch = [] } = States[from]!;
    const first = Catch.findIndex(({ ErrorEquals }) => ErrorEquals.includes("States.ALL"));
    expect(Catch.findIndex(({ ErrorEquals }) => ErrorEquals.includes(code))).toBeLessThan(first);
  });

  it("lead nowhere else: what follows upon a phase by itself is a later one, or none", () => {
    for (const [from, { Next, Default, Choices = [] }] of Object.entries(States)) {
      if (!isPhase(from)) continue;
      const following = [Next, Default, ...Choices.map((choice) => choice.Next)];
      for (const to of following) if (to !== undefined && isPhase(to)) expect(order(to)).toBeGreaterThan(order(from));
    }
  });

  it("are taken for an error that leads back, which is thrown on, and for no other", async () => {
    const taken: unknown[] = [];
    const runs = { goBack: async (...way: unknown[]) => void taken.push(way) };
    const ports = { runs, clock: { now: () => 0 } } as unknown as Parameters<typeof returnToEarlierStep>[0];
    const failing = (error: Error) => returnToEarlierStep(ports, "run-1", "Gate", () => Promise.reject(error));
    const changed = new RingmasterError("another is in production", { code: "CHAMPION_CHANGED", httpStatus: 409 });
    await expect(failing(changed)).rejects.toBe(changed);
    await expect(failing(new Error("another"))).rejects.toThrow("another");
    expect(taken).toEqual([["run-1", "Gate", "Evaluate", "1970-01-01T00:00:00.000Z"]]);
  });
});
