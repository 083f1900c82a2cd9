import { linesOf } from "./markdown";
import { hasAws, hasMlflow, type WorldIds } from "./world";

export interface NotRun {
  readonly file: string;
  /** The beginning of the command. */
  readonly command: string;
  readonly reason: string;
}

const newcomer = "test/e2e/newcomer.test.ts installs the package in an empty directory";
const aws = "needs an AWS account";
const checkout = "works on the checkout itself";
const bench = "a benchmark takes minutes; bench/README.md has its results";

/** Every command that is not run. An entry that matches no command fails the test. */
export const notRun: readonly NotRun[] = [
  { file: "docs/notifications.md", command: "aws sns subscribe", reason: aws },
  { file: "README.md", command: "npx ringmaster down", reason: "run once, when all other commands were run" },
  { file: "docs/local.md", command: "npx ringmaster down", reason: "run once, when all other commands were run" },
  {
    file: "README.md",
    command: "npm run quickstart",
    reason: "CI runs it after the tests",
  },
  { file: "README.md", command: "npm run pack", reason: newcomer },
  { file: "README.md", command: "package=", reason: newcomer },
  { file: "README.md", command: "cd ", reason: newcomer },
  { file: "README.md", command: "npm install", reason: newcomer },
  { file: "README.md", command: "npx ringmaster native", reason: "downloads TensorFlow" },
  { file: "README.md", command: "npm run verify", reason: "runs the other tests" },
  { file: "docs/scale.md", command: "npm run bench", reason: bench },
  { file: "docs/gpu.md", command: "npm ci", reason: checkout },
  { file: "docs/gpu.md", command: "npm run gpu-check", reason: "needs a GPU; test/bench/gpu-check tries it on a CPU" },
  {
    file: "docs/deploy.md",
    command: "npm install --no-save",
    reason: `${checkout}; installs the build of another platform`,
  },
  { file: "docs/deploy.md", command: "npm ci", reason: checkout },
  { file: "docs/deploy.md", command: "git pull", reason: checkout },
  {
    file: "docs/deploy.md",
    command: "npm run cost",
    reason: "synthesises the CDK app for 40 s; test/infra/cost holds the figures",
  },
  { file: "docs/deploy.md", command: "npx cdk", reason: aws },
  { file: "docs/deploy.md", command: "npx jest test/infra/platform", reason: "a part of verify" },
  { file: "docs/deploy.md", command: "aws ", reason: aws },
  { file: "docs/deploy.md", command: "for ", reason: aws },
  { file: "docs/operations.md", command: "aws ", reason: aws },
  { file: "docs/deploy.md", command: "bucket=$(aws", reason: aws },
  { file: "docs/deploy.md", command: "tag=$(git", reason: aws },
  { file: "docs/deploy.md", command: "fs=$(aws", reason: aws },
  { file: "docs/deploy.md", command: "export RINGMASTER_API_URL=$(aws", reason: aws },
  {
    file: "docs/api/README.md",
    command: "RINGMASTER_FUZZ_REQUESTS",
    reason: "minutes of random requests; verify runs fewer of them",
  },
  { file: "docs/tracking.md", command: "ringmaster browse", reason: "serves until Ctrl-C; test/cli/browse runs it" },
  {
    file: "docs/datasets.md",
    command: "ringmaster datasets push https:",
    reason: "needs the internet; test/cli/datasets/remote-sources.test.ts fetches the like",
  },
  ...["sklearn", "pytorch"].flatMap((example) =>
    ["npx ringmaster submit", "npx ringmaster models approve"].map((command) => {
      const reason = "needs packages of Python; test/peers/containers.test.ts runs it";
      return { file: `examples/${example}/README.md`, command, reason };
    }),
  ),
  { file: "test/peers/mlflow/README.md", command: "", reason: "runs other tests of this repository" },
  {
    file: "docs/export.md",
    command: "import numpy, onnxruntime",
    reason: "a fragment; test/peers/onnx-serve.py runs the like",
  },
  {
    file: "docs/export.md",
    command: "import tensorflow",
    reason: "needs TensorFlow; test/peers/saved-model-serve.py runs the like",
  },
  { file: "docs/export.md", command: "def to_inputs", reason: "a fragment" },
  {
    file: "docs/mlflow.md",
    command: "mlflow.sklearn.log_model",
    reason: "a fragment; test/peers/mlflow-client.py runs the like",
  },
  {
    file: "docs/tracking.md",
    command: "mlflow.search_runs",
    reason: "a fragment; test/peers/mlflow-client.py runs the like",
  },
  ...(hasAws
    ? []
    : [
        { file: "docs/datasets.md", command: "aws ", reason: "needs the AWS CLI" },
        { file: "docs/datasets.md", command: "ringmaster datasets inbox --retry", reason: "needs the AWS CLI" },
        { file: "docs/local.md", command: "aws ", reason: "needs the AWS CLI" },
      ]),
  ...(hasMlflow
    ? []
    : [
        {
          file: "docs/mlflow.md",
          command: "import mlflow",
          reason: "needs MLflow's client in RINGMASTER_PEERS_PYTHON",
        },
        {
          file: "docs/mlflow.md",
          command: "python train.py",
          reason: "needs MLflow's client in RINGMASTER_PEERS_PYTHON",
        },
      ]),
];

/** A replacement in a command before it runs. */
export type Exchange = readonly [pattern: RegExp, by: string];

export interface Setting {
  readonly file: string;
  /** Text that a command of the block contains. Absent: every block of the page has this setting. */
  readonly command?: string;
  /** A separate team, so that the block begins without data. */
  readonly team?: string;
  readonly before?: readonly string[];
  readonly exchange?: readonly Exchange[];
}

const fewer: readonly Exchange[] = [
  [/prepare\.js (\S+)( \d+)?$/, "prepare.js $1 400"],
  [/thresholds\.accuracy=0\.9/, "thresholds.accuracy=0"],
];
const push = "ringmaster datasets push digits --file digits.parquet --schema examples/digits/schema.yaml";

const featureView =
  "name: spend\\nentities: [customer]\\neventTime: at\\ncreationTime: known\\ncolumns: {customer: int, at: timestamp, known: timestamp, spend: float, plan: string}";
const featureRows = "customer,at,known,spend,plan\\n1,2026-01-01T00:00:00Z,,10,basic";
const storeRows = [
  `printf '${featureView}\\n' > spend.yaml`,
  `printf '${featureRows}\\n' > spend.csv`,
  `printf '{"customer": 1, "at": "2026-01-02T00:00:00Z", "spend": 12}\\n' > rows.jsonl`,
  "printf 'customer,when,y\\n1,2026-01-03T00:00:00Z,1\\n' > labels.csv",
  "ringmaster views push spend.yaml",
];

export const settings: readonly Setting[] = [
  {
    file: "docs/datasets.md",
    command: "jan.csv",
    team: "files",
    before: [
      "node .programs/tables.js",
      "for month in jan feb; do (echo x,y; for i in $(seq 20); do echo $i,a; echo $i,b; done) > $month.csv; done",
    ],
  },
  {
    file: "docs/datasets.md",
    command: "reviews/",
    before: [
      "node .programs/samples.js",
      "mkdir shards; (cd members; tar --create --file ../shards/one.tar *)",
      "mkdir -p reviews/good reviews/bad; for i in $(seq 20); do echo fine $i > reviews/good/$i.txt; echo poor $i > reviews/bad/$i.txt; done",
    ],
  },
  {
    file: "docs/datasets.md",
    command: "s3://bucket/raw",
    team: "remote",
    before: ["node .programs/tables.js", "node .programs/put.js data/1.parquet raw/2026/1.parquet"],
    exchange: [[/s3:\/\/bucket\/raw\/2026\/ --label delayed/, "s3://ringmaster-data/raw/2026/ --label y"]],
  },
  {
    file: "docs/pipelines.md",
    before: [
      "mkdir -p src; for name in make square sum report; do echo 'export default () => ({ list: [1, 2], y: 1, total: 3 });' > src/$name.ts; done",
      `cat > weekly.yaml <<'END'\n${
        linesOf("docs/pipelines.md")
          .join("\n")
          .split(/```\w*\n/)[1]
      }END`,
    ],
  },
  {
    file: "docs/drift.md",
    before: ["node .programs/served.js"],
    exchange: [
      [/(inferences|drift|--model) churn/g, "$1 digits"],
      [/--fail-on critical/, "--fail-on critical || [ $? = 3 ]"],
      [/--every-rows 5000/, "--every-rows 100"],
      [/--dataset customers/, "--dataset digits"],
      // A window ends when rows arrive after the monitor's creation.
      [
        /^(.*monitors show served)/m,
        "ringmaster models inferences digits --file later.jsonl && window_of served && $1",
      ],
    ],
  },
  { file: "docs/feature-store.md", before: storeRows },
  // A webhook's host needs a public address. Without a network no name has one. The commands send nothing to it.
  {
    file: "docs/notifications.md",
    team: "notified",
    exchange: [[/https:\/\/example\.com\/ringmaster/, "https://1.1.1.1/ringmaster"]],
  },
  // A version of each run would have to pass the gates of the other pages' model.
  {
    file: "docs/jobs.md",
    command: "--set seed=1..5",
    exchange: [
      [/submit job\.yaml/, "submit plain.yaml"],
      [/(submit .*)seed=1\.\.5 --wait/, "$1seed=1..2 --wait | tee group.txt"],
      [/group-0123456789ab/, "$(grep -o 'group-[0-9a-f]*' group.txt | head -1)"],
    ],
  },
  { file: "docs/tuning.md", command: "study create", exchange: [[/--trials 48 --resume 3=9/, "--trials 3"]] },
  { file: "docs/registry.md", command: "ringmaster evaluate", exchange: [[/digits-2026/, "digits"]] },
  { file: "docs/your-own-data.md", team: "own" },
  { file: "README.md", command: "npx ringmaster up", team: "readme", exchange: fewer },
  { file: "docs/deploy.md", command: "npx ringmaster submit", team: "deploy", exchange: fewer },
  {
    file: "docs/datasets.md",
    command: "ringmaster datasets inbox",
    team: "vision",
    before: [push, "aws s3 cp march.parquet s3://ringmaster-data/teams/vision/inbox/unknown/march.parquet"],
    exchange: [[/9f86d081884c7d65/, "$(report)"]],
  },
  { file: "docs/validation.md", team: "validated", before: [push] },
  { file: "docs/local.md", command: "npx ringmaster --team vision", before: ["export RINGMASTER_TEAM=ours"] },
  // A repair needs a stopped stack, and the stack of these tests runs.
  {
    file: "docs/local.md",
    command: "npx ringmaster repair",
    exchange: [[/ringmaster repair/, 'ringmaster --data "$(mktemp -d)" repair']],
  },
  {
    file: "docs/gates.md",
    command: "ringmaster models check digits",
    before: ["ringmaster models policy set digits reviewed.yaml", "ringmaster models judge digits 3"],
  },
  { file: "docs/reproduce.md", command: "ringmaster runs reproduce", exchange: [[/RUN2/, "$(latest_run)"]] },
  // The command deletes the run, so no other page may use it.
  { file: "docs/tracking.md", command: "ringmaster runs delete RUN", exchange: [[/RUN/, "$(run_of 1)"]] },
  {
    file: "docs/local.md",
    command: "npx ringmaster tokens create",
    exchange: [
      [/(tokens create .*\S)/, "$1 | tee token.txt"],
      [/rmt-…/, "$(head -1 token.txt)"],
      [/0c1d2e3f4a5b/, "$(grep -o 'keys [0-9a-f]*' token.txt | cut -c6-)"],
    ],
  },
  {
    file: "docs/serving.md",
    command: "ringmaster models traffic set",
    before: ["ringmaster models policy set digits open.yaml", "ringmaster models judge digits 4"],
    exchange: [[/--epoch 12/, "--epoch $(epoch)"]],
  },
  { file: "examples/digits/README.md", command: "npx ringmaster models resolve", team: "example", exchange: fewer },
  {
    file: "examples/flights/README.md",
    team: "flights",
    // A sample of the three million rows, in batches that leave enough steps.
    exchange: [
      [/(prepare\.js \S+)/, "$1 30000"],
      [/--wait/, "--wait --set hyperparameters.batchSize=128 --set 'evaluation.thresholds={ auc: 0 }'"],
    ],
  },
  {
    file: "examples/digits/README.md",
    command: "npx ringmaster triggers create --on dataset",
    team: "retrained",
    exchange: fewer,
  },
];

/** The placeholders of all pages. */
export function placeholders({ api, endpoint, runs }: WorldIds): readonly Exchange[] {
  return [
    [/http:\/\/127\.0\.0\.1:4700/g, api],
    [/http:\/\/127\.0\.0\.1:4566/g, endpoint],
    [/<bucket>/g, "ringmaster-data"],
    [/\bEXPERIMENT\b/g, "digits"],
    [/<run>/g, "$(latest_run)"],
    [/\bRUN2\b/g, runs[3]!],
    [/\bOTHER\b/g, runs[3]!],
    // Its version is in production: it has ended.
    [/\bRUN\b/g, runs[2]!],
  ];
}
