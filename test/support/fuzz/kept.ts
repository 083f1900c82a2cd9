import { createHash } from "node:crypto";
import { CreateTableCommand, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { OwnerKeys } from "../../../adapters/files/owner-keys";

export interface KeptData {
  read(): Promise<string>;
  close(): void;
}

interface Target {
  readonly api: string;
  readonly endpoint: string;
  readonly keys: OwnerKeys;
  readonly headers: Readonly<Record<string, string>>;
}

export async function keepData({ api, endpoint, keys, headers }: Target): Promise<KeptData> {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${api}${path}`, {
      method,
      headers: { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  const { run } = (await call("POST", "/api/v1/runs", { params: { depth: "3" }, tags: { kept: "yes" } })) as {
    readonly run: { readonly runId: string };
  };
  const points = { metric: "loss", steps: [1, 2, 3], values: [0.5, 0.25, "NaN"], times: [1, 2, 3] };
  await call("POST", `/api/v1/runs/${run.runId}/metrics`, { series: [points] });
  const file = `/api/2.0/mlflow/upload-artifact?run_uuid=${run.runId}&path=kept.txt`;
  await fetch(`${api}${file}`, { method: "POST", headers, body: "kept" });
  await call("POST", "/api/v1/models", { name: "kept" });
  await call("POST", "/api/v1/models/register", { name: "kept", source: "s3://kept/1" });

  const connection = { endpoint, region: "us-east-1", credentials: keys, maxAttempts: 1 };
  const dynamodb = new DynamoDBClient(connection);
  const s3 = new S3Client({ ...connection, forcePathStyle: true });
  await dynamodb.send(
    new CreateTableCommand({
      TableName: "kept",
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
    }),
  );
  await dynamodb.send(new PutItemCommand({ TableName: "kept", Item: { pk: { S: "kept" }, a: { N: "1" } } }));
  await s3.send(new CreateBucketCommand({ Bucket: "kept" }));
  await s3.send(new PutObjectCommand({ Bucket: "kept", Key: "kept", Body: "kept" }));

  return {
    async read() {
      const row = await dynamodb.send(new GetItemCommand({ TableName: "kept", Key: { pk: { S: "kept" } } }));
      const object = await s3.send(new GetObjectCommand({ Bucket: "kept", Key: "kept" }));
      const parts = [
        await call("GET", `/api/v1/runs/${run.runId}`),
        await call("GET", `/api/v1/runs/${run.runId}/metrics/history?metric=loss`),
        await call("GET", `/api/v1/runs/${run.runId}/artifacts`),
        await call("GET", "/api/v1/models/kept"),
        await call("GET", "/api/v1/models/kept/versions/1"),
        row.Item,
        await object.Body?.transformToString(),
      ];
      return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
    },
    close() {
      dynamodb.destroy();
      s3.destroy();
    },
  };
}
