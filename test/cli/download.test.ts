import { existsSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { downloadFile } from "../../cli/download";
import { sha256 } from "../../core/digest";
import { temporaryFolder } from "../support/temporary-folder";

describe("a download from a store that answers with an error", () => {
  const digest = sha256("content");
  let answer = "";
  const server = http.createServer((_request, response) => response.writeHead(500).end(answer));
  const directory = temporaryFolder("download");
  const file = join(directory, "file");
  beforeAll(() => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening)));
  afterAll(() => server.close());

  it.each([
    ["damage", "<Error><Damage>bytes 0 to 6 do not match</Damage></Error>", "CORRUPT_OBJECT", `cas/sha256/${digest}`],
    ["a failure", "<Error><Code>InternalError</Code></Error>", "DOWNLOAD_FAILED", "the store answered 500"],
  ])("reports %s, and writes no file", async (_what, body, code, message) => {
    answer = body;
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const download = downloadFile(url, digest, file, "--out");
    await expect(download).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
    expect(existsSync(file)).toBe(false);
  });
});
