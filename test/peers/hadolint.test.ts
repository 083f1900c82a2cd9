import { spawnSync } from "node:child_process";
import path from "node:path";

const program = process.env["RINGMASTER_PEERS_HADOLINT"] || "hadolint";
const found = spawnSync(program, ["--version"]).status === 0;

const title = found ? "hadolint" : `hadolint (skipped: there is no ${program})`;
(found ? describe : describe.skip)(title, () => {
  it("finds nothing in the trainer's image, except for what the file itself gives a reason for", () => {
    const file = path.join(__dirname, "../../trainer-container/Dockerfile");
    const { stdout } = spawnSync(program, ["--format", "json", file], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual([]);
  });
});
