import { type Cause, type CauseRecord, causeIdOf } from "../../../core/triggers/cause";
import { decide, type Facts } from "../../../core/triggers/fire";
import { type Trigger, type TriggerState, triggerDefinitionSchema } from "../../../core/triggers/trigger";
import { jobInput } from "../../support/fixtures";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const trigger = (more: Partial<Trigger> = {}): Trigger => ({
  ...triggerDefinitionSchema.parse({
    name: "on-digits",
    on: { type: "dataset", dataset: "digits" },
    start: { job: jobInput() },
  }),
  team: "default",
  revision: 1,
  enabled: true,
  since: at(0),
  createdBy: "ada",
  createdAt: at(0),
  updatedAt: at(0),
  ...more,
});
const state = (more: Partial<Trigger> = {}, lastStartedAt?: string): TriggerState => ({
  trigger: trigger(more),
  starts: 0,
  ...(lastStartedAt ? { lastStartedAt } : {}),
});
const cause: Cause = { type: "dataset", at: at(5), dataset: "digits", version: 2 };
const manual: Cause = { type: "manual", at: at(5), by: "ada", key: "k" };
const drift: Cause = { type: "drift", at: at(5), monitor: "inputs", windowEnd: at(4), severity: "critical" };
const record = (of: CauseRecord["state"]): CauseRecord => ({
  trigger: "on-digits",
  id: causeIdOf(cause),
  cause,
  state: of,
  heardAt: at(5),
  changedAt: at(5),
});
const facts = (more: Partial<Facts> = {}): Facts => ({ now: Date.parse(at(10)), open: [], ...more });

describe("what to do about a cause", () => {
  type Known = Partial<Facts> & { readonly of?: Cause; readonly known?: CauseRecord["state"] };
  const stale = /before the trigger was in force/;
  const since = (milliseconds: number) => ({ since: new Date(Date.parse(at(5)) + milliseconds).toISOString() });
  const limits = { enabled: false, since: at(9) };
  const open = [{ id: "dataset:digits@1" }];
  const later = "dataset:digits@3";
  it.each<[string, Parameters<typeof state>, Known, string, RegExp?]>([
    ["a new one starts a run", [], {}, "start"],
    ["one that was submitted is known", [], { known: "submitted" }, "already"],
    ["one that was skipped is known", [], { known: "skipped" }, "already"],
    ["one that failed is known", [], { known: "failed" }, "already"],
    ["a disabled rule skips", [{ enabled: false, pausedReason: "a doubt" }], {}, "skip", /disabled: a doubt/],
    ["a deleted rule skips", [{ deletedAt: at(4) }], {}, "skip", /deleted at/],
    ["what happened before the trigger was in force is stale", [{ since: at(6) }], {}, "skip", stale],
    ["a cause at the same time is not", [since(0)], {}, "start"],
    ["nor what a clock of whole seconds puts into that second", [since(900)], { of: drift }, "start"],
    ["what it puts into the second before is", [since(1_000)], { of: drift }, "skip", stale],
    ["a deprecated version is skipped", [], { deprecation: "labels" }, "skip", /deprecated: labels/],
    ["within the cooldown it waits", [{ cooldownMinutes: 60 }, at(1)], {}, "wait", /start at 2026-01-01T13:01:00.000Z/],
    ["after the cooldown it starts", [{ cooldownMinutes: 9 }, at(1)], {}, "start"],
    ["the first of a rule has nothing to wait for", [{ cooldownMinutes: 60 }], {}, "start"],
    ["with an open run it waits", [], { open }, "wait", /run for dataset:digits@1 has not ended/],
    ["behind an older one it waits", [], { ahead: "dataset:digits@1" }, "wait", /@1 is before it in the queue/],
    ["with an open run and skip it is skipped", [{ concurrency: "skip" }], { open }, "skip", /concurrency is skip/],
    ["with an open run and replace it starts", [{ concurrency: "replace" }], { open }, "start"],
    ["with an open run and allow it starts", [{ concurrency: "allow" }], { open }, "start"],
    ["a missed time of a schedule is skipped", [], { missed: "too late" }, "skip", /too late/],
    [
      "one that waited is needless after a later one",
      [],
      { known: "waiting", later },
      "skip",
      /digits@3 arrived while/,
    ],
    ["after a later one that it would replace it is skipped", [], { later }, "skip", /@3 arrived before it/],
    ["a person's request is independent of the limits", [limits], { of: manual, open }, "start"],
  ])("%s", (...[, given, { of = cause, known, ...more }, move, reason]) => {
    const decision = decide(state(...given), of, known && record(known), facts(more));
    expect(decision.move).toBe(move);
    if (reason) expect((decision as { reason: string }).reason).toMatch(reason);
  });
});

it("a cause is named by what happened alone", () => {
  expect(causeIdOf(cause)).toBe("dataset:digits@2");
  expect(causeIdOf({ ...cause, at: at(59) })).toBe("dataset:digits@2");
  expect(causeIdOf({ type: "schedule", at: at(3) })).toBe("schedule:2026-01-01T12:03:00.000Z");
  const drift = { type: "drift", at: at(3), monitor: "inputs", windowEnd: at(1), severity: "critical" } as const;
  expect(causeIdOf(drift)).toBe("drift:inputs@2026-01-01T12:01:00.000Z");
  expect(causeIdOf({ ...drift, at: at(30), severity: "warning" })).toBe(causeIdOf(drift));
  expect(causeIdOf(manual)).not.toBe(causeIdOf({ ...manual, key: "other" }));
});
