import { randomBytes } from "node:crypto";
import { bestOf, createStudy, extendStudy, getStudy, stopStudy } from "../../core/tuning/lifecycle";
import * as contracts from "../contracts/studies";
import { defineReplyRoute, defineRoute } from "../http/route";

const randomId = () => randomBytes(8).toString("hex");

export const studyRoutes = [
  defineReplyRoute(contracts.createStudy, async ({ platform, body, caller }) => {
    const created = await createStudy({ ...platform, events: platform.runEvents, randomId }, body, caller);
    return { status: created.created ? 201 : 200, body: created };
  }),

  defineRoute(contracts.listStudies, ({ platform: { studies }, query }) => studies.list(query)),

  defineRoute(contracts.getStudy, ({ platform: { studies }, params }) => getStudy(studies, params.study)),

  defineRoute(contracts.getBestTrials, async ({ platform: { studies }, params }) => ({
    best: bestOf(await getStudy(studies, params.study)),
  })),

  defineRoute(contracts.stopStudy, async ({ platform, params, body: { cancel }, caller }) => {
    const ports = { ...platform, events: platform.runEvents, randomId };
    return { study: await stopStudy(ports, params.study, { by: caller.by, cancel }) };
  }),

  defineRoute(contracts.extendStudy, async ({ platform, params, body }) => {
    const ports = { ...platform, events: platform.runEvents, randomId };
    return { study: await extendStudy(ports, params.study, body) };
  }),
];
