import { AthenaClient, CreateWorkGroupCommand, GetQueryExecutionCommand } from "@aws-sdk/client-athena";
import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { withQueryRows } from "../../cli/datasets/query";
import { describeWithMoto, MotoServer } from "./moto-server";

const settings = ["AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

describeWithMoto("moto's Athena, which runs no query", () => {
  const before = settings.map((name) => process.env[name]);
  let moto: MotoServer;

  beforeAll(async () => {
    moto = await MotoServer.start();
    const { endpoint, region, credentials } = moto.clientConfig;
    const values = [endpoint, region, credentials.accessKeyId, credentials.secretAccessKey];
    for (const [index, name] of settings.entries()) process.env[name] = values[index];
  });
  afterAll(async () => {
    for (const [index, name] of settings.entries()) {
      if (before[index] === undefined) delete process.env[name];
      else process.env[name] = before[index];
    }
    await moto.stop();
  });

  it("accepts the query, its workgroup and its places", async () => {
    const client = new AthenaClient(moto.clientConfig);
    await new S3Client(moto.clientConfig).send(new CreateBucketCommand({ Bucket: "bucket" }));
    await client.send(new CreateWorkGroupCommand({ Name: "team", Configuration: {} }));
    const said: string[] = [];
    const reading = withQueryRows(
      { from: "athena://shop?workgroup=team&output=s3://bucket/tmp/", sql: "SELECT * FROM sales" },
      (text) => void said.push(text),
      () => Promise.resolve(),
    );
    await expect(reading).rejects.toThrow("the query of athena://shop has no rows");
    const [, id] = /^Athena query ([0-9a-f-]+): succeeded/m.exec(said.join("\n")) ?? [];
    const { QueryExecution } = await client.send(new GetQueryExecutionCommand({ QueryExecutionId: id }));
    expect(QueryExecution).toMatchObject({
      Query: expect.stringMatching(/^UNLOAD \(SELECT \* FROM sales\n\) TO 's3:\/\/bucket\/tmp\/ringmaster-/),
      QueryExecutionContext: { Database: "shop" },
      WorkGroup: "team",
    });
    expect(said.join()).not.toContain("could not be deleted");
  });
});
