import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { pushFile } from "../../../adapters/duckdb/push-file";
import { createStoreUploads } from "../../../adapters/s3/store-uploads";
import { registerDataset } from "../../../core/datasets/register";
import { parseDatasetSchema } from "../../../core/datasets/schema";
import { type FilePutEvent, takeFilePut } from "../../../lambdas/snapshot-dataset/snapshot";
import { at, type Delivery, type World } from "./world";

const schema = parseDatasetSchema(`columns:
  - { name: x, type: float, role: feature }
  - { name: label, type: int, role: label }
split: { seed: 1, fractions: { train: 0.6, validation: 0.2, test: 0.2 } }
`);
const csv = (rows: number) => ["x,label", ...Array.from({ length: rows }, (_, i) => `${i / 8},${i % 2}`)].join("\n");

/**
 * Files of an inbox: one as it was put, one that was overwritten after its first event, one that does not fit. Two files of one dataset become versions in
 * the order in which they are heard of, so here each has its own.
 */
export async function datasetFiles({ embedded, platform }: World): Promise<readonly Delivery[]> {
  const { objects, datasets: repository, clock, config } = platform;
  const directory = mkdtempSync(join(tmpdir(), "ringmaster-test-"));
  try {
    const file = join(directory, "first.csv");
    writeFileSync(file, csv(20));
    for (const name of ["plain", "overwritten", "broken"])
      await pushFile({
        ...{ name, file, schema, uploads: createStoreUploads(objects) },
        register: (draft) => registerDataset({ repository, objects, clock }, draft),
      });
  } finally {
    rmSync(directory, { recursive: true });
  }
  let sequence = 0;
  const put = async (path: string, body: string): Promise<Delivery> => {
    const key = `teams/${platform.team}/inbox/${path}`;
    const { ETag = "" } = await embedded.s3.send(new PutObjectCommand({ Bucket: config.bucket, Key: key, Body: body }));
    const sequencer = String(++sequence).padStart(16, "0");
    const object = { key, size: body.length, etag: ETag.replaceAll('"', ""), sequencer };
    const event = { source: "aws.s3", "detail-type": "Object Created", time: at };
    const message = { ...event, detail: { bucket: { name: config.bucket }, object } } as unknown as FilePutEvent;
    return () => takeFilePut(platform, message);
  };
  return [
    await put("plain/march.csv", csv(30)),
    await put("overwritten/march.csv", csv(31)),
    await put("overwritten/march.csv", csv(32)),
    await put("broken/march.csv", "x\n1\n2"),
  ];
}
