import { spawn } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const folder = process.env["RINGMASTER_PEERS_WHEELS"] ?? "";
const prefix = "tensorflow-2.21.0-";
const wheel = existsSync(folder) ? readdirSync(folder).find((name) => name.startsWith(prefix)) : undefined;
const script = path.resolve(__dirname, "../../trainer-container/native/wheel-download.js");

const megabitsPerSecond = 30;
const sliceMs = 50;
const sliceBytes = (megabitsPerSecond * 1e6 * sliceMs) / 8_000;

/** Sends a file with a limited rate. */
async function sendSlowly(response: ServerResponse, file: string): Promise<void> {
  response.setHeader("content-length", statSync(file).size);
  const started = performance.now();
  let sent = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: sliceBytes })) {
    response.write(chunk);
    sent += (chunk as Buffer).length;
    const due = started + (sent / sliceBytes) * sliceMs;
    await new Promise((wait) => setTimeout(wait, Math.max(0, due - performance.now())));
  }
  response.end();
}

const title = wheel
  ? "the image's download"
  : "the image's download (skipped: RINGMASTER_PEERS_WHEELS names no folder with the GPU wheel)";
(wheel ? describe : describe.skip)(title, () => {
  let server: Server;
  const target = mkdtempSync(path.join(tmpdir(), "wheel-download-"));
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url!.endsWith(".whl")) return void sendSlowly(response, path.join(folder, wheel!));
      response.setHeader("content-type", "text/html");
      return void response.end(`<!DOCTYPE html><html><body><a href="/files/${wheel}">${wheel}</a></body></html>`);
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  });
  afterAll(async () => {
    await new Promise((closed) => server.close(closed));
    rmSync(target, { recursive: true });
  });

  it("of the GPU wheel finishes at 30 Mbit/s within the image's time limit", async () => {
    const { port } = server.address() as AddressInfo;
    const env = {
      PATH: process.env["PATH"],
      HOME: target,
      PIP_CONFIG_FILE: "/dev/null",
      PIP_NO_CACHE_DIR: "1",
      PIP_INDEX_URL: `http://127.0.0.1:${port}/simple`,
    };
    const started = performance.now();
    const child = spawn(process.execPath, [script, "--library", "gpu", "--to", target, "--timeout", "3600"], { env });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    const code = await new Promise((closed) => child.on("close", closed));
    process.stderr.write(`the download took ${Math.round((performance.now() - started) / 1_000)} s\n`);
    expect([code, errors]).toEqual([0, ""]);
    expect(readdirSync(target)).toContain(wheel);
  }, 900_000);
});
