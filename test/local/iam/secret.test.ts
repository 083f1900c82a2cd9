import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeyMaker } from "../../../local/iam/keys";
import { sealingSecret } from "../../../local/iam/secret";

const directory = mkdtempSync(join(tmpdir(), "secret-"));
afterAll(() => rmSync(directory, { recursive: true }));

it("is made once, for its owner alone; one that was cut short by a kill is made anew", () => {
  const data = join(directory, "iam");
  const secret = sealingSecret(data);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(sealingSecret(data)).toBe(secret);
  expect(statSync(join(data, "secret")).mode & 0o077).toBe(0);
  const killed = join(directory, "killed");
  sealingSecret(killed);
  rmSync(join(killed, "secret"));
  writeFileSync(join(killed, "secret.tmp"), "half");
  expect(sealingSecret(killed)).toMatch(/^[0-9a-f]{64}$/);
});

it("seals keys: those of another stack, a wrong pair, and what is no token at all are not read", () => {
  const maker = new KeyMaker("one");
  const session = { role: "r", name: "n" };
  const { accessKeyId, sessionToken } = maker.issue(session);
  expect(maker.read(accessKeyId, sessionToken)).toEqual(session);
  expect(new KeyMaker("one").read(accessKeyId, sessionToken)).toEqual(session);
  expect(new KeyMaker("two").read(accessKeyId, sessionToken)).toBeUndefined();
  expect(maker.read("ASIA0000000000000000", sessionToken)).toBeUndefined();
  for (const token of ["", ".", "a.b", sessionToken.split(".")[0]!])
    expect(maker.read(accessKeyId, token)).toBeUndefined();
});
