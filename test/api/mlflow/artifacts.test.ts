import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { objectKeys } from "../../../core/object-keys";
import { localConfig } from "../../../stack/settings";
import { useTestApp } from "../../support/app";
import { flipBit, objectFiles } from "../../support/damage";

const root = "/api/2.0/mlflow-artifacts";
const mebibyte = 1024 * 1024;
const { bucket } = localConfig();

describe("files over MLflow's protocol", () => {
  const { embedded, platform, app, transfers } = useTestApp();
  let run: string;
  beforeAll(async () => {
    const made = await post("/api/2.0/mlflow/runs/create", { experiment_id: "0" });
    run = ((await made.json()) as { run: { info: { run_id: string } } }).run.info.run_id;
  });

  const post = (path: string, body: object, team = "default") =>
    app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-ringmaster-team": team },
      body: JSON.stringify(body),
    });
  const put = (
    path: string,
    body: NonNullable<RequestInit["body"]>,
    headers: Record<string, string> = {},
    from = transfers,
  ) => from.request(`${root}/artifacts/${path}`, { method: "PUT", body, headers, duplex: "half" } as RequestInit);
  const uploadArtifact = (to: typeof app, headers: Record<string, string>, body: string) =>
    to.request(`/api/2.0/mlflow/upload-artifact?run_uuid=${run}&path=signed.txt`, { method: "POST", headers, body });
  const at = (path: string): string => `0/${run}/artifacts/${path}`;
  const stored = (path: string) => platform.artifacts.find({ kind: "run", runId: run }, path);

  it("takes a body far past a function's limit as a stream; a function refuses it and says what to do", async () => {
    const pieces = 12;
    const piece = randomBytes(mebibyte);
    const stream = () => {
      let sent = 0;
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent === pieces) controller.close();
          else controller.enqueue(piece);
          sent += 1;
        },
      });
    };
    expect((await put(at("large.bin"), stream())).status).toBe(200);
    expect(await stored("large.bin")).toMatchObject({ bytes: pieces * mebibyte });
    const refused = await put(at("refused.bin"), stream(), {}, app);
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain("MLFLOW_MULTIPART_UPLOAD_MINIMUM_FILE_SIZE");
    expect(await stored("refused.bin")).toBeUndefined();
  });

  it.each<[string, (headers: Record<string, string>, body: string) => Response | Promise<Response>]>([
    ["a streamed PUT", (headers, body) => put(at("signed.txt"), body, headers)],
    ["a PUT to the function", (headers, body) => put(at("signed.txt"), body, headers, app)],
    ["a streamed upload-artifact", (headers, body) => uploadArtifact(transfers, headers, body)],
    ["upload-artifact to the function", (headers, body) => uploadArtifact(app, headers, body)],
  ])("stores nothing from %s whose body is not the signed one", async (what, send) => {
    const body = `signed for ${what}`;
    const headers = { "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") };
    const before = await stored("signed.txt");
    for (const other of ["", "what came", `${body} `]) {
      const { status } = await send(headers, other);
      expect([other, status]).toEqual([other, 401]);
    }
    expect(await stored("signed.txt")).toEqual(before);
    expect((await send(headers, body)).status).toBe(200);
    expect(await stored("signed.txt")).toMatchObject({ sha256: headers["x-amz-content-sha256"] });
  });

  it("answers 401 to a JSON body that is not the signed one, in the shape of each protocol", async () => {
    const headers = { "content-type": "application/json", "x-amz-content-sha256": "0".repeat(64) };
    const calls = [
      ["/api/2.0/mlflow/runs/create", '{"experiment_id":"0"}'],
      [`${root}/mpu/create/0`, '{"path":"f"}'],
      ["/api/v1/experiments", '{"name":"signed"}'],
    ] as const;
    for (const [path, body] of calls) {
      const answer = await app.request(path, { method: "POST", headers, body });
      expect([path, answer.status]).toEqual([path, 401]);
      expect(await answer.text()).toContain("UNAUTHENTICATED");
    }
  });

  it("sends a function's callers to the store, which calls the file by its name and kind", async () => {
    await put(at("page.html"), "<b>bold</b>");
    const { status, headers } = await app.request(`${root}/artifacts/${at("page.html")}`);
    expect(status).toBe(307);
    const file = await fetch(headers.get("location")!);
    expect([file.status, await file.text()]).toEqual([200, "<b>bold</b>"]);
    expect(file.headers.get("content-type")).toBe("text/html");
    expect(file.headers.get("content-disposition")).toBe("attachment; filename=page.html");
    expect(file.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
  });

  it.each([
    ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
    ["bytes=8-", 206, "89", "bytes 8-9/10"],
    ["bytes=-3", 206, "789", "bytes 7-9/10"],
    ["bytes=5-100", 206, "56789", "bytes 5-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=3-2", 416, "", "bytes */10"],
    ["bytes=0-1,4-5", 200, "0123456789", null],
    ["lines=1-2", 200, "0123456789", null],
  ])("a stream of %s: %i", async (range, status, text, contentRange) => {
    await put(at("ten.txt"), "0123456789");
    const answer = await transfers.request(`${root}/artifacts/${at("ten.txt")}`, { headers: { range } });
    expect([answer.status, await answer.text(), answer.headers.get("content-range")]).toEqual([
      status,
      text,
      contentRange,
    ]);
  });

  it("takes parts that went to the store, gives a URL for the whole, and does both again", async () => {
    const parts = [randomBytes(5 * mebibyte), randomBytes(77)];
    const begun = await post(`${root}/mpu/create/${at("deep")}`, { path: "/home/me/model.bin", num_parts: 2 });
    const { upload_id, credentials } = (await begun.json()) as {
      readonly upload_id: string;
      readonly credentials: readonly { readonly url: string; readonly part_number: number }[];
    };
    const sent = await Promise.all(
      credentials.map(async ({ url, part_number }, i) => {
        const { headers } = await fetch(url, { method: "PUT", body: parts[i] as Uint8Array<ArrayBuffer> });
        return { part_number, etag: headers.get("etag"), url };
      }),
    );
    const done = { path: "/home/me/model.bin", upload_id, parts: sent };
    for (let i = 0; i < 2; i += 1) {
      const completed = await post(`${root}/mpu/complete/${at("deep")}`, done);
      expect([completed.status, await completed.json()]).toEqual([200, {}]);
    }
    const { url, file_size } = (await (await app.request(`${root}/presigned/${at("deep/model.bin")}`)).json()) as {
      readonly url: string;
      readonly file_size: number;
    };
    expect(file_size).toBe(5 * mebibyte + 77);
    const whole = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(whole.equals(Buffer.concat(parts))).toBe(true);
  });

  it("refuses parts that are none, and forgets an upload that was given up", async () => {
    const begun = await post(`${root}/mpu/create/${at("x")}`, { path: "f", num_parts: 1 });
    const { upload_id } = (await begun.json()) as { readonly upload_id: string };
    const parts = [{ part_number: 1, etag: '"0"' }];
    expect((await post(`${root}/mpu/complete/${at("x")}`, { path: "f", upload_id, parts })).status).toBe(400);
    expect((await post(`${root}/mpu/abort/${at("x")}`, { path: "f", upload_id })).status).toBe(200);
    expect((await post(`${root}/mpu/complete/${at("x")}`, { path: "f", upload_id, parts })).status).toBe(404);
  });

  it("says to clients that they may send parts", async () => {
    const info = await (await app.request("/api/3.0/mlflow/server-info")).json();
    expect(info).toMatchObject({ multipart_uploads_enabled: true, multipart_downloads_enabled: true });
  });

  it.each([100, 12 * mebibyte])("answers a damaged file of %i bytes with an error that names it", async (bytes) => {
    const path = at(`damaged-${bytes}.bin`);
    await put(path, randomBytes(bytes));
    const { sha256 } = (await stored(`damaged-${bytes}.bin`))!;
    const key = objectKeys.content(sha256);
    const [file] = objectFiles(join(embedded.directory, "s3"), bucket, `teams/default/${key}`);
    flipBit(file!, Math.min(bytes, 5 * mebibyte) - 1);
    for (const url of [`${root}/artifacts/${path}`, `/get-artifact?run_id=${run}&path=damaged-${bytes}.bin`]) {
      const answer = await transfers.request(url);
      expect(answer.status).toBe(500);
      expect(await answer.text()).toContain(`Object ${key} is corrupt`);
    }
  });
});
