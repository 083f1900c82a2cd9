import type { OutgoingHttpHeaders } from "node:http";
import http from "node:http";
import { AwsChunkedDecoder } from "../../../local/s3/chunked";
import { parseXml, writeXml } from "../../../local/s3/xml";
import { newBucket, put } from "./contract/target";
import { type RunningS3, startS3 } from "./harness";

describe("aws-chunked", () => {
  const decode = (body: string, cut: number) => {
    const decoder = new AwsChunkedDecoder();
    const payload: Uint8Array[] = [];
    const input = Buffer.from(body, "latin1");
    for (let at = 0; at < input.length; at += cut) payload.push(...decoder.push(input.subarray(at, at + cut)));
    return {
      text: Buffer.concat(payload).toString(),
      done: decoder.done,
      trailers: Object.fromEntries(decoder.trailers),
    };
  };
  const unsigned = "5\r\nhello\r\n6\r\n world\r\n0\r\nx-amz-checksum-crc32: DUoRhQ==\r\n\r\n";
  const signed = `5;chunk-signature=${"a".repeat(64)}\r\nhello\r\n0;chunk-signature=${"b".repeat(64)}\r\n\r\n`;

  it.each([1, 2, 3, 5, 7, 1000])("decodes pieces of %i bytes", (cut) => {
    expect(decode(unsigned, cut)).toEqual({
      text: "hello world",
      done: true,
      trailers: { "x-amz-checksum-crc32": "DUoRhQ==" },
    });
    expect(decode(signed, cut)).toEqual({ text: "hello", done: true, trailers: {} });
  });

  it("is not done before its end", () => {
    for (let length = 0; length < unsigned.length; length++)
      expect(decode(unsigned.slice(0, length), 4).done).toBe(false);
  });

  it.each(["xyz\r\n", "5\r\nhelloX\r\n0\r\n\r\n", "0\r\nno colon\r\n\r\n", "a".repeat(9000)])("refuses %j", (body) => {
    expect(() => decode(body, 1000)).toThrow(/malformed/);
  });
});

describe("XML", () => {
  it("reads clients' documents", () => {
    const root = parseXml(
      `<?xml version="1.0"?><!-- c --><s:Delete xmlns:s="u"><Object  a='>'><Key>a&amp;&#x3c;&#98;<![CDATA[<&]]></Key></Object><Quiet/></s:Delete>`,
    );
    expect(root).toEqual({
      name: "Delete",
      text: "",
      children: [
        { name: "Object", text: "", children: [{ name: "Key", text: "a&<b<&", children: [] }] },
        { name: "Quiet", text: "", children: [] },
      ],
    });
  });

  it.each(["", "<a>", "<a></b>", "</a>", "<a/><b/>", "text", "<a>&unknown;</a>", "<!DOCTYPE a><a/>", "<a ".repeat(20)])(
    "refuses %j",
    (source) => {
      expect(() => parseXml(source)).toThrow(expect.objectContaining({ code: "MalformedXML" }));
    },
  );

  it("escapes text so that it can be read back", () => {
    const text = "<&>\"'\u0001\n é";
    expect(parseXml(writeXml("Root", { Key: text })).children[0]!.text).toBe(text);
  });
});

describe("on the wire", () => {
  let s3: RunningS3;
  let bucket: string;
  beforeAll(async () => {
    s3 = await startS3();
    bucket = await newBucket(s3);
    await put(s3, bucket, "there");
  });
  afterAll(() => s3.close());

  const signature = { authorization: "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request" };

  const zeros = "0".repeat(64);

  function send(method: string, path: string, headers: OutgoingHttpHeaders = signature, body = ""): Promise<string> {
    return new Promise((resolve, reject) => {
      const { port } = new URL(s3.endpoint);
      const request = http.request({ port, host: "127.0.0.1", method, path, headers, agent: false }, (response) => {
        response.setEncoding("utf8");
        let text = "";
        response.on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => {
          const code = /<Code>(.*?)<\/Code>/.exec(text)?.[1];
          resolve(`${response.statusCode} ${code ?? text}`);
        });
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  it.each<[string, string, string, OutgoingHttpHeaders, string]>([
    ["an operation that is not there", "GET", "/bucket?versioning", {}, "501 NotImplemented"],
    ["an object's version", "GET", "/bucket/key?versionId=abc", {}, "501 NotImplemented"],
    ["KMS", "PUT", "/bucket/key", { "x-amz-server-side-encryption": "aws:kms" }, "501 NotImplemented"],
    ["tags", "PUT", "/bucket/key", { "x-amz-tagging": "a=1" }, "501 NotImplemented"],
    ["tags of an object", "GET", "/bucket/key?tagging", {}, "501 NotImplemented"],
    ["a storage class", "PUT", "/bucket/key", { "x-amz-storage-class": "GLACIER_IR" }, "501 NotImplemented"],
    ["a part", "GET", "/bucket/there?partNumber=1", {}, "501 NotImplemented"],
    ["a lock", "PUT", "/bucket/key", { "x-amz-object-lock-mode": "GOVERNANCE" }, "501 NotImplemented"],
    ["an ACL", "PUT", "/bucket/key", { "x-amz-acl": "public-read" }, "400 AccessControlListNotSupported"],
    ["a broken path", "GET", "/bucket/%zz", {}, "400 InvalidURI"],
    ["another method", "PATCH", "/bucket/key", {}, "405 MethodNotAllowed"],
    ["too large a body", "PUT", "/bucket/key", { "content-length": 5 * 1024 ** 3 + 1 }, "400 EntityTooLarge"],
    ["no length", "PUT", "/bucket/key", { "transfer-encoding": "chunked" }, "411 MissingContentLength"],
    ["a wrong hash", "PUT", "/bucket/key", { "x-amz-content-sha256": zeros }, "400 XAmzContentSHA256Mismatch"],
  ])("refuses %s", async (_name, method, path, headers, expected) => {
    expect(await send(method, path.replace("/bucket", `/${bucket}`), { ...signature, ...headers })).toBe(expected);
  });

  it("stores nothing of a chunked body that ends early", async () => {
    const headers = {
      ...signature,
      "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      "x-amz-decoded-content-length": "10",
    };
    expect(await send("PUT", `/${bucket}/short`, headers, "5\r\nhello\r\n")).toBe("400 IncompleteBody");
    expect(await send("GET", `/${bucket}/short`)).toBe("404 NoSuchKey");
  });

  it("reads the bucket from the host", async () => {
    await put(s3, bucket, "hosted/key", "by host");
    for (const host of [`${bucket}.localhost:4566`, `${bucket}.s3.localhost`, `${bucket}.s3.us-east-1.amazonaws.com`]) {
      expect(await send("GET", "/hosted/key", { ...signature, host })).toBe("200 by host");
    }
    expect(await send("GET", `/${bucket}/hosted/key`, { ...signature, host: "s3.amazonaws.com" })).toBe("200 by host");
    expect(await send("GET", `/${bucket}/hosted/key`, { ...signature, host: "localhost:4566" })).toBe("200 by host");
  });
});
