import * as fs from "node:fs";
import * as path from "node:path";
import { runCli } from "../support/cli";
import { temporaryFolder } from "../support/temporary-folder";

describe("verbs of models", () => {
  const directory = temporaryFolder("cli-models");
  /** No stack runs over this data: what is refused before a call is refused by the command line itself. */
  const run = async (...args: string[]) => {
    const result = await runCli(["--json", "--data", path.join(directory, "none"), "models", ...args]);
    const { code, details } = JSON.parse(result.out).error;
    return { status: result.code, code, problems: details?.problems ?? [] };
  };
  const file = (name: string, text: string): string => {
    const at = path.join(directory, name);
    fs.writeFileSync(at, text);
    return at;
  };

  it.each([
    [["traffic", "show", "m"]],
    [["traffic", "decide", "m"]],
    [["policy", "get", "m"]],
    [["route", "m", "unit-1"]],
    [["shadow", "show", "m", "2"]],
    [["outcomes", "m", "--epoch", "3", "a=b=1"]],
  ])("models %j is there", async (args) => {
    expect(await run(...args)).toMatchObject({ status: 1, code: "STACK_NOT_RUNNING" });
  });

  it.each([
    [[], ["--file"]],
    [["--file", "a.json", "--entity", "customer=1"], ["--file"]],
    [["--entity", "customer=1", "--out", "a.csv"], ["--out"]],
    [
      ["--entity", "customer=1", "--unit", "x", "--at", "1d"],
      ["--unit", "--at", "--unit"],
    ],
  ])("predict %j is refused before anything is read", async (args, paths) => {
    const { status, code, problems } = await run("predict", "m", ...args);
    expect([status, code, problems.map(({ path }: { path: string }) => path)]).toEqual([2, "INVALID_INPUT", paths]);
  });

  it.each([
    [["nope"], "ringmaster --help lists the commands"],
    [["models", "nope"], "ringmaster models --help lists the commands"],
    [["models", "policy", "nope"], "ringmaster models policy --help lists the commands"],
    [["models", "policy", "get"], "ringmaster models policy get --help lists the arguments and options"],
  ])("a mistake in %j refers to the nearest help", async (args, help) => {
    const { code, err } = await runCli(args);
    expect([code, err]).toEqual([2, expect.stringContaining(`(${help})`)]);
  });

  it("predict names a file that does not exist as such", async () => {
    const { status, problems } = await run("predict", "m", "--file", "nope.json");
    expect([status, problems]).toEqual([2, [{ path: "--file", value: "nope.json", rule: "must exist" }]]);
  });

  it("predict does not overwrite the rows that it reads", async () => {
    const rows = file("rows.csv", "x\n1\n");
    const link = path.join(directory, "link.csv");
    fs.symlinkSync(rows, link);
    for (const out of [rows, link, `${directory}/./rows.csv`]) {
      const { status, problems } = await run("predict", "m", "--file", rows, "--out", out);
      expect([status, problems]).toEqual([2, [expect.objectContaining({ path: "--out", value: out })]]);
    }
    expect(await run("predict", "m", "--file", rows, "--out", path.join(directory, "other.csv"))).toMatchObject({
      code: "STACK_NOT_RUNNING",
    });
  });

  it.each([
    ["outcomes", [], undefined, "unit=value", "must be given"],
    ["outcomes", ["u=1"], undefined, "--epoch", "must be given"],
    ["outcomes", ["--epoch", "1", "u=one"], undefined, "unit=value", "must be a unit"],
    ["outcomes", ["--epoch", "1"], '{"unit": "a", "value": 1}\n\n{"unit": "a"', "line 3", "must be JSON"],
    [
      "outcomes",
      ["--epoch", "1"],
      '[{"unit": "a", "value": 1}, {"unit": "b", "value": "1"}]',
      "entry 2: value",
      "number",
    ],
    ["outcomes", [], '{"unit": "a", "value": 1}', "--epoch", "unit a has no epoch"],
    ["shadow", [], '{"unit": "a", "served": 1}', "shadow", "is required"],
  ])("%s %j with the file %j is refused before anything is sent", async (verb, args, text, at, rule) => {
    const of = verb === "shadow" ? ["shadow", "log", "m", "2"] : ["outcomes", "m"];
    const { status, code, problems } = await run(
      ...of,
      ...args,
      ...(text === undefined ? [] : ["--file", file("f.jsonl", text)]),
    );
    expect([status, code]).toEqual([2, "INVALID_INPUT"]);
    expect(problems).toEqual([expect.objectContaining({ path: at, rule: expect.stringContaining(rule) })]);
  });

  it("a policy is YAML or JSON, and what `policy get` shows may be given back", async () => {
    const yaml = file("policy.yaml", "rules:\n  thresholds: {accuracy: 0.9}\napprovals: {required: 2}\n");
    expect(await run("policy", "set", "m", yaml)).toMatchObject({ code: "STACK_NOT_RUNNING" });
    const shown = {
      rules: { size: { bytes: 10 } },
      approvals: {},
      revision: 3,
      rulesRevision: 2,
      by: "ada",
      at: "now",
    };
    expect(await run("policy", "set", "m", file("policy.json", JSON.stringify(shown)))).toMatchObject({
      code: "STACK_NOT_RUNNING",
    });
  });

  it.each([
    ["thresholds: {accuracy: 0.9}\n", "thresholds", 1],
    ["rules:\n  threshold: {accuracy: 0.9}\n", "rules.threshold", 2],
  ])("a misspelt member of a policy is refused, not passed over: %j", async (text, at, line) => {
    const { status, code, problems } = await run("policy", "set", "m", file("bad.yaml", text));
    expect([status, code]).toEqual([2, "INVALID_INPUT"]);
    expect(problems).toEqual([expect.objectContaining({ path: at, line })]);
  });

  it("a policy that is not valid is refused with line, path, value and rule", async () => {
    const text = `rules:
  thresholds: { accuracy: high }
  noRegression: { tolerance: 2, rule: exclude }
  latency: { p99Ms: -1 }
  checks: [{ name: b, kind: ftp }]
approvals: { required: 3, approvers: [a] }
`;
    const { status, problems } = await run("policy", "set", "m", file("invalid.yaml", text));
    expect(status).toBe(2);
    expect(problems).toEqual([
      { line: 2, path: "rules.thresholds.accuracy", value: "high", rule: "must be a number" },
      { line: 3, path: "rules.noRegression.tolerance", value: 2, rule: "must be at most 1" },
      { line: 3, path: "rules.noRegression.rule", value: "exclude", rule: 'must be one of "credible", "excluded"' },
      { line: 4, path: "rules.latency.p99Ms", value: -1, rule: "must be more than 0" },
      { line: 5, path: "rules.checks[0].kind", value: "ftp", rule: 'must be one of "http", "command"' },
      {
        line: 6,
        path: "approvals.required",
        value: 3,
        rule: "must be at most the number of approvers: nothing could ever be promoted",
      },
    ]);
    const { problems: others } = await run("policy", "set", "m", file("word.yaml", "rules:\n  noRegression: waive\n"));
    expect(others).toEqual([
      { line: 2, path: "rules.noRegression", value: "waive", rule: 'must be a mapping, or "waived"' },
    ]);
  });
});
