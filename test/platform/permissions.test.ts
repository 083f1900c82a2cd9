import fs from "node:fs";
import path from "node:path";
import { functions } from "../../platform/functions";
import {
  evaluationPolicy,
  jobPermissions,
  type Permission,
  runRolePermissions,
  sessionPolicy,
  type World,
} from "../../platform/permissions";
import { functionPermissions } from "../support/permissions";

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

/** `Catalog` GetItem, Query; `objects` … */
function rightsOf(permissions: readonly Permission[]): string {
  const actions = new Map<string, string[]>();
  for (const { resource, actions: more } of permissions) {
    const names = more.map((action) => (resource === "*" ? action : action.split(":")[1]!));
    actions.set(resource, [...(actions.get(resource) ?? []), ...names]);
  }
  return [...actions]
    .map(([resource, names]) => `\`${resource.replace("table/", "")}\`: ${names.join(", ")}`)
    .join("; ");
}

it("docs/security.md says who may do what, as it is", () => {
  const rows = [
    ...functions.map(({ name }) => [`\`${name}\``, functionPermissions[name]] as const),
    ["a trainer's job", jobPermissions] as const,
    ["the run role (narrowed to one run by each session)", runRolePermissions] as const,
  ];
  const table = ["| who | may |", "|---|---|", ...rows.map(([who, may]) => `| ${who} | ${rightsOf(may)} |`)].join("\n");
  const file = path.join(__dirname, "../../docs/security.md");
  const text = fs.readFileSync(file, "utf8");
  const pattern = /(?<=<!-- rights -->\n)[\s\S]*?(?=\n?<!-- \/rights -->)/;
  // UPDATE_DOCS=1 writes it again.
  if (process.env["UPDATE_DOCS"])
    fs.writeFileSync(
      file,
      text.replace(pattern, () => table),
    );
  else expect(pattern.exec(text)?.[0]).toBe(table);
});
