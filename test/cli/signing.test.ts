import { signRequest } from "../../cli/signing";

const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const now = Date.parse("2015-08-30T12:36:00Z");
const credential = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830";

/** From AWS's own test suite for Signature Version 4. */
it.each([
  ["get-vanilla", "https://example.amazonaws.com/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"],
  [
    "get-vanilla-query-order-key-case",
    "https://example.amazonaws.com/?Param2=value2&Param1=value1",
    "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  ],
])("%s", async (_name, url, signature) => {
  const request = { method: "GET", url: new URL(url), headers: {}, body: undefined };
  expect(await signRequest(request, credentials, { region: "us-east-1", service: "service", now })).toEqual({
    "x-amz-date": "20150830T123600Z",
    authorization: `${credential}/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

const inQuery = "/live/api/v1/training-runs?nextToken=a%2Bb%3D%3D&limit=5&metric=train/loss";
const inPath = "/live/api/v1/training-runs/run%2F1%20%C3%A4!*'()/metrics";
const headers = { "content-type": "application/json", "idempotency-key": "a  b " };
const session = "host;x-amz-date;x-amz-security-token";

/** The signatures were computed from the specification, by code that shares nothing with the library. */
it.each([
  ["a query", inQuery, {}, undefined, session, "268f89567870727123c0e8ddc5c7f8d1bee39595af10b2f52cd859a6bbf3ab10"],
  [
    "names that must be encoded",
    inPath,
    {},
    undefined,
    session,
    "7c9d744aeead27cf1c6222637fceed4912167d2af84afc307e6e57aa9d2cd60c",
  ],
  [
    "a body and headers",
    "/live/api/v1/training-runs",
    headers,
    '{"job":{"notes":"ä"}}',
    `content-type;host;idempotency-key;x-amz-date;x-amz-security-token`,
    "029ea27a26f6be636c549a2c477de43eca339e3d8bf9cd281115ca4a39f5d84f",
  ],
])("signs %s", async (_name, path, given, body, names, signature) => {
  const url = new URL(`https://abc.execute-api.eu-central-1.amazonaws.com${path}`);
  const request = { method: body === undefined ? "GET" : "POST", url, headers: given, body };
  const scope = { region: "eu-central-1", service: "execute-api", now };
  const signed = await signRequest(request, { ...credentials, sessionToken: "session" }, scope);
  expect(signed["x-amz-security-token"]).toBe("session");
  expect(signed["authorization"]).toBe(
    `${credential}/eu-central-1/execute-api/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
  );
});
