import { evaluationPolicy, sessionPolicy, type World } from "../../platform/permissions";

/** The longest names that there are. */
const world: World = {
  partition: "aws-us-gov",
  region: "ap-southeast-4",
  account: "123456789012",
  prefix: "p".repeat(24),
  bucket: `${"p".repeat(24)}-data-123456789012-ap-southeast-4`,
};

it("of the longest names fits into the 2,048 characters that STS takes", () => {
  const text = JSON.stringify(sessionPolicy({ team: "t".repeat(32), runId: `run-${"f".repeat(16)}` }, world));
  expect(text.length).toBeLessThanOrEqual(2_048);
});

it("names one run and one team, and no action by a wildcard", () => {
  const run = { team: "vision", runId: "run-1" };
  const { Statement } = sessionPolicy(run, { ...world, bucket: "b" });
  for (const { Effect, Action } of Statement) {
    expect(Effect).toBe("Allow");
    expect(JSON.stringify(Action)).not.toContain("*");
  }
  const objects = Statement.flatMap(({ Resource }) => [Resource].flat()).filter((arn) => arn.includes(":s3:::b/"));
  expect([...new Set(objects)].sort()).toEqual([
    "arn:aws-us-gov:s3:::b/teams/vision/cas/sha256/*",
    "arn:aws-us-gov:s3:::b/teams/vision/features/*",
    // The trainers of a restored run read the tensors of its source.
    "arn:aws-us-gov:s3:::b/teams/vision/runs/*/tensors/*",
    "arn:aws-us-gov:s3:::b/teams/vision/runs/run-1/*",
    "arn:aws-us-gov:s3:::b/teams/vision/runs/run-1/tensors/*",
  ]);
});

it("of an evaluation reads content, features and its own task, and writes only the evaluation", () => {
  const { Statement } = evaluationPolicy({ team: "vision", runId: "run-1" }, { ...world, bucket: "b" });
  const arn = (key: string) => `arn:aws-us-gov:s3:::b/teams/vision/${key}`;
  expect(Statement.map(({ Action, Resource }) => [Action, Resource])).toEqual([
    ["s3:GetObject", [arn("evaluations/run-1/*"), arn("cas/sha256/*"), arn("features/*")]],
    ["s3:PutObject", arn("evaluations/run-1/*")],
  ]);
});
