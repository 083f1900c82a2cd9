import * as z from "zod";
import { armState, decided, traffic } from "../../core/registry/serving/shapes";
import { count } from "../../core/shapes";
import { operationsFor, response } from "../operation";
import { versionNumber } from "../schemas/common";
import { modelName } from "../schemas/models";
import { outcomeValue, shadowObservation, shadowSummary, trafficRequest, unit } from "../schemas/serving";

const operation = operationsFor("Serving");
const name = z.strictObject({ name: modelName });
const version = z.int().min(1);

const trafficState = z
  .object({
    model: z.string(),
    champion: version.optional(),
    traffic,
    arms: z.array(armState).meta({ description: "The champion first." }),
  })
  .meta({ id: "TrafficState" });
const canaryExample = { version: 4, weight: 0.1 };
export const getTraffic = operation("getTraffic", "GET /models/{name}/traffic", {
  summary: "Get the routing of requests, the reported outcomes and the test's result",
  params: name,
  responses: { 200: response("Traffic and its arms.", trafficState) },
  errors: ["MODEL_NOT_FOUND"],
});

export const setTraffic = operation("setTraffic", "PUT /models/{name}/traffic", {
  scope: "approve",
  summary: "Give canaries a part of the units, name shadows, set a test",
  description:
    "Canaries are versions in stage canary, which need a passed gate. As few units as possible change their version. Other arms, other parts or another test start a new " +
    "epoch: outcomes are counted from zero, because only units of the same period can be compared. Without canaries the champion gets all units.",
  params: name,
  body: trafficRequest,
  bodyExample: { canaries: [canaryExample], test: { metric: "conversion", effect: 0.02 }, reason: "a first tenth" },
  responses: { 200: response("Traffic and its arms.", trafficState) },
  errors: [
    "MODEL_NOT_FOUND",
    "MODEL_VERSION_NOT_FOUND",
    "NO_CHAMPION",
    "NOT_A_CANARY",
    "GATE_NOT_PASSED",
    "GATE_OUTDATED",
    "NOT_APPROVED",
    "REGISTRY_BUSY",
  ],
});

const assignment = z
  .object({
    unit,
    version,
    role: z.enum(["champion", "canary"]),
  })
  .meta({ id: "Assignment" });

export const routeUnits = operation("routeUnits", "POST /models/{name}/route", {
  scope: "read",
  summary: "Get the version that answers a unit",
  description:
    "A function of the model's traffic and the unit: the same answer each time, from any process. Keep `epoch` and hand it in with the unit's outcome. Answers " +
    "also while the tables cannot be reached, by the copy of the last change in the bucket.",
  params: name,
  body: z.strictObject({ units: z.array(unit).min(1).max(1_000) }).meta({ id: "RouteRequest" }),
  bodyExample: { units: ["user-17"] },
  idempotent: true,
  class: "read",
  responses: {
    200: {
      description: "A version for each unit, in their order.",
      headers: { "Ringmaster-Source": "`registry`, or `pointer` where the registry's table did not answer." },
      schema: z
        .object({
          model: z.string(),
          epoch: count,
          assignments: z.array(assignment),
          shadows: z
            .array(version)
            .meta({ description: "Versions that receive copies of the requests; their answers are not used." }),
        })
        .meta({ id: "Routes" }),
    },
  },
  errors: ["MODEL_NOT_FOUND", "NO_CHAMPION", "REGISTRY_UNAVAILABLE"],
});

export const reportOutcomes = operation("reportOutcomes", "POST /models/{name}/outcomes", {
  summary: "Report outcomes of units",
  description:
    "A unit counts once an epoch, its first outcome; sent again it changes nothing. Outcomes of an epoch that is over are not counted. Values count to twelve decimals.",
  params: name,
  body: z
    .strictObject({
      epoch: count.meta({ description: "Epoch of the route that the unit was given." }),
      outcomes: z
        .array(z.strictObject({ unit, value: outcomeValue }))
        .min(1)
        .max(1_000),
    })
    .meta({ id: "OutcomeReport" }),
  bodyExample: { epoch: 12, outcomes: [{ unit: "user-17", value: 1 }] },
  idempotent: true,
  responses: {
    200: response(
      "Number of new outcomes, and the test's action if it may act.",
      z
        .object({
          counted: count,
          repeated: count,
          stale: count.meta({ description: "Outcomes of another epoch than the present one." }),
          decisions: z.array(decided),
        })
        .meta({ id: "OutcomeAnswer" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND", "NO_CHAMPION", "OUTCOMES_BUSY", "REGISTRY_BUSY"],
});

export const decideTraffic = operation("decideTraffic", "POST /models/{name}/traffic/decision", {
  scope: "approve",
  summary: "Carry out the decision of the canaries' test",
  description:
    "Promotes the canary, continues its test or rolls it back: one canary at a time. A promotion needs gates and approvals like any other; the answer names their refusal.",
  params: name,
  idempotent: true,
  responses: {
    200: response(
      "The test's result for each canary, and the action.",
      z.object({ decisions: z.array(decided) }).meta({ id: "CanaryDecisions" }),
    ),
  },
  errors: ["MODEL_NOT_FOUND", "NO_CANARY_TEST", "REGISTRY_BUSY"],
});

const nameAndVersion = z.strictObject({ name: modelName, version: versionNumber });

export const logShadow = operation("logShadow", "POST /models/{name}/versions/{version}/shadow", {
  summary: "Log a shadow's answers with the answers that were served",
  description: "Sent again it changes nothing.",
  params: nameAndVersion,
  body: z.strictObject({ observations: z.array(shadowObservation).min(1).max(1_000) }).meta({ id: "ShadowReport" }),
  bodyExample: { observations: [{ unit: "user-17", served: "cat", shadow: "dog" }] },
  idempotent: true,
  responses: {
    200: response("Whether it was new.", z.object({ stored: z.boolean() }).meta({ id: "ShadowStored" })),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND", "OBJECT_DIFFERS"],
});

export const getShadow = operation("getShadow", "GET /models/{name}/versions/{version}/shadow", {
  summary: "Compare a shadow with the served predictions",
  params: nameAndVersion,
  responses: {
    200: response("Based on the newest reports.", shadowSummary),
  },
  errors: ["MODEL_NOT_FOUND", "MODEL_VERSION_NOT_FOUND"],
});
