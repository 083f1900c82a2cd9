/**
 * Compares each function's grants with the accesses that the tests' stacks recorded. Fails for a grant that no test used, and
 * for an access that was denied. Runs after the tests, on the records of the same build.
 */
const fs = require("node:fs");
const path = require("node:path");
const { ensureBuild } = require("./build");

/**
 * Grants that the tests do not use, each with its reason. `functions` and `grants` are patterns; a grant is
 * `<action> <resource>`.
 */
const allowedUnused = [
  {
    functions: /./,
    grants: /^s3:ListBucket bucket$/,
    reason: "S3 asks for it only where an object is missing: it answers 403 instead of 404 without it.",
  },
  {
    functions: /./,
    grants: /^dynamodb:(BatchGetItem|BatchWriteItem|UpdateItem) table\/Metrics$/,
    reason: "Logs of metrics are folded in batches after thousands of points.",
  },
  {
    functions: /^(api|fire-triggers)$/,
    grants: /^iam:PassRole /,
    reason: "EventBridge Scheduler asks IAM for it; the embedded one does not.",
  },
  {
    functions: /^(api|conclude-run)$/,
    grants: /^batch:(DescribeJobs|ListJobs) \*$/,
    reason: "Finds the job of a process that died between SubmitJob and its record.",
  },
  {
    functions: /^launch-training$/,
    grants:
      /^(batch:(DescribeJobs \*|TerminateJob jobs)|states:SendTaskFailure .*|s3:GetObject objects|dynamodb:(GetItem|Query) table\/Metrics)$/,
    reason: "A repeated invocation goes on with the attempt of one that died; a refused job answers with a failure.",
  },
  {
    functions: /^finish-training$/,
    grants:
      /^(batch:(SubmitJob|ListJobs|TerminateJob) .*|dynamodb:ConditionCheckItem .*|dynamodb:Query table\/Catalog\/gsi1|states:(SendTaskFailure|StopExecution) .*|dynamodb:DeleteItem .*|events:PutEvents .*)$/,
    reason: "The next attempt after a lost host, limits, spot notices of EC2, and executions that are stopped.",
  },
  {
    functions: /^(fire-triggers|pipeline-step)$/,
    grants:
      /^(batch:(DescribeJobs|ListJobs|TerminateJob) .*|states:(SendTaskSuccess|SendTaskFailure|StopExecution|DescribeExecution) .*|events:PutEvents .*|dynamodb:ConditionCheckItem table\/Catalog)$/,
    reason:
      "Cancels a run that another cause replaces, or that a cancelled step waits for; the sweep looks at executions.",
  },
  {
    functions: /^continue-job$/,
    grants:
      /^(batch:(ListJobs|SubmitJob|TerminateJob) .*|dynamodb:(ConditionCheckItem table\/Catalog|Query table\/Catalog\/gsi1)|states:SendTaskFailure .*)$/,
    reason: "Completes a training as finish-training does; a trainer that asks has nearly always stored its result.",
  },
  {
    functions: /^conclude-run$/,
    grants: /^dynamodb:Query table\/Catalog\/gsi1$/,
    reason: "Finds the job of a process that died between the assignment of a shared job and its record.",
  },
  {
    functions: /^request-approval$/,
    grants: /^(states:SendTaskSuccess state-machine|states:DescribeExecution executions)$/,
    reason: "A decision that came before the wait; an execution of the request that has ended.",
  },
  {
    functions: /^promote$/,
    grants: /^dynamodb:UpdateItem table\/Catalog$/,
    reason: "The port of a run's phases also stores tokens, which a promotion only reads.",
  },
  {
    functions: /^conclude-run$/,
    grants: /^s3:GetObject objects$/,
    reason: "Reads the predictions of slices that the gates of an unregistered run need.",
  },
  {
    functions: /^reclaim-storage$/,
    grants: /^s3:Delete(Object|ObjectVersion) objects$/,
    reason:
      "The objects of test stacks are too young. test/adapters/reclamation/embedded.test.ts deletes under the role.",
  },
  {
    functions: /^drive-study$/,
    grants: /^s3:(GetObject|PutObject) objects$/,
    reason: "Reads the trials of a warm start; copies the manifest of a checkpoint that another trial continues.",
  },
  {
    functions: /^reconcile-runs$/,
    grants: /^(batch|states|events|dynamodb|s3):/,
    reason: "Each minute it repeats what a process that died has left: any of its grants may be unused in a test run.",
  },
  {
    functions: /^(register-model|evaluate-gates|request-approval|promote)$/,
    grants: /^(s3:(GetObject|PutObject) objects|states:SendTaskFailure .*)$/,
    reason: "Publishes the changes of a process that died before, and answers runs whose version was rejected since.",
  },
  {
    functions: /^evaluate-gates$/,
    grants: /^dynamodb:(GetItem|Query) table\/Metrics$|^dynamodb:BatchGetItem table\/Catalog$/,
    reason: "Reads the metrics of champions that were logged from elsewhere.",
  },
  {
    functions: /^stream-metrics$/,
    grants: /^dynamodb:/,
    reason: "Streams are followed for as long as a test waits: which reads are made depends on timing.",
  },
  {
    functions: /^notify$/,
    grants: /^dynamodb:(UpdateItem table\/Catalog|Query table\/Catalog\/gsi1)$/,
    reason: "The sweep lists and postpones attempts that were not accepted. Test stacks may end before it is due.",
  },
  {
    functions: /^fire-triggers$/,
    grants: /^(s3|kms):/,
    reason: "Resolves the initial weights of a rule whose job is fine-tuned.",
  },
  {
    functions: /^fire-triggers$/,
    grants: /^scheduler:/,
    reason: "The sweep repairs schedules that a process that died has left.",
  },
  {
    functions: /^run-/,
    grants: /^s3:AbortMultipartUpload /,
    reason: "Aborts the upload of a checkpoint that fails.",
  },
  {
    functions: /^run-/,
    grants: /^dynamodb:(GetItem|BatchGetItem) table\/Gangs$/,
    reason: "Read the head of a large gang, and its list of members where it has more than 64.",
  },
  {
    functions: /^(snapshot-dataset|finish-training|continue-job|store-features)$/,
    grants: /^s3:AbortMultipartUpload objects$/,
    reason: "Aborts the upload of a shard, or the copy of weights above 5 GiB, that fails.",
  },
  {
    functions: /^api$/,
    grants: /^(s3:AbortMultipartUpload objects|sns:Publish team-topics)$/,
    reason: "Aborted uploads, and the test notification of a team that has a topic.",
  },
];

const folder = path.join(ensureBuild(), "accesses");
if (!fs.existsSync(folder)) {
  console.error(`There are no records of accesses in ${folder}: run the tests first.`);
  process.exit(1);
}
const roles = JSON.parse(fs.readFileSync(path.join(folder, "roles.json"), "utf8"));
const records = fs
  .readdirSync(folder)
  .filter((file) => file.endsWith(".jsonl"))
  .flatMap((file) => fs.readFileSync(path.join(folder, file), "utf8").split("\n"))
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line));

const nameOf = (role) => role.replace(/^ringmaster-/, "");
/** Tests act as trainers that ask for more than they may. */
const mayBeDenied = /^(run-|trainer-job$)/;
const used = new Set(records.map(({ role, action, resource }) => `${role} ${action} ${resource}`));
const denied = records
  .filter(({ role, granted }) => !granted && !mayBeDenied.test(nameOf(role)))
  .map(({ role, action, resource }) => `${nameOf(role)} was denied ${action} on ${resource}`);
const neverUsed = Object.entries(roles).flatMap(([role, permissions]) =>
  permissions
    .flatMap(({ resource, actions }) => actions.map((action) => `${action} ${resource}`))
    .filter((grant) => !used.has(`${role} ${grant}`))
    .filter(
      (grant) => !allowedUnused.some(({ functions, grants }) => functions.test(nameOf(role)) && grants.test(grant)),
    )
    .map((grant) => `${nameOf(role)} never used ${grant}`),
);
const problems = new Set([...denied, ...neverUsed]);
for (const problem of problems) console.error(problem);
if (problems.size > 0) {
  console.error("Change the groups that the handler's ports name, or add a reason to scripts/check-grants.js.");
  process.exitCode = 1;
} else console.log(`grants: ${used.size} kinds of access recorded, none denied, and no grant unused`);
