import { execFile, execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { buildSync } from "esbuild";
import { examples } from "../api/examples";
import type { OpenApiDocument } from "../api/openapi/model";
import { external, root } from "../scripts/build.js";
import { temporaryFolder } from "./support/temporary-folder";

const guide = readFileSync(path.join(root, "CONTRIBUTING.md"), "utf8");
const [, diff = ""] = /```diff\n([\s\S]*?)```/.exec(guide) ?? [];

describe("the worked example of CONTRIBUTING.md", () => {
  const copy = temporaryFolder("ringmaster-contributing");
  beforeAll(() => {
    for (const name of [
      "adapters",
      "api",
      "cli",
      "client",
      "core",
      "local",
      "platform",
      "trainer-container",
      "docs",
      "package.json",
    ]) {
      cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
    }
    symlinkSync(path.join(root, "node_modules"), path.join(copy, "node_modules"));
    // If the lines around the example have changed, create the diff again: git diff -U1.
    execFileSync("git", ["apply", "-"], { cwd: copy, input: diff, stdio: ["pipe", "pipe", "inherit"] });
    const settings = { absWorkingDir: copy, bundle: true, platform: "node", format: "cjs", logLevel: "error" } as const;
    buildSync({
      ...settings,
      entryPoints: { cli: "cli/main.ts", document: "api/openapi/text.ts" },
      outdir: path.join(copy, "dist"),
      external: [...external],
    });
  });

  it("edits three places", () => {
    expect(diff.match(/^\+(?!\+\+)/gm)).toHaveLength(3);
    expect(diff.match(/^@@/gm)).toHaveLength(3);
    expect(diff).not.toMatch(/^-(?!--)/m);
  });

  it("documents the field in requests and responses", () => {
    const print = `process.stdout.write(require("./dist/document.js").openApiText())`;
    const text = execFileSync(process.execPath, ["-e", print], { cwd: copy, encoding: "utf8", maxBuffer: 2 ** 26 });
    const document = JSON.parse(text) as OpenApiDocument;
    for (const name of ["DatasetDraft", "DatasetManifest"]) {
      expect(document.components.schemas[name]).toMatchObject({
        properties: { license: { type: "string", description: "License of the data, e.g. CC-BY-4.0." } },
        required: expect.not.arrayContaining(["license"]),
      });
    }
  });

  it("shows the field in the command line", async () => {
    const manifest = { ...examples.draft, version: 1, createdAt: "2026-01-01T09:30:00.000Z", license: "CC-BY-4.0" };
    const version = { manifest, team: "default" };
    const server = createServer((request, response) => {
      const body = request.url?.includes("/versions") ? { items: [version] } : { version };
      response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const api = `http://127.0.0.1:${port}`;
      const args = [path.join(copy, "dist", "cli.js"), "--api", api, "datasets", "show", "digits"];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: copy });
      expect(stdout).toContain("\nlicense CC-BY-4.0\n");
    } finally {
      server.close();
    }
  });
});
