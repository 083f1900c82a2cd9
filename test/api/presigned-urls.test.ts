import { createHash, randomBytes } from "node:crypto";
import { useTestApp } from "../support/app";

const digestOf = (body: string | Uint8Array): string => createHash("sha256").update(body).digest("hex");

describe("a presigned URL", () => {
  const { app } = useTestApp();

  async function post<T>(path: string, body: object, team = "red"): Promise<T & { readonly status: number }> {
    const headers = { "content-type": "application/json", "x-ringmaster-team": team };
    const answer = await app.request(path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, ...(text === "" ? {} : JSON.parse(text)) };
  }

  interface Upload {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
  }
  async function uploadOf(body: string): Promise<Upload> {
    const contents = [{ sha256: digestOf(body), bytes: body.length }];
    const { missing } = await post<{ missing: Upload[] }>("/api/v1/uploads", { contents });
    return missing[0]!;
  }
  const checksumOf = (body: string): string => createHash("sha256").update(body).digest("base64");
  const changed = (url: string, change: (url: URL) => void): string => {
    const copy = new URL(url);
    change(copy);
    return copy.href;
  };

  const body = "the right bytes";
  const other = "the wrong bytes";
  type Attempt = (given: Upload) => readonly [url: string, init: RequestInit];
  it.each<[string, Attempt]>([
    ["other bytes", ({ url, headers }) => [url, { method: "PUT", headers, body: other }]],
    [
      "other bytes with their own checksum",
      ({ url }) => [url, { method: "PUT", headers: { "x-amz-checksum-sha256": checksumOf(other) }, body: other }],
    ],
    ["bytes without a checksum", ({ url }) => [url, { method: "PUT", body: other }]],
    ["another length", ({ url, headers }) => [url, { method: "PUT", headers, body: `${body}.` }]],
    [
      "another digest's key",
      ({ url, headers }) => [url.replace(digestOf(body), digestOf(other)), { method: "PUT", headers, body }],
    ],
    [
      "another team's key",
      ({ url, headers }) => [url.replace("/teams/red/", "/teams/blue/"), { method: "PUT", headers, body }],
    ],
    [
      "a key above the team's",
      ({ url, headers }) => [
        url.replace("/teams/red/cas/", "/teams/red/../blue/cas/"),
        { method: "PUT", headers, body },
      ],
    ],
    ["a read", ({ url, headers }) => [url, { headers }]],
    ["a deletion", ({ url, headers }) => [url, { method: "DELETE", headers }]],
    [
      "a copy",
      ({ url, headers }) => [url, { method: "PUT", headers: { ...headers, "x-amz-copy-source": "/b/k" }, body }],
    ],
    [
      "tags",
      ({ url, headers }) => [
        changed(url, ({ searchParams }) => searchParams.set("tagging", "")),
        { method: "PUT", headers, body },
      ],
    ],
    [
      "a longer time",
      ({ url, headers }) => [
        changed(url, ({ searchParams }) => searchParams.set("X-Amz-Expires", "604800")),
        { method: "PUT", headers, body },
      ],
    ],
    [
      "a later date",
      ({ url, headers }) => [
        changed(url, ({ searchParams }) => searchParams.set("X-Amz-Date", "20990101T000000Z")),
        { method: "PUT", headers, body },
      ],
    ],
    [
      "fewer signed headers",
      ({ url, headers }) => [
        changed(url, ({ searchParams }) => searchParams.set("X-Amz-SignedHeaders", "host")),
        { method: "PUT", headers, body: other },
      ],
    ],
  ])("to upload one content is of no use for %s", async (_, attempt) => {
    const given = await uploadOf(body);
    const [url, init] = attempt(given);
    const { status } = await fetch(url, init);
    expect([status, status >= 400 && status < 500]).toEqual([status, true]);
    expect((await uploadOf(body)).url).toBeDefined();
    const contents = [{ sha256: digestOf(other), bytes: other.length }];
    for (const team of ["red", "blue"]) {
      expect((await post<{ missing: unknown[] }>("/api/v1/uploads", { contents }, team)).missing).toHaveLength(1);
    }
  });

  it("to download one content is of no use for another, another method or another time", async () => {
    for (const text of ["first", "second"]) {
      const { url, headers } = await uploadOf(text);
      expect((await fetch(url, { method: "PUT", headers, body: text })).status).toBe(200);
    }
    const answer = await app.request(`/api/v1/contents/${digestOf("first")}`, {
      headers: { "x-ringmaster-team": "red" },
    });
    const { url } = (await answer.json()) as { readonly url: string };
    expect(await (await fetch(url)).text()).toBe("first");
    const attempts: readonly (readonly [string, RequestInit])[] = [
      [url.replace(digestOf("first"), digestOf("second")), {}],
      [url, { method: "PUT", body: "evil" }],
      [url, { method: "DELETE" }],
      [changed(url, ({ searchParams }) => searchParams.set("X-Amz-Expires", "604800")), {}],
      [changed(url, ({ searchParams }) => searchParams.set("response-content-type", "text/html")), {}],
    ];
    for (const [to, init] of attempts) expect((await fetch(to, init)).status).toBe(403);
  });

  describe("for a part of an upload", () => {
    const root = "/api/2.0/mlflow-artifacts/mpu";
    interface Begun {
      readonly upload_id: string;
      readonly credentials: readonly { readonly url: string; readonly part_number: number }[];
    }
    const begin = () => post<Begun>(`${root}/create/a`, { path: "f", num_parts: 2 });
    const complete = (upload_id: string, etag: string | null, team = "red") =>
      post<{ readonly error_code?: string }>(
        `${root}/complete/a`,
        { path: "f", upload_id, parts: [{ part_number: 1, etag, url: "" }] },
        team,
      );
    const etagOf = async (url: string, part: Uint8Array): Promise<string | null> =>
      (await fetch(url, { method: "PUT", body: part })).headers.get("etag");

    it("is of no use for another part, another upload or another method", async () => {
      const [first, second] = [await begin(), await begin()];
      const { url } = first.credentials[0]!;
      const uploadIdOf = (begun: Begun): string => new URL(begun.credentials[0]!.url).searchParams.get("uploadId")!;
      const attempts: readonly (readonly [string, RequestInit])[] = [
        [changed(url, ({ searchParams }) => searchParams.set("partNumber", "2")), { method: "PUT", body: "x" }],
        [
          changed(url, ({ searchParams }) => searchParams.set("uploadId", uploadIdOf(second))),
          { method: "PUT", body: "x" },
        ],
        [changed(url, ({ searchParams }) => searchParams.delete("partNumber")), { method: "PUT", body: "x" }],
        [url, { method: "POST", body: "<CompleteMultipartUpload/>" }],
        [url, { method: "DELETE" }],
        [url, {}],
      ];
      for (const [to, init] of attempts) expect((await fetch(to, init)).status).toBe(403);
    });

    it("does not let one upload take another's parts, nor one team another's upload", async () => {
      const [first, second] = [await begin(), await begin()];
      const etag = await etagOf(first.credentials[0]!.url, randomBytes(1_000));
      await etagOf(second.credentials[0]!.url, randomBytes(1_000));
      expect((await complete(second.upload_id, etag)).status).toBe(400);
      const theirs = await complete(first.upload_id, etag, "blue");
      const nobodys = await complete(`${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}.x`, etag, "blue");
      expect([theirs.status, theirs.error_code]).toEqual([nobodys.status, nobodys.error_code]);
      expect(theirs.status).toBe(404);
      expect((await post(`${root}/abort/a`, { path: "f", upload_id: first.upload_id }, "blue")).status).toBe(200);
      expect((await complete(first.upload_id, etag)).status).toBe(200);
    });
  });
});
