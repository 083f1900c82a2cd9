import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { APIGatewayTokenAuthorizerEvent } from "aws-lambda";
import { createAuthorizer, createVerifier } from "../../../lambdas/authorize/authorize";

const issuer = "https://id.example.com";
const config = { issuer, audience: "ringmaster", groupsClaim: "groups" };
const ours = generateKeyPairSync("rsa", { modulusLength: 2048 });
const theirs = generateKeyPairSync("rsa", { modulusLength: 2048 });
const methodArn = "arn:aws:execute-api:eu-central-1:111122223333:abc/live/GET/api/v1/models";

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

function tokenOf(
  claims: object,
  { key = ours.privateKey, header = {} }: { key?: KeyObject; header?: object } = {},
): string {
  const text = `${encode({ alg: "RS256", kid: "k1", typ: "JWT", ...header })}.${encode({ iss: issuer, aud: "ringmaster", sub: "ada", exp: inSeconds(600), ...claims })}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

/** The provider: its configuration and its keys, by URL; and how often each was requested. */
function provider(configuration: object = { issuer, jwks_uri: `${issuer}/keys` }) {
  const requested: string[] = [];
  const answers: Record<string, object> = {
    [`${issuer}/.well-known/openid-configuration`]: configuration,
    [`${issuer}/keys`]: {
      keys: [{ ...ours.publicKey.export({ format: "jwk" }), kid: "k1", use: "sig", alg: "RS256" }],
    },
  };
  const send = async (url: string | URL | Request): Promise<Response> => {
    requested.push(String(url));
    const answer = answers[String(url)];
    return answer ? Response.json(answer) : new Response("", { status: 503 });
  };
  return { send, requested, answers };
}

function authorizerOf(send: typeof fetch) {
  const authorize = createAuthorizer(createVerifier(config, send), config);
  return (authorizationToken: string) =>
    authorize({ type: "TOKEN", authorizationToken, methodArn } as APIGatewayTokenAuthorizerEvent);
}

it("lets a good token in, for the whole API, with its groups", async () => {
  const { send, requested } = provider();
  const authorize = authorizerOf(send);
  const exp = inSeconds(60);
  const answer = await authorize(
    `Bearer ${tokenOf({ groups: ["vision", 7, "nlp"], scope: "openid ringmaster/read", exp })}`,
  );
  expect(answer).toEqual({
    principalId: "ada",
    policyDocument: {
      Version: "2012-10-17",
      Statement: [
        {
          Action: "execute-api:Invoke",
          Effect: "Allow",
          Resource: "arn:aws:execute-api:eu-central-1:111122223333:abc/live/*",
        },
      ],
    },
    context: { groups: '["vision","nlp"]', issuer, exp: String(exp), scope: "openid ringmaster/read" },
  });
  await authorize(`Bearer ${tokenOf({})}`);
  expect(requested).toHaveLength(2); // the provider's configuration and its keys, once
});

it.each([
  ["a list", ["a", "b"], '["a","b"]'],
  ["one text with blanks", "a b", '["a","b"]'],
  ["one text with commas", "a, b", '["a","b"]'],
  ["nothing", undefined, "[]"],
])("reads groups that are %s", async (_name, groups, expected) => {
  const answer = await authorizerOf(provider().send)(`Bearer ${tokenOf({ groups })}`);
  expect(answer.context).toMatchObject({ groups: expected });
});

it.each([
  ["nothing", ""],
  ["a password", "Basic YWRhOnNlY3JldA=="],
  ["no token", "Bearer nonsense"],
  ["JSON that is none", "Bearer a.b.c"],
  ["another key's signature", `Bearer ${tokenOf({}, { key: theirs.privateKey })}`],
  ["an unknown key", `Bearer ${tokenOf({}, { header: { kid: "k2" } })}`],
  [
    "no signature by its own word",
    `Bearer ${encode({ alg: "none", kid: "k1" })}.${encode({ iss: issuer, aud: "ringmaster", sub: "ada" })}.x`,
  ],
  ["an HMAC with the public key", `Bearer ${tokenOf({}, { header: { alg: "HS256" } })}`],
  ["another issuer", `Bearer ${tokenOf({ iss: "https://evil.example.com" })}`],
  ["another audience", `Bearer ${tokenOf({ aud: "payroll" })}`],
  ["an expired token", `Bearer ${tokenOf({ exp: inSeconds(-60) })}`],
  ["a token of tomorrow", `Bearer ${tokenOf({ nbf: inSeconds(3_600) })}`],
  ["a token that never expires", `Bearer ${tokenOf({ exp: undefined })}`],
  ["a token of nobody", `Bearer ${tokenOf({ sub: "" })}`],
])("answers 401 to %s", async (_name, header) => {
  await expect(authorizerOf(provider().send)(header)).rejects.toThrow(/^Unauthorized$/);
});

it.each([
  ["is of another issuer", { issuer: "https://evil.example.com", jwks_uri: `${issuer}/keys` }],
  ["has keys without TLS", { issuer, jwks_uri: "http://id.example.com/keys" }],
  ["has no keys", { issuer }],
])("fails, and does not let in, where the provider's configuration %s", async (_name, configuration) => {
  const failed = authorizerOf(provider(configuration).send)(`Bearer ${tokenOf({})}`);
  await expect(failed).rejects.toThrow(/id\.example\.com/);
  await expect(failed).rejects.not.toThrow(/^Unauthorized$/);
});

it("is itself again when the provider is", async () => {
  const { send, answers } = provider();
  const url = `${issuer}/.well-known/openid-configuration`;
  const { [url]: configuration } = answers;
  delete answers[url];
  const authorize = authorizerOf(send);
  await expect(authorize(`Bearer ${tokenOf({})}`)).rejects.toThrow("answered 503");
  answers[url] = configuration!;
  expect((await authorize(`Bearer ${tokenOf({})}`)).principalId).toBe("ada");
});
