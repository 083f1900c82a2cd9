import * as fs from "node:fs";
import * as path from "node:path";
import { pushDataset } from "../../../cli/datasets/push";
import { registerDataset } from "../../../core/datasets/register";
import type { DatasetDraft } from "../../../core/datasets/shapes";
import { objectKeys } from "../../../core/object-keys";
import type { ObjectStore, UploadPort } from "../../../core/ports";
import { createMemoryObjectStore } from "../../adapters/s3/memory-object-store";
import { createMemoryDatasetRepository } from "../../core/datasets/memory-dataset-repository";
import { drawer, dyingPorts } from "../../support/kills";
import { rounds } from "../../support/rounds";
import { temporaryFolder } from "../../support/temporary-folder";

const directory = temporaryFolder("push-kills");
const file = path.join(directory, "a.csv");
const schemaFile = path.join(directory, "a.schema.yaml");
fs.writeFileSync(file, `x,y\n${Array.from({ length: 60 }, (_, i) => `${i / 4},${i % 2}\n`).join("")}`);
fs.writeFileSync(schemaFile, "columns:\n  - {name: x, type: float}\n  - {name: y, type: int, role: label}\n");

function uploadsTo(objects: ObjectStore, sent: string[]): UploadPort {
  return {
    async missing(references) {
      const sizes = await Promise.all(references.map(({ sha256 }) => objects.size(objectKeys.content(sha256))));
      return references.filter((_, i) => sizes[i] === undefined).map(({ sha256 }) => sha256);
    },
    async put({ sha256 }, source) {
      sent.push(sha256);
      await objects.putContent("path" in source ? fs.readFileSync(source.path) : source.bytes);
    },
  };
}

it("leaves nothing visible when it is killed, and a repetition sends what is missing and gives the same version", async () => {
  const whole = {
    objects: createMemoryObjectStore(),
    repository: createMemoryDatasetRepository(),
    sent: [] as string[],
  };
  const push = async ({ objects, repository, sent }: typeof whole, ports = dyingPorts(Number.POSITIVE_INFINITY)) => {
    const register = (draft: DatasetDraft) =>
      registerDataset({ objects: ports(objects), repository: ports(repository), clock: { now: () => 0 } }, draft);
    return pushDataset({ name: "toy", file, schemaFile, uploads: ports(uploadsTo(objects, sent)), register });
  };
  let calls = 0;
  const counting = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        calls += 1;
        return target[name as keyof Port];
      },
    });
  const expected = await push(whole, counting);
  const draw = drawer(7);
  const reached = new Set<string>();
  for (let round = 0; round < rounds(8, 100); round += 1) {
    const store = {
      objects: createMemoryObjectStore(),
      repository: createMemoryDatasetRepository(),
      sent: [] as string[],
    };
    await expect(push(store, dyingPorts(draw(calls), draw(2) === 1))).rejects.toThrow("kill -9");
    const stored = new Set(store.sent);
    const visible = await store.repository.findNewest("toy");
    for (const { sha256 } of visible
      ? [...visible.manifest.shards, ...Object.values(visible.manifest.split.indexes)]
      : []) {
      expect(await store.objects.size(objectKeys.content(sha256))).toBeDefined();
    }
    reached.add(`${visible ? "registered" : "not registered"}, ${stored.size > 0 ? "content" : "no content"}`);
    const known = (
      await Promise.all(
        [...stored].map(async (sha256) => [sha256, await store.objects.size(objectKeys.content(sha256))] as const),
      )
    )
      .filter(([, size]) => size !== undefined)
      .map(([sha256]) => sha256);
    store.sent.length = 0;
    const { registered, draft } = await push(store);
    expect([draft.digest, registered.version.manifest.version]).toEqual([expected.draft.digest, 1]);
    expect(store.sent.filter((sha256) => known.includes(sha256))).toEqual([]);
    expect(store.sent).toHaveLength(4 - known.length);
  }
  expect(reached).toEqual(new Set(["not registered, no content", "not registered, content", "registered, content"]));
});
