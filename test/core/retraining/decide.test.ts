import { type Cause, type CauseRecord, causeIdOf } from "../../../core/retraining/cause";
import { decide, type Facts } from "../../../core/retraining/fire";
import { type RetrainingRule, type RuleState, ruleDefinitionSchema } from "../../../core/retraining/rule";
import { jobInput } from "../../support/fixtures";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const rule = (more: Partial<RetrainingRule> = {}): RetrainingRule => ({
  ...ruleDefinitionSchema.parse({
    name: "on-digits",
    trigger: { type: "dataset", dataset: "digits" },
    job: jobInput(),
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
const state = (more: Partial<RetrainingRule> = {}, lastStartedAt?: string): RuleState => ({
  rule: rule(more),
  starts: 0,
  ...(lastStartedAt ? { lastStartedAt } : {}),
});
const cause: Cause = { type: "dataset", at: at(5), dataset: "digits", version: 2 };
const manual: Cause = { type: "manual", at: at(5), by: "ada", key: "k" };
const drift: Cause = { type: "drift", at: at(5), monitor: "inputs", windowEnd: at(4), severity: "critical" };
const record = (of: CauseRecord["state"]): CauseRecord => ({
  rule: "on-digits",
  id: causeIdOf(cause),
  cause,
  state: of,
  heardAt: at(5),
  changedAt: at(5),
});
const facts = (more: Partial<Facts> = {}): Facts => ({ now: Date.parse(at(10)), openRuns: 0, ...more });

describe("what to do about a cause", () => {
  it.each<[string, Parameters<typeof decide>, string, RegExp?]>([
    ["a new one starts a run", [state(), cause, undefined, facts()], "start"],
    ["one that was submitted is known", [state(), cause, record("submitted"), facts()], "already"],
    ["one that was skipped is known", [state(), cause, record("skipped"), facts()], "already"],
    ["one that failed is known", [state(), cause, record("failed"), facts()], "already"],
    ["one that was begun goes on", [state(), cause, record("started"), facts()], "start"],
    [
      "one that was begun goes on although the rule is disabled since",
      [state({ enabled: false }), cause, record("started"), facts()],
      "start",
    ],
    [
      "a disabled rule skips, with its reason",
      [state({ enabled: false, pausedReason: "labels in doubt" }), cause, undefined, facts()],
      "skip",
      /disabled: labels in doubt/,
    ],
    ["a deleted rule skips", [state({ deletedAt: at(4) }), cause, undefined, facts()], "skip", /deleted at/],
    [
      "what happened before the rule was in force is stale",
      [state({ since: at(6) }), cause, undefined, facts()],
      "skip",
      /before the rule was in force/,
    ],
    ["a cause at the same time is not", [state({ since: at(5) }), cause, undefined, facts()], "start"],
    [
      "nor what a clock of whole seconds puts into that second",
      [state({ since: at(5).replace(".000Z", ".900Z") }), drift, undefined, facts()],
      "start",
    ],
    [
      "what it puts into the second before is",
      [state({ since: new Date(Date.parse(at(5)) + 1_000).toISOString() }), drift, undefined, facts()],
      "skip",
      /before the rule was in force/,
    ],
    [
      "a deprecated version is skipped",
      [state(), cause, undefined, facts({ deprecation: "labels were wrong" })],
      "skip",
      /deprecated: labels were wrong/,
    ],
    [
      "within the cooldown it waits",
      [state({ cooldownMinutes: 60 }, at(1)), cause, undefined, facts()],
      "wait",
      /the next run can start at 2026-01-01T13:01:00.000Z/,
    ],
    ["after the cooldown it starts", [state({ cooldownMinutes: 9 }, at(1)), cause, undefined, facts()], "start"],
    [
      "the first of a rule has nothing to wait for",
      [state({ cooldownMinutes: 60 }), cause, undefined, facts()],
      "start",
    ],
    [
      "with the maximum of open runs it waits",
      [state({ maxConcurrentRuns: 2 }), cause, undefined, facts({ openRuns: 2 })],
      "wait",
      /2 of the rule's runs have not ended, and the rule allows 2 open/,
    ],
    [
      "with fewer open runs it starts",
      [state({ maxConcurrentRuns: 2 }), cause, undefined, facts({ openRuns: 1 })],
      "start",
    ],
    [
      "one that waited is needless once a later one came",
      [state(), cause, record("waiting"), facts({ later: "dataset:digits@3" })],
      "skip",
      /dataset:digits@3 arrived while it waited/,
    ],
    [
      "out of order alone is no reason to skip",
      [state(), cause, undefined, facts({ later: "dataset:digits@3" })],
      "start",
    ],
    [
      "a person's request is independent of the limits",
      [state({ enabled: false, since: at(9), maxConcurrentRuns: 1 }), manual, undefined, facts({ openRuns: 1 })],
      "start",
    ],
  ])("%s", (...[, args, move, reason]) => {
    const decision = decide(...args);
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
