import { randomBytes } from "node:crypto";
import { bestOf, createStudy, extendStudy, getStudy, stopStudy } from "../../core/tuning/lifecycle";
import * as contracts from "../contracts/studies";
import { defineRoute } from "../http/route";

const randomId = () => randomBytes(8).toString("hex");

export const studyRoutes = [
  defineRoute(contracts.createStudy, async ({ platform, body, caller }) => {
    const created = await createStudy({ ...platform, events: platform.runEvents, randomId }, body, caller);
    return { status: created.created ? 201 : 200, body: created };
  }),

  defineRoute(contracts.listStudies, async ({ platform: { studies }, query }) => ({
    status: 200,
    body: await studies.list(query),
  })),

  defineRoute(contracts.getStudy, async ({ platform: { studies }, params }) => ({
    status: 200,
    body: await getStudy(studies, params.study),
  })),

  defineRoute(contracts.getBestTrials, async ({ platform: { studies }, params }) => ({
    status: 200,
    body: { best: bestOf(await getStudy(studies, params.study)) },
  })),

  defineRoute(contracts.stopStudy, async ({ platform, params, body: { cancel }, caller }) => {
    const ports = { ...platform, events: platform.runEvents, randomId };
    return { status: 200, body: { study: await stopStudy(ports, params.study, { by: caller.by, cancel }) } };
  }),

  defineRoute(contracts.extendStudy, async ({ platform, params, body }) => {
    const ports = { ...platform, events: platform.runEvents, randomId };
    return { status: 200, body: { study: await extendStudy(ports, params.study, body) } };
  }),
];
