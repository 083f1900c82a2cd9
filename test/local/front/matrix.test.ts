import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createDocumentClient } from "../../../adapters/dynamodb/client";
import { createRunRepository } from "../../../adapters/dynamodb/run-repository";
import { Table } from "../../../adapters/dynamodb/table";
import type { Run } from "../../../core/runs/shapes";
import type { Iam } from "../../../local/iam";
import { functionNameIn, functions } from "../../../platform/functions";
import {
  endedRunsPolicy,
  endedRunsPolicyName,
  jobPermissions,
  type PolicyDocument,
  policyOf,
  runRoleNameIn,
  sessionPolicy,
} from "../../../platform/permissions";
import { createIam, jobRoleName } from "../../../stack/iam";
import { localConfig, localWorld } from "../../../stack/settings";
import { recordOfRun, runOf } from "../../support/fixtures";
import { functionPermissions } from "../../support/permissions";
import { rounds } from "../../support/rounds";
import type { Keys, Unsigned } from "../../support/sign";
import { type Answer, startAwsPort } from "./aws-port";
import { ids, objects, type PortRequest, portRequests, rows } from "./aws-requests";

const world = localWorld();
const { prefix, bucket, tables } = localConfig();
const runRole = runRoleNameIn(world);
const requests = portRequests("http://placeholder");
const nameOf = ({ service, operation }: PortRequest): string => `${service} ${operation}`;
const operations = [...new Set(requests.map(nameOf))];
const deletions = operations.filter((name) => /Delete|DELETE|Remove|Deregister|Unsubscribe|Untag/.test(name));
const others = operations.filter((name) => !deletions.includes(name));

const fewTargets: ReadonlySet<string> = new Set(
  requests.map(({ target }) => target).filter((target) => !/^its team|^its ch|^its artifacts|^another/.test(target)),
);
const training = ["its training", "its checkpoint"];
const readable = [...training, "its artifacts", "its team's content", "its team's features"];
/**
 * The operations that a run's trainers may call: docs/security.md, "A trainer's credentials". All others are refused.
 */
const ofTrainers: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem"].map((name) => [`dynamodb ${name}`, ["its gang"]]),
  ),
  "s3 object GET": readable,
  "s3 object HEAD": readable,
  "s3 object PUT": training,
  "s3 object PUT copy onto": training,
  "s3 object PUT copy from": readable,
  "s3 object DELETE": training,
  "s3 bucket POST delete": training,
  "s3 object POST uploads": training,
  "s3 object PUT uploadId": training,
  "s3 object PUT uploadId copy onto": training,
  "s3 object PUT uploadId copy from": readable,
  "s3 object POST uploadId": training,
  "s3 object DELETE uploadId": training,
  "s3 bucket GET list-type": [...training, "its artifacts"],
  "lambda Invoke": ["ingest-metrics"],
};

function allows({ Statement }: PolicyDocument, { needs }: PortRequest): boolean {
  return needs.every(({ action, resource }) =>
    Statement.some(({ Action, Resource }) => {
      const globs = [Resource]
        .flat()
        .map((one) => one.split("*").map((part) => part.replace(/[.?+^$()[\]{}|\\]/g, "\\$&")));
      return (
        [Action].flat().includes(action) && globs.some((parts) => new RegExp(`^${parts.join(".*")}$`).test(resource))
      );
    }),
  );
}

describe("the matrix of the AWS port's operations and classes of keys", () => {
  let port: Awaited<ReturnType<typeof startAwsPort>>;
  let before: readonly string[];
  let strangers: Readonly<Record<string, readonly [keys: Keys | undefined, code: RegExp]>>;
  let roles: readonly {
    readonly name: string;
    readonly keys: Keys;
    sends(request: PortRequest): boolean;
    may(request: PortRequest): boolean;
  }[];

  const at = ({ url, ...rest }: Unsigned): Unsigned => ({
    ...rest,
    url: url.replace("http://placeholder", port.endpoint),
  });
  const session = (iam: Iam, runId: string, team: string = ids.team): Keys =>
    iam.issue({ role: runRole, name: runId, policy: sessionPolicy({ team, runId }, world) });
  const isRefused = ({ status, text }: Answer): boolean =>
    (status === 403 && text === "") ||
    (status === 200 && /<Error>.*<Code>AccessDenied</s.test(text)) ||
    ([400, 403].includes(status) && /AccessDenied|InvalidToken/.test(text));

  beforeAll(async () => {
    port = await startAwsPort();
    const { iam, endpoint } = port;
    const documents = createDocumentClient(new DynamoDBClient({ endpoint }));
    const runs = createRunRepository(new Table(documents, tables.catalog));
    const create = (run: Run) => runs.create(run, recordOfRun(run));
    for (const [runId, team] of [
      [ids.run, ids.team],
      [ids.sibling, ids.team],
      [ids.other, ids.otherTeam],
    ] as const) {
      await create(runOf(runId, { team, status: "running" }));
    }
    await create(runOf("run-ended", { team: ids.team, status: "running" }));
    await runs.close("run-ended", { status: "killed", at: "2026-01-01T00:00:00.000Z" });
    await owner({
      ...{ method: "POST", url: `${endpoint}/`, service: "iam" },
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({
        ...{ Action: "PutRolePolicy", RoleName: runRole, PolicyName: endedRunsPolicyName },
        PolicyDocument: JSON.stringify(endedRunsPolicy(["run-ended"]).document),
      }).toString(),
    });
    for (const key of Object.values(objects)) {
      await owner({ method: "PUT", url: `${endpoint}/${bucket}/${key}`, body: "what was there", service: "s3" });
    }
    for (const [, TableName, pk] of rows) {
      await owner(json("PutItem", { TableName, Item: { pk: { S: pk }, sk: { S: "HOSTILE" }, is: { S: "there" } } }));
    }
    before = await stored();
    const elsewhere = createIam({ world, functionPermissions, secret: "another data directory's" });
    const wrong = { secretAccessKey: "x".repeat(40) };
    const unknown = /UnrecognizedClient|InvalidClientTokenId|InvalidAccessKeyId/;
    const mismatch = /InvalidSignature|SignatureDoesNotMatch/;
    const expired = /ExpiredToken/;
    const denied = /AccessDenied|InvalidToken/;
    strangers = {
      "no keys": [undefined, /MissingAuthenticationToken|AccessDenied/],
      "the owner's key with a wrong signature": [{ ...iam.owner, ...wrong }, mismatch],
      "a session with a wrong signature": [{ ...session(iam, ids.run), ...wrong }, mismatch],
      "another data directory's owner": [elsewhere.owner, unknown],
      "another data directory's session": [session(elsewhere, ids.run), unknown],
      "a session that has expired": [iam.issue({ role: runRole, name: ids.run, expiresAt: Date.now() - 1 }), expired],
      "the session of a run that has ended": [session(iam, "run-ended"), denied],
    };
    const jobPolicy = policyOf(jobPermissions, world);
    const everyNth = rounds(10, 1);
    roles = [
      {
        name: "a run's trainers",
        keys: session(iam, ids.run),
        sends: () => true,
        may: (request) => ofTrainers[nameOf(request)]?.includes(request.target) ?? false,
      },
      {
        name: "a trainer's job",
        keys: iam.issue({ role: jobRoleName(prefix), name: "trainer" }),
        sends: () => true,
        may: (request) => allows(jobPolicy, request),
      },
      ...functions.map(({ name }, place) => {
        const policy = policyOf(functionPermissions[name], world);
        const keys = iam.issue({ role: functionNameIn(prefix, name), name });
        const ofFunctions = requests.filter(({ target }) => fewTargets.has(target));
        const sent = new Set(ofFunctions.filter((_, index) => (index + place) % everyNth === 0));
        return {
          name,
          keys,
          sends: (each: PortRequest) => sent.has(each),
          may: (each: PortRequest) => allows(policy, each),
        };
      }),
    ];
  });
  afterAll(() => port.stop());

  const json = (operation: string, body: object): Unsigned => ({
    ...{ method: "POST", url: `${port.endpoint}/`, service: "dynamodb", body: JSON.stringify(body) },
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `DynamoDB_20120810.${operation}` },
  });
  async function owner(request: Unsigned): Promise<string> {
    const { status, text } = await port.send(request, port.iam.owner);
    if (status >= 300) throw new Error(`${request.url} was answered ${status}: ${text}`);
    return text;
  }

  async function stored(): Promise<readonly string[]> {
    const reads = requests.filter((one) =>
      /(^(states List|states Describe|events List|sns ListTopics|scheduler List|logs DescribeLogGroups)|batch describe|batch list)/.test(
        nameOf(one),
      ),
    );
    const listed = reads.map(({ request }) => port.send(at(request), port.iam.owner).then(({ text }) => text));
    return Promise.all([
      ...Object.values(tables).map((TableName) => owner(json("Scan", { TableName }))),
      owner(json("ListTables", {})),
      owner({ url: `${port.endpoint}/${bucket}?list-type=2`, service: "s3" }),
      owner({ url: `${port.endpoint}/${bucket}?uploads=`, service: "s3" }),
      ...listed.map(async (text) => (await text).replace(/<RequestId>.*<\/RequestId>/, "")),
    ]);
  }

  it("has operations of every service", () => {
    const services = new Set(requests.map(({ service }) => service));
    const all = ["dynamodb", "s3", "states", "events", "logs", "batch", "scheduler", "sns", "lambda", "iam", "sts"];
    expect([...services]).toEqual(all);
    expect(operations.length).toBeGreaterThan(60);
  });

  const nothingChanged = async () => expect(await stored()).toEqual(before);
  const isRefusedToOthers = async (operation: string) => {
    const ofThis = requests.filter((one) => nameOf(one) === operation);
    const faults: string[] = [];
    for (const [name, [keys, code]] of Object.entries(strangers)) {
      const answer = await port.send(at(ofThis[0]!.request), keys);
      const { status, text } = answer;
      const isHead = ofThis[0]!.request.method === "HEAD";
      const isRight = [400, 403].includes(status) ? isHead || code.test(text) : isRefused(answer) && code.test(text);
      if (!isRight) faults.push(`${name}: ${status} ${text}`);
    }
    for (const { name, keys, may, sends } of roles) {
      for (const one of ofThis.filter((each) => sends(each) && !may(each))) {
        const answer = await port.send(at(one.request), keys);
        if (!isRefused(answer)) faults.push(`${name}: ${one.target}: ${answer.status} ${answer.text}`);
      }
    }
    expect(faults).toEqual([]);
  };

  it.each(others)("%s is refused to everyone without the right to it", isRefusedToOthers);
  it("no refused operation has created or changed anything", nothingChanged);
  it.each(deletions)("%s is refused to everyone without the right to it", isRefusedToOthers);
  it("no refused operation has deleted anything", nothingChanged);

  it("each operation is allowed for callers with the right to it", async () => {
    const faults: string[] = [];
    for (const { name, keys, may, sends } of roles) {
      const open = requests.filter((each) => sends(each) && may(each));
      for (const one of open.filter(({ operation }) => !/ (DELETE|POST uploadId)/.test(operation))) {
        const { status, text } = await port.send(at(one.request), keys);
        if (status === 401 || status === 403 || /AccessDenied/.test(text)) {
          faults.push(`${name}: ${nameOf(one)}: ${one.target}: ${status} ${text}`);
        }
      }
    }
    expect(faults).toEqual([]);
  });
});
