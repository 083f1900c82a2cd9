import { problemsOf } from "../../../core/problems";
import { type TriggerDefinitionInput, triggerDefinitionSchema } from "../../../core/triggers/trigger";
import { jobInput } from "../../support/fixtures";

const trigger = (more: Partial<TriggerDefinitionInput> = {}): TriggerDefinitionInput => ({
  name: "nightly",
  on: { type: "schedule", expression: "cron(0 3 * * ? *)", timeZone: "Europe/Berlin" },
  start: { job: jobInput() },
  ...more,
});

function problems(input: unknown): readonly string[] {
  const parsed = triggerDefinitionSchema.safeParse(input, { reportInput: true });
  return parsed.success ? [] : problemsOf(parsed.error).map(({ path, rule }) => `${path} ${rule}`);
}

describe("a trigger", () => {
  it("is read with every default filled in", () => {
    const parsed = triggerDefinitionSchema.parse(trigger({ on: { type: "schedule", expression: "rate(1 day)" } }));
    expect(parsed).toMatchObject({
      on: { timeZone: "UTC" },
      cooldownMinutes: 0,
      start: { code: {} },
      concurrency: "queue",
      enabled: true,
    });
    expect(parsed.start.job?.hyperparameters.epochs).toBe(5);
    const drift = triggerDefinitionSchema.parse(trigger({ on: { type: "drift", monitor: "inputs" } }));
    expect(drift.on).toEqual({ type: "drift", monitor: "inputs", severity: "warning" });
  });

  it("takes the code of a checkout with a branch and uncommitted changes, as the command line describes it", () => {
    const code = {
      repository: "https://example.com/models.git",
      branch: "main",
      commit: "4be1c2d",
      dirty: true,
      diffSha256: "a".repeat(64),
      moduleSha256: "b".repeat(64),
    };
    expect(triggerDefinitionSchema.parse(trigger({ start: { job: jobInput(), code } })).start.code).toEqual(code);
  });

  const scheduled = (expression: string, more: object = {}) =>
    trigger({ on: { type: "schedule", expression, ...more } });
  const withJob = (more: Parameters<typeof jobInput>[0]) => trigger({ start: { job: jobInput(more) } });
  const fiveFields =
    /^on.expression must be rate.*cron.*: 'cron\(0 3 \* \* \*\)' is not valid: a cron expression has 6 fields, but '0 3 \* \* \*' has 5/;
  const noModel =
    /^start.job.registerAs must be given: a trigger trains versions of a model; write registerAs: digits$/;
  it.each<[string, TriggerDefinitionInput, RegExp]>([
    ["a job that registers no version", withJob({ registerAs: undefined }), noModel],
    ["a name that a schedule could not have", trigger({ name: "a".repeat(32) }), /^name must be 1–31 lower-case/],
    ["cron with five fields", scheduled("cron(0 3 * * *)"), fiveFields],
    ["no expression at all", scheduled("daily"), /'daily' is none of rate\(…\), cron\(…\)/],
    ["no zone", scheduled("rate(1 day)", { timeZone: "Mars/Olympus" }), /^on.timeZone must be a time zone of/],
    [
      "a job's version",
      withJob({ dataset: "digits@3" }),
      /^start.job.dataset must not .* write digits or digits@latest/,
    ],
    ["another dataset", trigger({ on: { type: "dataset", dataset: "letters" } }), /^on.dataset must be digits, /],
    ["an unknown kind", trigger({ on: { type: "moon" } as never }), /^on\.type must be one of "dataset", "sch/],
    [
      "a mistake in the job",
      trigger({ start: { job: { ...jobInput(), seed: -1 } } }),
      /^start.job.seed must be at least 0/,
    ],
  ])("is refused with %s", (_what, input, message) => {
    expect(problems(input).join("\n")).toMatch(message);
  });

  it("may say latest, which is what it means", () => {
    expect(problems(trigger({ start: { job: jobInput({ dataset: "digits@latest" }) } }))).toEqual([]);
  });
});
