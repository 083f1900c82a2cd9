import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";

const scripts = path.resolve(__dirname, "../../../trainer-container/native");
const { wheels, headers, verifyFile } = require(`${scripts}/digests.js`) as {
  readonly wheels: { readonly sha256: Readonly<Record<string, string>> };
  readonly headers: { readonly package: string; readonly version: string; readonly sha512: string };
  verifyFile(file: string, algorithm: string, expected: string | undefined): Promise<void>;
};

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "native-download-"));
});
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise<void>((closed) => (server ? server.close(() => closed()) : closed()));
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function serve(listener: RequestListener): Promise<string> {
  const started = createServer(listener);
  server = started;
  await new Promise<void>((listening) => started.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${(started.address() as AddressInfo).port}`;
}

const digestOf = (bytes: Buffer, algorithm: string, encoding: "hex" | "base64" = "hex"): string =>
  createHash(algorithm).update(bytes).digest(encoding);

/** Waits without blocking, because this process serves what the command downloads. */
async function outputOf(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(command, args, { env });
  let stdout = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  await new Promise((closed) => child.on("close", closed));
  return stdout;
}

/** A Python with pip, or undefined. */
function findPython(): string | undefined {
  try {
    return execFileSync("python3", ["-c", "import pip, sys; print(sys.executable)"], { encoding: "utf8" }).trim();
  } catch {
    process.stderr.write("skipped: no python3 with pip\n");
    return undefined;
  }
}

/** Writes wheels that pip accepts. Their one file of TensorFlow is not TensorFlow. */
const forgeScript = `
import os, sys, zipfile
for file in sys.argv[1:]:
    project = os.path.basename(file).split("-")[0]
    with zipfile.ZipFile(file, "w") as wheel:
        info = project + "-2.21.0.dist-info/"
        wheel.writestr("tensorflow/libtensorflow_cc.so.2", "forged")
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: " + project + "\\nVersion: 2.21.0\\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: cp312-cp312-any\\n")
        wheel.writestr(info + "RECORD", "")
`;

const python = findPython();
(python ? describe : describe.skip)("trainer-container/native/install.js with a forged wheel", () => {
  let forged: Readonly<Record<string, Buffer>>;
  beforeEach(() => {
    mkdirSync(path.join(folder, "forged"));
    const files = Object.keys(wheels.sha256).map((name) => path.join(folder, "forged", name));
    execFileSync(python!, ["-c", forgeScript, ...files]);
    forged = Object.fromEntries(files.map((file) => [path.basename(file), readFileSync(file)]));
    mkdirSync(path.join(folder, "node", "include", "node"), { recursive: true });
    writeFileSync(path.join(folder, "node", "include", "node", "node_api.h"), "");
  });

  /** Runs the installer. Its compiler only has to answer --version. */
  function install(pip: NodeJS.ProcessEnv): Promise<string> {
    const env = {
      RINGMASTER_NATIVE_DIR: path.join(folder, "native"),
      PATH: path.dirname(python!),
      HOME: folder,
      CXX: process.execPath,
      npm_config_nodedir: path.join(folder, "node"),
      PIP_CONFIG_FILE: os.devNull,
      ...pip,
    };
    return outputOf(process.execPath, [path.join(scripts, "install.js")], env);
  }

  function expectRefusal(output: string): void {
    expect(output).toMatch(/\.whl has the sha256/);
    const [, name = "", found, expected] = /(\S+\.whl) has the sha256 (\w+), expected is (\w+)/.exec(output) ?? [];
    expect({ found, expected }).toEqual({
      found: digestOf(forged[name]!, "sha256"),
      expected: wheels.sha256[name],
    });
    expect(output).toMatch(/^backend: WebAssembly \(no native TensorFlow: /);
    expect(readdirSync(path.join(folder, "native"))).toEqual([]);
  }

  it("refuses the bytes of an index that lies about them, names both digests and unpacks nothing", async () => {
    const origin = await serve((request, response) => {
      const name = path.basename(request.url!);
      if (forged[name]) return response.end(forged[name]);
      const links = Object.entries(forged)
        .filter(([file]) => file.startsWith(`${name.replace("-", "_")}-`))
        .map(([file, bytes]) => `<a href="/files/${file}#sha256=${digestOf(bytes, "sha256")}">${file}</a>`);
      response.setHeader("content-type", "text/html");
      return response.end(`<!DOCTYPE html><html><body>${links.join("")}</body></html>`);
    });
    expectRefusal(await install({ PIP_INDEX_URL: `${origin}/simple` }));
  });
});

(python ? describe : describe.skip)("trainer-container/native/wheel-download.js", () => {
  const script = path.join(scripts, "wheel-download.js");
  const download = async (args: readonly string[], pip: NodeJS.ProcessEnv = {}) => {
    const env = { PATH: path.dirname(python!), HOME: folder, TMPDIR: folder, PIP_CONFIG_FILE: os.devNull, ...pip };
    const child = spawn(process.execPath, [script, ...args], { env });
    let error = "";
    child.stderr.on("data", (chunk) => {
      error += chunk;
    });
    return { code: await new Promise((closed) => child.on("close", closed)), error };
  };
  const name = Object.keys(wheels.sha256).find((file) => file.startsWith("tensorflow-") && file.includes("x86_64"))!;
  const target = () => path.join(folder, "wheels");

  it("ends at its time limit and says so", async () => {
    const origin = await serve((request, response) => {
      if (request.url!.endsWith(".whl")) return void response.writeHead(200, { "content-length": "1000" }).write("PK");
      response.setHeader("content-type", "text/html");
      return response.end(`<!DOCTYPE html><html><body><a href="/files/${name}">${name}</a></body></html>`);
    });
    const { code, error } = await download(["--library", "gpu", "--to", target(), "--timeout", "5"], {
      PIP_INDEX_URL: `${origin}/simple`,
    });
    expect([code, error]).toEqual([1, expect.stringMatching(/^error: python3 did not finish in its time\n$/)]);
  });

  it("refuses a wheel in the folder with other bytes than the pinned ones", async () => {
    mkdirSync(target());
    writeFileSync(path.join(target(), name), "forged");
    const { code, error } = await download(["--library", "gpu", "--to", target()]);
    expect([code, error]).toEqual([
      1,
      `error: ${name} has the sha256 ${digestOf(Buffer.from("forged"), "sha256")}, expected is ${wheels.sha256[name]}\n`,
    ]);
  });

  it.each([
    [["--library", "gpu"], "--to is missing"],
    [["--to", "x", "--timeout", "soon"], '--timeout is "soon", but must be a whole number of seconds'],
  ])("refuses %j", async (args, message) => {
    const { code, error } = await download(args.map((one) => (one === "x" ? target() : one)));
    expect([code, error]).toEqual([1, expect.stringContaining(message)]);
  });
});

describe("the headers' package", () => {
  it("is refused where the registry sends other bytes, whatever digest the registry states", async () => {
    const { package: name, version, sha512 } = headers;
    const source = path.join(folder, "package");
    mkdirSync(source);
    writeFileSync(path.join(source, "package.json"), JSON.stringify({ name, version }));
    execFileSync("tar", ["-czf", path.join(folder, "forged.tgz"), "-C", folder, "package"]);
    const bytes = readFileSync(path.join(folder, "forged.tgz"));
    const origin = await serve((request, response) => {
      if (request.url!.endsWith(".tgz")) return response.end(bytes);
      const dist = { tarball: `${origin}/forged.tgz`, integrity: `sha512-${digestOf(bytes, "sha512", "base64")}` };
      response.setHeader("content-type", "application/json");
      const versions = { [version]: { name, version, dist } };
      return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
    });
    const staging = path.join(folder, "staging");
    mkdirSync(staging);
    const env = { ...process.env, npm_config_registry: `${origin}/`, npm_config_cache: path.join(folder, "npm") };
    const call = `require(process.argv[1]).fetchHeaders(process.argv[2], Date.now() + 60_000).catch((error) => {
      process.stdout.write(error.message);
    })`;
    const args = ["-e", call, path.join(scripts, "headers.js"), staging];
    expect(await outputOf(process.execPath, args, env)).toBe(
      `no headers of Node (${name}-${version}.tgz has the sha512 ${digestOf(bytes, "sha512")}, expected is ${sha512})`,
    );
    expect(readdirSync(staging)).toEqual([`${name}-${version}.tgz`]);
  });
});

describe("verifyFile", () => {
  it("accepts the pinned bytes alone, and no file without a pin", async () => {
    const file = path.join(folder, "a.whl");
    writeFileSync(file, "abc");
    const right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    await expect(verifyFile(file, "sha256", right)).resolves.toBeUndefined();
    writeFileSync(file, "abd");
    await expect(verifyFile(file, "sha256", right)).rejects.toThrow(`expected is ${right}`);
    await expect(verifyFile(file, "sha256", undefined)).rejects.toThrow("a.whl has no pinned digest");
  });
});
