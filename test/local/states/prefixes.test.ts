import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { Engine } from "../../../local/states/engine/engine";
import type { Json } from "../../../local/states/json";
import type { LogRecord } from "../../../local/states/store/log-record";
import type { ExecutionSummary } from "../../../local/states/store/records";
import { Store } from "../../../local/states/store/store";
import { rounds } from "../../support/rounds";
import { FakeClock } from "./support/clock";
import { flows } from "./support/flows";
import { FunctionFailure, type Harness, invoker, open } from "./support/harness";

/*
 * The log is the truth: whichever record is the last that reached the disk, the execution goes on from it to the same output.
 */

interface Question {
  readonly token: string;
  readonly value: Json;
}

const handlersWith = (questions: Question[]) => ({
  add: ({ value, n }: { value: unknown; n: number }) => (typeof value === "number" ? value + n : n),
  flaky: ({ failures, retry, value }: { failures: number; retry: number; value: unknown }) =>
    retry < failures ? new FunctionFailure({ errorType: "Flaky" }) : { after: retry, value },
  ask: (question: Question) => {
    questions.push(question);
  },
  fails: () => new FunctionFailure({ errorType: "Always" }),
});

interface Driven {
  advance(ms: number): Promise<void>;
  answer(token: string, output: Json): Promise<unknown>;
  result(): Promise<{ readonly status?: string; readonly output?: string }>;
}

async function finish(driven: Driven, questions: Question[]): Promise<{ status?: string; output?: string }> {
  for (let round = 0; round < 60; round += 1) {
    await driven.advance(200_000);
    const { status, output } = await driven.result();
    if (status !== "RUNNING") return { ...(status && { status }), ...(output !== undefined && { output }) };
    for (const { token, value } of questions.splice(0)) {
      await driven.answer(token, { answer: value }).catch((error: Error) => expect(error.name).toBe("TaskTimedOut"));
    }
  }
  throw new Error("The execution does not end");
}

const overHttp = (states: Harness, executionArn: string): Driven => ({
  advance: states.advance,
  answer: (taskToken, output) => states.client.sendTaskSuccess({ taskToken, output: JSON.stringify(output) }),
  result: () => states.describe(executionArn),
});

async function inProcess(store: Store, id: ExecutionSummary, clock: FakeClock, questions: Question[]): Promise<Driven> {
  const functions = invoker(handlersWith(questions));
  const engine = new Engine(store, clock, functions);
  await (await engine.recover())();
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await engine.idle();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    async advance(ms) {
      const until = clock.now() + ms;
      do await settle();
      while (clock.turn(until));
    },
    answer: async (token, output) => (await engine.byToken(token)).taskSucceeded(token, output),
    result: async () => (await store.execution(id)) ?? {},
  };
}

async function readLog(directory: string): Promise<{ summary: ExecutionSummary; log: readonly LogRecord[] }> {
  const store = await Store.open(directory);
  const [machine] = await store.machines(undefined, 1);
  const summaries: ExecutionSummary[] = [];
  for await (const { summary } of store.executions(machine?.name ?? "")) summaries.push(summary);
  const log: LogRecord[] = [];
  for await (const record of store.log(summaries[0] as ExecutionSummary)) log.push(record);
  await store.close();
  return { summary: summaries[0] as ExecutionSummary, log };
}

const openQuestions = (log: readonly LogRecord[]): Question[] =>
  log.flatMap((record) => {
    if (record.type !== "TaskScheduled" || record.token === undefined) return [];
    const { Payload } = record.parameters as unknown as { readonly Payload: Question };
    return [Payload];
  });

async function resumeFrom(full: ExecutionSummary, log: readonly LogRecord[]) {
  const directory = mkdtempSync(join(tmpdir(), "states-prefix-"));
  const { status: _status, stoppedAt: _stop, output: _output, error: _error, cause: _cause, ...rest } = full;
  const store = await Store.open(directory);
  const event = { source: "", detailType: "", resources: [], detail: {} };
  await store.begin({ ...rest, status: "RUNNING" }, log, event);
  const questions = openQuestions(log);
  const driven = await inProcess(store, full, new FakeClock(log.at(-1)?.at), questions);
  const result = await finish(driven, questions);
  await store.close();
  rmSync(directory, { recursive: true, force: true });
  return result;
}

it("every prefix of a log leads to the same end", async () => {
  await fc.assert(
    fc.asyncProperty(flows, async (definition) => {
      const questions: Question[] = [];
      const states = await open(handlersWith(questions));
      const arn = await states.start(definition, 1, "e");
      const whole = await finish(overHttp(states, arn), questions);
      expect(whole.status).toBe("SUCCEEDED");
      await states.shut();
      const { summary, log } = await readLog(states.directory);
      rmSync(states.directory, { recursive: true, force: true });
      for (let length = 1; length < log.length; length += 1) {
        expect({ length, ...(await resumeFrom(summary, log.slice(0, length))) }).toEqual({ length, ...whole });
      }
    }),
    { seed: 20_300_101, numRuns: rounds(4, 20), endOnFailure: true },
  );
});
