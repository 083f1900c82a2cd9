import { randomBytes } from "node:crypto";
import { bestOf, createStudy, extendStudy, getStudy, stopStudy } from "../../core/tuning/lifecycle";
import { defineReplyRoute, defineRoute } from "../http/route";
import * as operations from "../operations/studies";

const randomId = () => randomBytes(8).toString("hex");

export const studyRoutes = [
  defineReplyRoute(operations.createStudy, async ({ platform, body, caller }) => {
    const created = await createStudy({ ...platform, events: platform.runEvents, randomId }, body, caller);
    return { status: created.created ? 201 : 200, body: created };
  }),

  defineRoute(operations.listStudies, ({ platform: { studies }, query }) => studies.list(query)),

  defineRoute(operations.getStudy, ({ platform: { studies }, params }) => getStudy(studies, params.study)),

  defineRoute(operations.getBestTrials, async ({ platform: { studies }, params }) => ({
    best: bestOf(await getStudy(studies, params.study)),
  })),

  defineRoute(operations.stopStudy, async ({ platform, params, body: { cancel }, caller }) => {
    const ports = { ...platform, events: platform.runEvents, randomId };
    return { study: await stopStudy(ports, params.study, { by: caller.by, cancel }) };
  }),

  defineRoute(operations.extendStudy, async ({ platform, params, body }) => {
    const ports = { ...platform, events: platform.runEvents, randomId };
    return { study: await extendStudy(ports, params.study, body) };
  }),
];
