import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { configurations } from "../infra/configurations";
import { synthesizePlatform, withoutAssets } from "../infra/synthesized";

const program = process.env["RINGMASTER_PEERS_CFN_LINT"] || "cfn-lint";
const found = spawnSync(program, ["--version"]).status === 0;

interface Finding {
  readonly Rule: { readonly Id: string };
  readonly Message: string;
  readonly Location: { readonly Path: readonly (string | number)[] | null };
  readonly Filename: string;
}

/** Accepted findings of cfn-lint 1.51: the rule, the place, and the reason. Entries without a finding must be removed. */
const exceptions: readonly { readonly rule: string; readonly at: RegExp; readonly reason: string }[] = [
  {
    rule: "W3005",
    at: /DependsOn/,
    reason:
      "CDK lists a function's role next to the role's policies, of which a function must wait as well; the role by itself is implied, and does no harm.",
  },
  {
    rule: "E3002",
    at: /Resources\/Dashboard\w*\/Properties\/Tags/,
    reason:
      "A dashboard's tags are newer than the resource schemas that cfn-lint brings along; CDK's are of the registry.",
  },
];

const title = found ? "cfn-lint" : `cfn-lint (skipped: there is no ${program})`;
(found ? describe : describe.skip)(title, () => {
  let directory: string;
  const used = new Set<object>();
  beforeAll(() => {
    directory = fs.mkdtempSync(path.join(os.tmpdir(), "cfn-lint-"));
  });
  afterAll(() => fs.rmSync(directory, { recursive: true }));

  it("finds neither error nor warning in a platform with everything, but for what has a reason", () => {
    const platform = synthesizePlatform(withoutAssets, configurations["with everything"]);
    const files = platform.app.synth().stacks.map(({ stackName, template }) => {
      const file = path.join(directory, `${stackName}.template.json`);
      fs.writeFileSync(file, JSON.stringify(template));
      return file;
    });
    platform.remove();
    const { stdout, stderr } = spawnSync(program, ["--format", "json", "--", ...files], {
      encoding: "utf8",
      maxBuffer: 64 * 2 ** 20,
    });
    if (stdout === "") throw new Error(stderr);
    const unexplained = (JSON.parse(stdout) as readonly Finding[]).filter(({ Rule, Location }) => {
      const at = (Location.Path ?? []).join("/");
      const exception = exceptions.find((each) => each.rule === Rule.Id && each.at.test(at));
      if (exception) used.add(exception);
      return !exception;
    });
    expect(
      unexplained.map(({ Rule, Message, Location, Filename }) =>
        [Rule.Id, Message, path.basename(Filename), (Location.Path ?? []).join("/")].join(" | "),
      ),
    ).toEqual([]);
  });

  it("finds nothing in the recipe that builds the trainer's image", () => {
    const file = path.join(__dirname, "../../trainer-container/image-build.yaml");
    const { stdout } = spawnSync(program, ["--format", "json", "--", file], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual([]);
  });

  it("needs each of the exceptions", () => {
    expect(exceptions.filter((exception) => !used.has(exception))).toEqual([]);
  });
});
