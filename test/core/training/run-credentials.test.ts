import type { Run } from "../../../core/runs/shapes";
import { issueRunCredentials } from "../../../core/training/run-credentials";
import { runEnvironment } from "../../../core/training/submit";
import { runOf } from "../../support/fixtures";

const digest = `sha256:${"ab".repeat(32)}`;
const named = `ecr/trainer:1.2@${digest}`;
const byDigest = { imageDigest: digest };
const lock = { lockfileSha256: "c0" };
const built = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/cdk-assets:6dbbf4b53e1ad9d1";

it.each([
  ["nothing is known", undefined, undefined, undefined],
  ["its submitter alone tells of it", lock, undefined, lock],
  ["an image that the deployment built: no digest", undefined, built, { image: built }],
  ["an image by its digest", undefined, named, { image: named, ...byDigest }],
  ["both: the deployment knows better", { ...lock, imageDigest: "x" }, named, { ...lock, image: named, ...byDigest }],
  ["its submitter's digest of an image by its tag", byDigest, built, { image: built, ...byDigest }],
  ["the run that it follows had another image", { image: "trainer:1" }, "trainer:2", { image: "trainer:2" }],
  ["the run that it follows had one, and here is none", { image: "ecr/trainer:1" }, undefined, undefined],
])("%s", (_what, given, image, made) => {
  expect(runEnvironment(given, image)).toEqual(made);
});

const credentials = {
  accessKeyId: "a",
  secretAccessKey: "s",
  sessionToken: "t",
  expiresAt: "2026-01-01T01:00:00.000Z",
};

function dependencies(run: Run | undefined) {
  const opened: string[] = [];
  return {
    opened,
    keys: { keyOf: async () => "key", find: async (runId: string) => (runId === "run-1" ? "key" : undefined) },
    sessions: {
      open: async (opens: Run) => {
        opened.push(opens.runId);
        return credentials;
      },
    },
    findRun: async () => run,
  };
}

it.each(["queued", "running"] as const)("gives a session to who has the key of a run that is %s", async (status) => {
  const given = dependencies(runOf("run-1", { status }));
  expect(await issueRunCredentials(given, { runId: "run-1", runKey: "key" })).toBe(credentials);
  expect(given.opened).toEqual(["run-1"]);
});

it.each<[string, unknown, Run["status"] | undefined, string]>([
  ["another key", { runId: "run-1", runKey: "another" }, "running", "RUN_KEY_REFUSED"],
  ["a run without a key", { runId: "run-2", runKey: "key" }, "running", "RUN_KEY_REFUSED"],
  ["a run that is not there", { runId: "run-1", runKey: "key" }, undefined, "RUN_NOT_FOUND"],
  ["a run that has completed", { runId: "run-1", runKey: "key" }, "completed", "RUN_ENDED"],
  ["a run that was killed", { runId: "run-1", runKey: "key" }, "killed", "RUN_ENDED"],
  ["no key", { runId: "run-1" }, "running", "INVALID_INPUT"],
  ["nothing", undefined, "running", "INVALID_INPUT"],
])("gives nothing for %s", async (_what, input, status, code) => {
  const given = dependencies(status && runOf("run-1", { status }));
  await expect(issueRunCredentials(given, input)).rejects.toMatchObject({ code });
  expect(given.opened).toEqual([]);
});

it("never repeats a key in what it says", async () => {
  const attempts = [
    { runId: "run-1", runKey: "a secret" },
    { runId: 1, runKey: "a secret" },
    { runId: "run-1", runKey: `${"long ".repeat(60)} a secret` },
  ];
  for (const attempt of attempts) {
    const error = await issueRunCredentials(dependencies(runOf("run-1")), attempt).catch((refusal) => refusal);
    expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain("a secret");
  }
});
