import { invoke, listBucket, objects, table, writeTrainingObjects } from "./grants";
import type { Permission, PolicyDocument, PolicyStatement } from "./policy";
import { arnsOf, type World } from "./world";

/**
 * What a trainer's job may do by itself: ask for the credentials of its run. A container on a shared host, with somebody's code in it, holds
 * nothing else that is worth taking.
 */
export const jobPermissions: readonly Permission[] = [invoke("run-credentials")];

/** What trainers do, all runs together: the most that a session of the run role may have. */
export const runRolePermissions: readonly Permission[] = [
  table("Gangs", "Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
  objects("GetObject"),
  writeTrainingObjects,
  listBucket,
  invoke("ingest-metrics"),
];

/**
 * What the trainers of one run may do: with the run role's permissions, the policy of their session.
 *
 * Content that is stored can be read by the whole team, and nobody of a run can change it: what is put under `cas/` must be put there for the
 * first time (`If-None-Match`). Parts of a multipart upload cannot say so and make nothing visible; its completion can, and must. STS
 * takes 2,048 characters, so that the run role says which of a run's objects may be written.
 */
export function sessionPolicy(run: { readonly team: string; readonly runId: string }, world: World): PolicyDocument {
  const [bucket = ""] = arnsOf("bucket", world);
  const team = `teams/${run.team}`;
  const own = `${team}/runs/${run.runId}/*`;
  const content = `${bucket}/${team}/cas/sha256/*`;
  const gang = `GANG#${run.runId}`;
  const allow = (
    actions: readonly string[],
    resources: readonly string[],
    condition?: PolicyStatement["Condition"],
  ): PolicyStatement => ({
    Effect: "Allow",
    Action: actions.length === 1 ? (actions[0] as string) : actions,
    Resource: resources.length === 1 ? (resources[0] as string) : resources,
    ...(condition ? { Condition: condition } : {}),
  });
  return {
    Version: "2012-10-17",
    Statement: [
      // Aborting is a right to the key, and stands here to save a statement.
      allow(["s3:GetObject", "s3:AbortMultipartUpload"], [`${bucket}/${own}`, content, `${bucket}/${team}/features/*`]),
      allow(["s3:PutObject", "s3:DeleteObject"], [`${bucket}/${own}`]),
      allow(["s3:PutObject"], [content], { Null: { "s3:if-none-match": "false" } }),
      allow(["s3:PutObject"], [content], { Bool: { "s3:ObjectCreationOperation": "false" } }),
      allow(["s3:ListBucket"], [bucket], { StringLike: { "s3:prefix": own } }),
      allow(
        ["Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem"].map((operation) => `dynamodb:${operation}`),
        arnsOf("table/Gangs", world),
        {
          "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": [gang, `${gang}#ROSTER`] },
          // A request without keys would hold vacuously.
          Null: { "dynamodb:LeadingKeys": "false" },
        },
      ),
      allow(["lambda:InvokeFunction"], arnsOf("function/ingest-metrics", world)),
    ],
  };
}
