import { createHash } from "node:crypto";
import { join } from "node:path";
import { createS3 } from "../../../local/s3";
import { startServer } from "../web-server";
import { contentOf } from "./content";

/*
 * The workload of the object store. Each writer runs numbered steps, one at a time, on its own few keys. Writer and number
 * determine a step completely. So one number determines the content of an object.
 */
const bucket = "power-loss";
const folders = ["a", "a/b", "a/b/c", "d/e"];
const kinds = ["put", "put", "multipart", "copy", "delete", "multipart", "delete", "copy"] as const;
const smallestPart = 5 * 1024 ** 2;

const keyOf = (writer: number, step: number): string => `${folders[step % folders.length]}/writer-${writer}`;
const sourceOf = (writer: number): string => `sources/${writer}`;
const kindOf = (writer: number, step: number) =>
  kinds[(Math.floor(step / folders.length) + 3 * writer) % kinds.length]!;

/** Returns the parts of a step's content. One multipart upload of each writer has a part of the minimum size. */
function partsOf(writer: number, step: number): readonly string[] {
  const kind = kindOf(writer, step);
  if (kind === "copy") return [contentOf(sourceOf(writer))];
  const content = contentOf(`object ${writer}-${step}`);
  const isLarge = kind === "multipart" && step < folders.length * kinds.length && step % folders.length === 0;
  return isLarge ? [content.padEnd(smallestPart, "."), content] : [content];
}

function etagOf(writer: number, step: number): string {
  const md5 = (bytes: string | Buffer) => createHash("md5").update(bytes);
  const parts = partsOf(writer, step);
  if (kindOf(writer, step) !== "multipart") return `"${md5(parts.join("")).digest("hex")}"`;
  return `"${md5(Buffer.concat(parts.map((part) => md5(part).digest()))).digest("hex")}-${parts.length}"`;
}

/** @param acknowledge is called with `<writer>-<step>` before the answer of a step is sent */
export async function openObjects(data: string, acknowledge: (step: string) => void = () => undefined) {
  const service = await createS3({ dataDirectory: join(data, "s3"), events: { put: () => undefined } });
  const server = await startServer((request, response) => {
    const step = request.headers["x-step"];
    const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => typeof response;
    response.writeHead = (status: number, ...more: unknown[]) => {
      if (typeof step === "string" && status < 300) acknowledge(step);
      return writeHead(status, ...more);
    };
    void service.handle(request, response);
  });
  const origin = `${server.endpoint}/${bucket}`;

  async function send(method: string, target: string, body?: string, headers: Readonly<Record<string, string>> = {}) {
    const signed = { authorization: "AWS4-HMAC-SHA256 unverified", ...headers };
    const response = await fetch(`${origin}${target}`, {
      method,
      headers: signed,
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text };
  }
  async function change(...request: Parameters<typeof send>) {
    const answer = await send(...request);
    if (answer.status < 300 && !answer.text.includes("<Error>")) return answer;
    throw new Error(`${request[0]} ${request[1]} was answered ${answer.status}: ${answer.text}`);
  }

  async function take(writer: number, step: number): Promise<void> {
    const target = `/${keyOf(writer, step)}`;
    const acknowledged = { "x-step": `${writer}-${step}` };
    const described = { "x-amz-meta-step": `${step}` };
    const parts = partsOf(writer, step);
    switch (kindOf(writer, step)) {
      case "put":
        await change("PUT", target, parts.join(""), { ...acknowledged, ...described });
        return;
      case "copy": {
        const source = `/${bucket}/${sourceOf(writer)}`;
        const copied = { "x-amz-copy-source": source, "x-amz-metadata-directive": "REPLACE" };
        await change("PUT", target, undefined, { ...copied, ...acknowledged, ...described });
        return;
      }
      case "multipart": {
        const { text } = await change("POST", `${target}?uploads`, undefined, described);
        const uploadId = /<UploadId>(.*)<\/UploadId>/.exec(text)?.[1] ?? "";
        const list: string[] = [];
        for (const [index, part] of parts.entries()) {
          const path = `${target}?partNumber=${index + 1}&uploadId=${uploadId}`;
          const { headers } = await change("PUT", path, part);
          list.push(`<Part><PartNumber>${index + 1}</PartNumber><ETag>${headers.get("etag")}</ETag></Part>`);
        }
        // A part that the object does not use.
        await change("PUT", `${target}?partNumber=9&uploadId=${uploadId}`, "unused");
        const body = `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`;
        await change("POST", `${target}?uploadId=${uploadId}`, body, acknowledged);
        return;
      }
      case "delete": {
        if (writer % 2 === 0) await change("DELETE", target, undefined, acknowledged);
        else {
          const body = `<Delete><Object><Key>${keyOf(writer, step)}</Key></Object></Delete>`;
          await change("POST", "?delete", body, acknowledged);
        }
      }
    }
  }

  /** Describes how an object differs from its last acknowledged step, or from the next one, which was in progress. */
  async function fault(writer: number, step: number, listed: string): Promise<string | undefined> {
    const key = keyOf(writer, step);
    const { status, headers, text } = await send("GET", `/${key}`);
    const isListed = listed.includes(`<Key>${key}</Key>`);
    if (status === 404) {
      const isDeleted = [step, step + folders.length].some((one) => kindOf(writer, one) === "delete");
      return isDeleted && !isListed ? undefined : `${key} is missing after step ${step} (listed: ${isListed})`;
    }
    if (status !== 200 || !isListed)
      return `${key} answers ${status} after step ${step} (listed: ${isListed}): ${text}`;
    const found = Number(headers.get("x-amz-meta-step"));
    const isAllowed = [step, step + folders.length].includes(found) && kindOf(writer, found) !== "delete";
    const isWhole = headers.get("etag") === etagOf(writer, found) && text === partsOf(writer, found).join("");
    return isAllowed && isWhole ? undefined : `${key} holds step ${found} after step ${step} (whole: ${isWhole})`;
  }

  return {
    /** Creates the bucket, and the sources of copies. */
    async prepare(writers: readonly number[]): Promise<void> {
      await change("PUT", "");
      for (const writer of writers) await change("PUT", `/${sourceOf(writer)}`, contentOf(sourceOf(writer)));
    },
    take,
    /** @param acknowledged `<writer>-<step>`, in order */
    async faults(acknowledged: readonly string[]): Promise<readonly string[]> {
      const last = new Map<string, readonly [writer: number, step: number]>();
      for (const line of acknowledged) {
        const [writer = 0, step = 0] = line.split("-").map(Number);
        last.set(keyOf(writer, step), [writer, step]);
      }
      if (last.size === 0) return [];
      const listed = (await send("GET", "?list-type=2")).text;
      const found: string[] = [];
      for (const [writer, step] of last.values()) {
        const one = await fault(writer, step, listed);
        if (one !== undefined) found.push(one);
      }
      return found;
    },
    async close(): Promise<void> {
      await server.close();
      await service.close();
    },
  };
}
