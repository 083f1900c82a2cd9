import { objectKeys, teamIncomingPrefix, teamPrefix } from "../../../core/object-keys";
import { kindOf, teamOf } from "../../../core/reclamation/ports";

const sha256 = "a".repeat(64);
const team = teamPrefix("red");

it.each([
  [`${team}${objectKeys.content(sha256)}`, { kind: "content", digest: sha256 }],
  [`${team}${objectKeys.tensors("run-1", 7, sha256)}`, { kind: "tensors", digest: sha256 }],
  [
    `${team}${objectKeys.trainingFile("run-1", sha256)}`,
    { kind: "result-file", contentKey: `${team}${objectKeys.content(sha256)}` },
  ],
  [`${team}${objectKeys.checkpointManifest("run-1", 7)}`, { kind: "document" }],
  [`${team}${objectKeys.trainingResult("run-1")}`, { kind: "document" }],
  [`${team}${objectKeys.featureManifest(sha256)}`, { kind: "document" }],
  [`${team}${objectKeys.tensorPin("run-1", "run-2", 7)}`, { kind: "document" }],
  [`${team}cas/sha256/${sha256}.json`, { kind: "document" }],
  [`${team}${objectKeys.inbox(`digits/${sha256}`)}`, { kind: "opaque" }],
  [`${teamIncomingPrefix("red")}${sha256}`, { kind: "opaque" }],
  ["teams/.reclamation/cycle/1", { kind: "opaque" }],
])("%s", (key, expected) => {
  expect(kindOf(key)).toEqual(expected);
});

it("names the team of a key", () => {
  expect([`${team}a`, teamIncomingPrefix("red"), "elsewhere"].map(teamOf)).toEqual(["red", undefined, undefined]);
});
