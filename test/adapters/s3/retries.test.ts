import { type S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import { createObjectStore } from "../../../adapters/s3/object-store";
import { StorageFullError } from "../../../core/object-documents";

const failure = (name: string, httpStatusCode: number, attempts = 1) =>
  new S3ServiceException({ name, $fault: "client", $metadata: { httpStatusCode, attempts }, message: name });

function scripted(answers: readonly unknown[]) {
  const commands: string[] = [];
  const client = {
    send: async (command: object) => {
      const answer = answers[commands.length];
      commands.push(command.constructor.name);
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { commands, store: createObjectStore(client as unknown as S3Client, "bucket") };
}

const conflict = failure("ConditionalRequestConflict", 409);
const body = (text: string) => ({ Body: { transformToByteArray: async () => Buffer.from(text) } });

describe("createObjectStore, when S3 fails", () => {
  it("retries while another conditional write is in progress", async () => {
    const { commands, store } = scripted([conflict, conflict, {}]);
    expect(await store.putNew("k", "mine")).toBe(true);
    expect(commands).toHaveLength(3);
  });

  it("gives up on a conflict that does not end", async () => {
    await expect(scripted(Array(9).fill(conflict)).store.putNew("k", "mine")).rejects.toBe(conflict);
  });

  it.each([
    { name: "its own first try won, and only the answer was lost", attempts: 2, found: "mine", created: true },
    { name: "another writer was faster", attempts: 2, found: "theirs", created: false },
  ])("tells after a retry whether $name", async ({ attempts, found, created }) => {
    const { store } = scripted([failure("PreconditionFailed", 412, attempts), body(found)]);
    expect(await store.putNew("k", "mine")).toBe(created);
  });

  it("does not check for its own write after a single attempt", async () => {
    const { commands, store } = scripted([failure("PreconditionFailed", 412)]);
    expect(await store.putNew("k", "mine")).toBe(false);
    expect(commands).toEqual(["PutObjectCommand"]);
  });

  it.each(["put", "putNew"] as const)("reports a full store from %s", async (method) => {
    const { store } = scripted([failure("ServiceUnavailable", 507)]);
    await expect(store[method]("runs/1/x", "body")).rejects.toThrow(StorageFullError);
  });

  it("reads again if the connection breaks within a body", async () => {
    const broken = {
      Body: { transformToByteArray: () => Promise.reject(Object.assign(new Error("x"), { code: "ECONNRESET" })) },
    };
    const { commands, store } = scripted([broken, body("whole")]);
    expect(Buffer.from(await store.get("k")).toString()).toBe("whole");
    expect(commands).toHaveLength(2);
  });

  it("distinguishes a missing bucket from a missing object", async () => {
    const noBucket = failure("NoSuchBucket", 404);
    await expect(scripted([noBucket]).store.find("k")).rejects.toBe(noBucket);
    expect(await scripted([failure("NoSuchKey", 404)]).store.find("k")).toBeUndefined();
    expect(await scripted([failure("NotFound", 404)]).store.size("k")).toBeUndefined();
  });
});
