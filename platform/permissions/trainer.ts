import { segmentNameOf } from "../../core/runs/ports";
import {
  eraseTensors,
  invoke,
  listBucket,
  objects,
  type Permission,
  type PolicyDocument,
  type PolicyStatement,
  table,
  writeEvaluationObjects,
  writeTrainingObjects,
} from "./grants";
import { arnsOf, type World } from "./world";

/**
 * The permissions of a trainer's job itself: only to request the credentials of its run, and the next trial of its
 * study. Both requests need the key of its run. A container on a shared host that runs a user's code has no other
 * secrets.
 */
export const jobPermissions: readonly Permission[] = [invoke("run-credentials"), invoke("continue-job")];

/** The permissions of all trainers and evaluations together: the maximum of a session of the run role. */
export const runRolePermissions: readonly Permission[] = [
  table("Gangs", "Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem"),
  objects("GetObject"),
  writeTrainingObjects,
  eraseTensors,
  writeEvaluationObjects,
  listBucket,
  invoke("ingest-metrics"),
];

/** The use of the data bucket's key that S3 needs for reading and writing objects. */
export const bucketKeyActions = ["kms:Decrypt", "kms:GenerateDataKey"] as const;

/** The maximum length of a session policy, in characters (STS). */
export const maxSessionPolicy = 2_048;

const allow = (
  actions: readonly string[],
  resources: readonly string[],
  condition?: PolicyStatement["Condition"],
): PolicyStatement => ({
  Effect: "Allow",
  Action: actions.length === 1 ? (actions[0] as string) : actions,
  Resource: resources.length === 1 ? (resources[0] as string) : resources,
  Condition: condition,
});

/**
 * Returns the session policy of one run's trainers, which narrows the run role's permissions.
 *
 * The whole team can read stored content and the tensors of checkpoints. No run can write content. A run erases tensors of
 * its own checkpoints, because a bucket with versions keeps what is only deleted. STS accepts 2,048 characters, so the
 * run role determines which of a run's objects may be written.
 */
export function sessionPolicy(
  run: { readonly team: string; readonly runId: string; readonly segment?: number },
  world: World,
): PolicyDocument {
  const [bucket = ""] = arnsOf("bucket", world);
  const team = `teams/${run.team}`;
  const objects = `${team}/runs/${run.runId}/*`;
  const content = `${bucket}/${team}/cas/sha256/*`;
  const gang = `GANG#${segmentNameOf(run)}`;
  return {
    Version: "2012-10-17",
    Statement: [
      // Aborting is a permission on the key. It is included here to save a statement.
      allow(
        ["s3:GetObject", "s3:AbortMultipartUpload"],
        [`${bucket}/${objects}`, content, `${bucket}/${team}/features/*`, `${bucket}/${team}/runs/*/tensors/*`],
      ),
      allow(["s3:PutObject", "s3:DeleteObject"], [`${bucket}/${objects}`]),
      allow(["s3:DeleteObjectVersion"], [`${bucket}/${team}/runs/${run.runId}/tensors/*`]),
      allow(["s3:ListBucket"], [bucket], { StringLike: { "s3:prefix": objects } }),
      allow(
        ["Query", "GetItem", "BatchGetItem", "PutItem", "UpdateItem"].map((operation) => `dynamodb:${operation}`),
        arnsOf("table/Gangs", world),
        {
          "ForAllValues:StringEquals": { "dynamodb:LeadingKeys": [gang, `${gang}#ROSTER`] },
          // Without keys in the request, the condition would hold vacuously.
          Null: { "dynamodb:LeadingKeys": "false" },
        },
      ),
      allow(["lambda:InvokeFunction"], arnsOf("function/ingest-metrics", world)),
      ...(world.bucketKeyArn === undefined ? [] : [allow(bucketKeyActions, [world.bucketKeyArn])]),
    ],
  };
}

/**
 * Returns the session policy of a run's evaluation by a job: it reads the team's content and features, and writes only
 * the evaluation. A trainer cannot write there, because its container runs a user's code.
 */
export function evaluationPolicy(run: { readonly team: string; readonly runId: string }, world: World): PolicyDocument {
  const [bucket = ""] = arnsOf("bucket", world);
  const team = `${bucket}/teams/${run.team}`;
  const objects = `${team}/evaluations/${run.runId}/*`;
  return {
    Version: "2012-10-17",
    Statement: [
      allow(["s3:GetObject"], [objects, `${team}/cas/sha256/*`, `${team}/features/*`]),
      allow(["s3:PutObject"], [objects]),
      ...(world.bucketKeyArn === undefined ? [] : [allow(bucketKeyActions, [world.bucketKeyArn])]),
    ],
  };
}
