import { spawn } from "node:child_process";
import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerKeys, stackSecret } from "../../../adapters/files/owner-keys";
import { KeyMaker } from "../../../local/iam/keys";
import { temporaryFolder } from "../../support/temporary-folder";
import { bundle } from "../lambda/bundle";

const directory = temporaryFolder("secret");

it("is created once and readable by its owner alone; one that a kill cut short is created again", () => {
  const data = join(directory, "data");
  const secret = stackSecret(data);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(stackSecret(data)).toBe(secret);
  expect(statSync(join(data, "iam/secret")).mode & 0o077).toBe(0);
  const killed = join(directory, "killed");
  stackSecret(killed);
  rmSync(join(killed, "iam/secret"));
  writeFileSync(join(killed, "iam/secret.tmp"), "half");
  expect(stackSecret(killed)).toMatch(/^[0-9a-f]{64}$/);
});

it("is the same for processes that create it at the same time", async () => {
  const program = `
    const { stackSecret } = require(${JSON.stringify(bundle("adapters/files/owner-keys.ts", directory))});
    process.stdin.once("data", () => {
      const secrets = Array.from({ length: 20 }, (_, i) => stackSecret(${JSON.stringify(directory)} + "/common-" + i));
      process.stdout.write(JSON.stringify(secrets), () => process.exit(0));
    });
    process.stdout.write("ready");
  `;
  const children = [1, 2, 3, 4].map(() =>
    spawn(process.execPath, ["-e", program], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  await Promise.all(children.map(({ stdout }) => new Promise((resolve) => stdout.once("data", resolve))));
  const outputs = children.map(async ({ stdin, stdout }) => {
    stdin.write("go");
    let text = "";
    for await (const chunk of stdout) text += chunk;
    return JSON.parse(text) as readonly string[];
  });
  const [first, ...others] = await Promise.all(outputs);
  for (const secrets of others) expect(secrets).toEqual(first);
  expect(first?.map((_, i) => stackSecret(join(directory, `common-${i}`)))).toEqual(first);
  expect(new Set(first).size).toBe(20);
});

it("is closed to others where an earlier mode was wider, and refused where it is damaged", () => {
  const data = join(directory, "wide");
  const file = join(data, "iam/secret");
  stackSecret(data);
  chmodSync(file, 0o644);
  stackSecret(data);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const damaged of ["", "0".repeat(63), "g".repeat(64)]) {
    writeFileSync(file, damaged);
    expect(() => stackSecret(data)).toThrow(`${file} is damaged`);
  }
});

it("gives each data directory owner keys of its own, the same at every start", () => {
  const one = ownerKeys(join(directory, "one"));
  expect(one).toEqual(ownerKeys(join(directory, "one")));
  expect(one.accessKeyId).toMatch(/^RMOWNER[0-9A-F]{13}$/);
  expect(one.secretAccessKey).toMatch(/^[\w-]{40}$/);
  const other = ownerKeys(join(directory, "other"));
  expect(other.accessKeyId).not.toBe(one.accessKeyId);
  expect(other.secretAccessKey).not.toBe(one.secretAccessKey);
});

it("refuses the keys of another stack, a wrong pair, and texts that are not tokens", () => {
  const maker = new KeyMaker("one");
  const session = { role: "r", name: "n" };
  const { accessKeyId, secretAccessKey, sessionToken } = maker.issue(session);
  expect(maker.read(accessKeyId, sessionToken)).toEqual({ session, secretAccessKey });
  expect(new KeyMaker("one").read(accessKeyId, sessionToken)).toEqual({ session, secretAccessKey });
  expect(new KeyMaker("two").read(accessKeyId, sessionToken)).toBeUndefined();
  expect(maker.read("ASIA0000000000000000", sessionToken)).toBeUndefined();
  for (const token of ["", ".", "a.b", sessionToken.split(".")[0]!])
    expect(maker.read(accessKeyId, token)).toBeUndefined();
});
