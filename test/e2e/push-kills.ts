import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { DatasetVersion } from "../../core/datasets/shapes";
import { objectKeys } from "../../core/object-keys";
import { drawer } from "../support/kills";
import { type TestStack, toyCsv, toySchema } from "./harness";

/** `RINGMASTER_PUSH_KILLS=20` kills as many pushes; a campaign does. */
const rounds = Number(process.env["RINGMASTER_PUSH_KILLS"] ?? 2);
const seed = Number(process.env["RINGMASTER_PUSH_SEED"] ?? 5);

export interface KilledPush {
  /** Digests of the versions that the killed push left visible. */
  readonly visible: readonly string[];
  /** Content that a visible version names and the store lacks. */
  readonly lacking: readonly string[];
  /** Digests by the repeated push, and by a push of the same rows that was not disturbed. */
  readonly repeated: string;
  readonly undisturbed: string;
  /** Temporary folders of the killed process before and after the repetition. */
  readonly left: readonly string[];
  readonly folders: readonly string[];
}

/**
 * Kills processes of `datasets push` at times of their life that are drawn from the seed, one in each of equal parts of
 * it. Each round has rows of its own, so that no content is known before.
 */
export async function killPushes(stack: TestStack): Promise<readonly KilledPush[]> {
  const s3 = stack.client(S3Client);
  const schema = stack.file("kills.yaml", toySchema);
  const draw = drawer(seed);
  const fileOf = (round: number) => stack.file(`kills-${round}.csv`, `${toyCsv(20_000)}\n${round},0,0,red,0`);
  const push = (name: string, file: string) => ["datasets", "push", name, "--file", file, "--schema", schema];
  const isStored = (sha256: string) =>
    s3
      .send(
        new HeadObjectCommand({
          Bucket: "ringmaster-data",
          Key: `teams/${stack.team ?? "default"}/${objectKeys.content(sha256)}`,
        }),
      )
      .then(() => true)
      .catch(() => false);

  const foldersOf = (pid = 0) => {
    const name = new RegExp(`^ringmaster-duckdb-\\w+-${pid}-`);
    return readdirSync(tmpdir()).filter((folder) => name.test(folder));
  };

  const start = performance.now();
  await stack.start(...push("kills-timed", fileOf(-1))).ended;
  const lifeMs = performance.now() - start;
  const killed: KilledPush[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [name, file] = [`kills-${round}`, fileOf(round)];
    const { child, ended } = stack.start(...push(name, file));
    await Promise.race([ended, sleep(((round + draw(1_000) / 1_000) / rounds) * lifeMs)]);
    child.kill("SIGKILL");
    await ended;
    const left = foldersOf(child.pid);
    const { items = [] } = await stack.get<{ readonly items?: readonly DatasetVersion[] }>(
      `/datasets/${name}/versions`,
    );
    const contents = items.flatMap(({ manifest }) => [...manifest.shards, ...Object.values(manifest.split.indexes)]);
    const stored = await Promise.all(contents.map(async ({ sha256 }) => ({ sha256, found: await isStored(sha256) })));
    const digestOf = async (of: string) => (await stack.json<{ readonly digest: string }>(push(of, file))).digest;
    killed.push({
      visible: items.map(({ manifest }) => manifest.digest),
      lacking: stored.filter(({ found }) => !found).map(({ sha256 }) => sha256),
      repeated: await digestOf(name),
      undisturbed: await digestOf(`whole-${round}`),
      left,
      folders: foldersOf(child.pid),
    });
  }
  s3.destroy();
  return killed;
}
