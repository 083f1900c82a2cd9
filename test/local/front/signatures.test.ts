import { createHash, createHmac } from "node:crypto";
import { join } from "node:path";
import { S3 } from "@aws-sdk/client-s3";
import { createDynamoDb } from "../../../local/dynamodb";
import { createFront } from "../../../local/front";
import { createSts } from "../../../local/iam/sts";
import { createS3 } from "../../../local/s3";
import type { Service } from "../../../local/service";
import { sendJson } from "../../../local/wire";
import { createIam } from "../../../stack/iam";
import { localWorld } from "../../../stack/settings";
import { functionPermissions } from "../../support/permissions";
import { type Keys, presign, sign, type Unsigned } from "../../support/sign";
import { temporaryFolder } from "../../support/temporary-folder";
import { startServer, type WebServer } from "../../support/web-server";

const minute = 60_000;
const hex = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const clock = { offset: 0, now: () => Date.now() + clock.offset };
const iam = createIam({ world: localWorld(), functionPermissions, secret: "a secret", clock });
const other = createIam({ world: localWorld(), functionPermissions, secret: "another secret" });
const role = { role: "ringmaster-api", name: "test" };

describe("signatures at the AWS port", () => {
  const directory = temporaryFolder("signatures");
  let server: WebServer;
  let services: readonly Service[];
  let base: string;
  let s3: S3;

  beforeAll(async () => {
    services = [
      await createDynamoDb({ dataDirectory: join(directory, "dynamodb") }),
      await createS3({ dataDirectory: join(directory, "s3"), events: { put: () => undefined } }),
      createSts(iam),
    ];
    const endpoint = async (_: unknown, response: Parameters<typeof sendJson>[0]) => sendJson(response, 200, {});
    server = await startServer(createFront(services, iam, { "/_ringmaster/clock": endpoint }));
    base = server.endpoint;
    const connection = { endpoint: base, region: "us-east-1", credentials: iam.owner };
    s3 = new S3({ ...connection, forcePathStyle: true, maxAttempts: 1 });
    await s3.createBucket({ Bucket: "bucket" });
    await s3.putObject({ Bucket: "bucket", Key: "a file", Body: "content" });
  });
  afterEach(() => {
    clock.offset = 0;
  });
  afterAll(async () => {
    s3.destroy();
    await server.close();
    for (const service of services) await service.close();
  });

  const answerOf = async (response: Response) => ({ status: response.status, text: await response.text() });
  const send = async ({ url, method = "GET", body }: Unsigned, headers: Readonly<Record<string, string>>) => {
    const { host: _host, ...rest } = headers;
    return answerOf(await fetch(url, { method, headers: rest, ...(body === undefined ? {} : { body }) }));
  };
  const signed = async (request: Unsigned, keys: Keys = iam.owner, at?: Date) =>
    send(request, await sign(request, keys, at));
  const requests = (): Readonly<Record<"dynamodb" | "s3" | "sts" | "endpoint", Unsigned>> => ({
    dynamodb: {
      method: "POST",
      url: `${base}/`,
      headers: { "x-amz-target": "DynamoDB_20120810.ListTables", "content-type": "application/x-amz-json-1.0" },
      body: "{}",
      service: "dynamodb",
    },
    s3: { url: `${base}/bucket/a%20file`, service: "s3" },
    sts: {
      method: "POST",
      url: `${base}/`,
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "Action=GetCallerIdentity&Version=2011-06-15",
      service: "sts",
    },
    endpoint: { url: `${base}/_ringmaster/clock`, service: "ringmaster" },
  });

  describe.each(["dynamodb", "s3", "sts", "endpoint"] as const)("of %s", (name) => {
    it("accepts the owner's", async () => {
      expect((await signed(requests()[name])).status).toBe(200);
    });

    it.each<[string, string, (request: Unsigned) => Promise<{ status: number; text: string }>]>([
      ["no signature", "MissingAuthenticationToken|AccessDenied", (request) => send(request, request.headers ?? {})],
      [
        "the fixed keys",
        "Unrecognized|Invalid",
        (r) => signed(r, { accessKeyId: "ringmaster-local", secretAccessKey: "ringmaster-local" }),
      ],
      ["another stack's owner", "Unrecognized|Invalid", (r) => signed(r, other.owner)],
      ["another stack's role", "Unrecognized|Invalid", (r) => signed(r, other.issue(role))],
      ["the owner's name with another secret", "Signature", (r) => signed(r, { ...iam.owner, secretAccessKey: "x" })],
      [
        "a role's token with another secret",
        "Signature",
        (r) => signed(r, { ...iam.issue(role), secretAccessKey: "x" }),
      ],
      [
        "a role's key without its token",
        "Unrecognized|Invalid",
        (r) => signed(r, { ...iam.issue(role), sessionToken: "" }),
      ],
      ["a token that expired", "ExpiredToken", (r) => signed(r, iam.issue({ ...role, expiresAt: Date.now() - 1 }))],
      ["a clock 6 minutes late", "Skewed|Signature", (r) => signed(r, iam.owner, new Date(Date.now() - 6 * minute))],
      ["a clock 6 minutes early", "Skewed|Signature", (r) => signed(r, iam.owner, new Date(Date.now() + 6 * minute))],
      [
        "a header that the signature does not cover",
        "Incomplete|Malformed",
        async (r) => send(r, { ...(await sign(r, iam.owner)), "x-amz-meta-late": "1" }),
      ],
      [
        "another path",
        "Signature",
        async (r) => send({ ...r, url: r.url.replace(/\/(\w*)$|a%20file/, "/x$1") }, await sign(r, iam.owner)),
      ],
      ["another query", "Signature", async (r) => send({ ...r, url: `${r.url}?x=1` }, await sign(r, iam.owner))],
      [
        "another signature's form",
        "Incomplete|Malformed",
        (r) => send(r, { ...r.headers, authorization: `AWS ${iam.owner.accessKeyId}:c2ln` }),
      ],
    ])("refuses %s", async (_what, code, call) => {
      const { status, text } = await call(requests()[name]);
      expect(text).toMatch(new RegExp(code));
      expect([400, 403]).toContain(status);
      expect(text).not.toContain(iam.owner.secretAccessKey);
    });
  });

  it("refuses a body other than the signed one, with and without its digest in a header", async () => {
    const { dynamodb } = requests();
    const headers = await sign(dynamodb, iam.owner);
    expect((await send({ ...dynamodb, body: '{"Limit":1}' }, headers)).text).toContain("InvalidSignatureException");
    const named = { ...dynamodb, headers: { ...dynamodb.headers, "x-amz-content-sha256": hex("{}") } };
    expect((await signed(named)).status).toBe(200);
    const answer = await send({ ...dynamodb, body: '{"Limit":1}' }, await sign(named, iam.owner));
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("x-amz-content-sha256") });
  });

  it("allows only the owner to use the platform's own paths", async () => {
    const { status, text } = await signed(requests().endpoint, iam.issue(role));
    expect([status, text]).toEqual([403, expect.stringContaining("only the owner")]);
  });

  it("accepts a presigned URL until it expires, and only for its request", async () => {
    const url = await presign(requests().s3, iam.issue(role), { expiresIn: 60 });
    const owners = await presign(requests().s3, iam.owner, { expiresIn: 60 });
    expect(await answerOf(await fetch(owners))).toEqual({ status: 200, text: "content" });
    expect((await answerOf(await fetch(url))).text).toContain("assumed-role/ringmaster-api");
    expect((await fetch(owners, { method: "PUT", body: "x" })).status).toBe(403);
    expect((await fetch(owners, { method: "DELETE" })).status).toBe(403);
    expect((await fetch(owners.replace("/bucket/a", "/bucket/b"))).status).toBe(403);
    expect((await fetch(owners.replace("X-Amz-Expires=60", "X-Amz-Expires=600"))).status).toBe(403);
    for (const added of ["response-content-type=text%2Fhtml", "x-amz-signature=1", "__proto__=1", "constructor=1"]) {
      expect([added, (await fetch(`${owners}&${added}`)).status]).toEqual([added, 403]);
    }
    expect((await fetch(owners, { headers: { "x-amz-meta-late": "1" } })).status).toBe(403);
    clock.offset = 61_000;
    expect(await answerOf(await fetch(owners))).toMatchObject({
      status: 403,
      text: expect.stringContaining("expired"),
    });
    clock.offset = -6 * minute;
    expect((await answerOf(await fetch(owners))).text).toContain("RequestTimeTooSkewed");
  });

  it.each(["text/html", "image/svg+xml", "application/xml", "application/xhtml+xml", "text/javascript"])(
    "serves stored %s as a file that no browser shows, whatever was requested",
    async (ContentType) => {
      const Key = "report.html";
      const Body = "<script>alert(1)</script>";
      await s3.putObject({ Bucket: "bucket", Key, Body, ContentType, ContentDisposition: "inline" });
      const urls = [
        await presign({ url: `${base}/bucket/${Key}`, service: "s3" }, iam.owner),
        ...["inline", "inline; filename=a.html", "attachmentx", "", "x; attachment"].map((disposition) => {
          const given = { "response-content-type": ContentType, "response-content-disposition": disposition };
          return presign({ url: `${base}/bucket/${Key}?${new URLSearchParams(given)}`, service: "s3" }, iam.owner);
        }),
      ];
      for (const url of await Promise.all(urls)) {
        const { status, headers } = await fetch(url);
        expect(status).toBe(200);
        expect(headers.get("content-disposition")).toMatch(/^attachment(;|$)/);
        expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
        expect(headers.get("x-content-type-options")).toBe("nosniff");
      }
      const { headers } = await fetch(`${base}/bucket/<script>`);
      expect(headers.get("content-security-policy")).toContain("sandbox");
    },
  );

  it("stores a presigned upload only with the signed digest", async () => {
    const target: Unsigned = {
      method: "PUT",
      url: `${base}/bucket/upload`,
      headers: { "X-Amz-Content-Sha256": hex("right") },
      service: "s3",
    };
    const url = await presign(target, iam.owner);
    const refused = await answerOf(await fetch(url, { method: "PUT", body: "wrong" }));
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("XAmzContentSHA256Mismatch") });
    await expect(s3.getObject({ Bucket: "bucket", Key: "upload" })).rejects.toThrow("does not exist");
    expect((await fetch(url, { method: "PUT", body: "right" })).status).toBe(200);
  });

  it.each([
    ["a digest", undefined],
    ["UNSIGNED-PAYLOAD", "UNSIGNED-PAYLOAD"],
  ])("stores an object that is signed with %s", async (_what, payload) => {
    const request: Unsigned = {
      method: "PUT",
      url: `${base}/bucket/k%2B%281%29%27%C3%BC%2F~`,
      headers: payload === undefined ? {} : { "x-amz-content-sha256": payload },
      body: "content",
      service: "s3",
    };
    expect((await signed(request)).status).toBe(200);
  });

  it("accepts repeated and encoded parameters, and refuses them with a value less or more", async () => {
    const query = "x-id=List&prefix=%C3%BC%20%2B&tag=b&tag=a&tag=a%26&empty=";
    const list: Unsigned = { url: `${base}/bucket?list-type=2&${query}`, service: "s3" };
    const headers = await sign(list, iam.owner);
    expect((await send(list, headers)).status).toBe(200);
    for (const other of [query.replace("&tag=a", ""), `${query}&tag=a`, query.replace("%2B", "+")]) {
      expect((await send({ ...list, url: `${base}/bucket?list-type=2&${other}` }, headers)).status).toBe(403);
    }
  });

  it("refuses another spelling of a signed path", async () => {
    const { s3 } = requests();
    const headers = await sign(s3, iam.owner);
    for (const path of ["//bucket/a%20file", "/bucket//a%20file"]) {
      expect((await send({ ...s3, url: base + path }, headers)).status).toBe(403);
    }
  });

  it("refuses payload values that S3 does not support, and a missing one", async () => {
    for (const payload of ["STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD", "anything"]) {
      const put = { ...requests().s3, method: "PUT", body: "x", headers: { "x-amz-content-sha256": payload } };
      expect(await signed(put)).toMatchObject({ status: 403, text: expect.stringContaining("x-amz-content-sha256") });
    }
  });

  describe("of a body in chunks", () => {
    /** Uploads with signatures as in botocore and the SDK for Java, by the steps of the specification. */
    async function upload(change: (body: string) => string, trailer?: string) {
      const chunks = ["a".repeat(8192), "rest", ""];
      const mode = `STREAMING-AWS4-HMAC-SHA256-PAYLOAD${trailer === undefined ? "" : "-TRAILER"}`;
      const request: Unsigned = {
        method: "PUT",
        url: `${base}/bucket/chunks`,
        headers: {
          "x-amz-content-sha256": mode,
          "content-encoding": "aws-chunked",
          "x-amz-decoded-content-length": "8196",
          ...(trailer === undefined ? {} : { "x-amz-trailer": "x-amz-checksum-sha256" }),
        },
        service: "s3",
      };
      const headers = await sign(request, iam.owner);
      const time = headers["x-amz-date"]!;
      const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
      const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
      const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${iam.owner.secretAccessKey}`);
      let previous = /Signature=(\w+)/.exec(headers["authorization"]!)![1]!;
      let body = "";
      for (const chunk of chunks) {
        const text = ["AWS4-HMAC-SHA256-PAYLOAD", time, scope, previous, hex(""), hex(chunk)].join("\n");
        previous = hmac(key, text).toString("hex");
        body += `${chunk.length.toString(16)};chunk-signature=${previous}\r\n${chunk}${chunk === "" ? "" : "\r\n"}`;
      }
      if (trailer !== undefined) {
        const text = ["AWS4-HMAC-SHA256-TRAILER", time, scope, previous, hex(`${trailer}\n`)].join("\n");
        body += `${trailer}\r\nx-amz-trailer-signature:${hmac(key, text).toString("hex")}\r\n`;
      }
      return send({ ...request, body: change(`${body}\r\n`) }, headers);
    }
    const checksum = createHash("sha256")
      .update(`${"a".repeat(8192)}rest`)
      .digest("base64");
    const trailer = `x-amz-checksum-sha256:${checksum}`;

    it("stores it if every signature matches", async () => {
      expect((await upload((body) => body)).status).toBe(200);
      expect((await upload((body) => body, trailer)).status).toBe(200);
    });

    it.each<[string, (body: string) => string]>([
      ["another byte", (body) => body.replace("rest", "Rest")],
      ["another signature of a chunk", (body) => body.replace(/(chunk-signature=)./g, "$1_")],
      ["no signatures of chunks", (body) => body.replace(/;chunk-signature=\w+/g, "")],
      ["the first chunk alone", (body) => body.replace(/4;chunk-signature=\w+\r\nrest\r\n/, "")],
      ["another trailer", (body) => body.replace(checksum, createHash("sha256").update("x").digest("base64"))],
      ["no signature of the trailer", (body) => body.replace(/x-amz-trailer-signature:\w+\r\n/, "")],
    ])("refuses %s", async (_what, change) => {
      const { status, text } = await upload(change, trailer);
      expect([status, text]).toEqual([403, expect.stringContaining("SignatureDoesNotMatch")]);
    });
  });
});
