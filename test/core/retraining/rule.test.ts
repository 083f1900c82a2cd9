import { problemsOf } from "../../../core/problems";
import { type RuleDefinitionInput, ruleDefinitionSchema } from "../../../core/retraining/rule";
import { jobInput } from "../../support/fixtures";

const rule = (more: Partial<RuleDefinitionInput> = {}): RuleDefinitionInput => ({
  name: "nightly",
  trigger: { type: "schedule", expression: "cron(0 3 * * ? *)", timeZone: "Europe/Berlin" },
  job: jobInput(),
  ...more,
});

function problems(input: unknown): readonly string[] {
  const parsed = ruleDefinitionSchema.safeParse(input, { reportInput: true });
  return parsed.success ? [] : problemsOf(parsed.error).map(({ path, rule }) => `${path} ${rule}`);
}

describe("a rule", () => {
  it("is read with every default filled in", () => {
    const parsed = ruleDefinitionSchema.parse(rule({ trigger: { type: "schedule", expression: "rate(1 day)" } }));
    expect(parsed).toMatchObject({ trigger: { timeZone: "UTC" }, cooldownMinutes: 0, code: {} });
    expect(parsed.job.hyperparameters.epochs).toBe(5);
    const drift = ruleDefinitionSchema.parse(rule({ trigger: { type: "drift", monitor: "inputs" } }));
    expect(drift.trigger).toEqual({ type: "drift", monitor: "inputs", severity: "warning" });
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
    expect(ruleDefinitionSchema.parse(rule({ code })).code).toEqual(code);
  });

  const scheduled = (expression: string, more: object = {}) =>
    rule({ trigger: { type: "schedule", expression, ...more } });
  const withJob = (more: Parameters<typeof jobInput>[0]) => rule({ job: jobInput(more) });
  const fiveFields =
    /^trigger.expression must be rate.*cron.*: 'cron\(0 3 \* \* \*\)' is not valid: a cron expression has 6 fields, but '0 3 \* \* \*' has 5/;
  const noModel = /^job.registerAs must be given: a rule trains versions of a model; write registerAs: digits$/;
  it.each<[string, RuleDefinitionInput, RegExp]>([
    ["a job that registers no version", withJob({ registerAs: undefined }), noModel],
    ["a name that a schedule could not have", rule({ name: "a".repeat(32) }), /^name must be 1–31 lower-case/],
    ["cron with five fields", scheduled("cron(0 3 * * *)"), fiveFields],
    ["no expression at all", scheduled("daily"), /'daily' is none of rate\(…\), cron\(…\)/],
    ["a single time", scheduled("at(2030-01-01T00:00:00)"), /must be rate.* or cron.*, because a rule fires repeat/],
    ["no zone", scheduled("rate(1 day)", { timeZone: "Mars/Olympus" }), /^trigger.timeZone must be a time zone of/],
    ["a job's version", withJob({ dataset: "digits@3" }), /^job.dataset must not .* write digits or digits@latest/],
    [
      "another dataset",
      rule({ trigger: { type: "dataset", dataset: "letters" } }),
      /^trigger.dataset must be digits, /,
    ],
    ["an unknown kind", rule({ trigger: { type: "moon" } as never }), /^trigger\.type must be one of "dataset", "sch/],
    ["a mistake in the job", rule({ job: { ...jobInput(), seed: -1 } }), /^job.seed must be at least 0/],
  ])("is refused with %s", (_what, input, message) => {
    expect(problems(input).join("\n")).toMatch(message);
  });

  it("may say latest, which is what it means", () => {
    expect(problems(rule({ job: jobInput({ dataset: "digits@latest" }) }))).toEqual([]);
  });
});
